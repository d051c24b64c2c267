// The axis, and the bars of an item on it.
(() => {
  "use strict";

  const {page} = ledger;
  const {milliseconds} = ledger.times;
  const SVG = "http://www.w3.org/2000/svg";

  function draw(parent, tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    parent.append(made);
    return made;
  }

  const axis = page.axis && {start: milliseconds(page.axis.from), end: milliseconds(page.axis.to)};

  function place(instant) {
    if (instant === null) return 100; // no end
    return Math.min(100, Math.max(0, 100 * (milliseconds(instant) - axis.start) / (axis.end - axis.start)));
  }

  const percent = (number) => number.toFixed(3) + "%";

  function bar(svg, [from, to], kind, y, height) {
    const start = place(from);
    const open = to === null || milliseconds(to) > axis.end;
    const wide = Math.max(0.15, place(to) - start);
    draw(svg, "rect", {class: kind, x: percent(start), y, width: percent(wide), height});
    if (open) {
      const tip = draw(svg, "svg", {x: "100%", y: y + height / 2, overflow: "visible"});
      draw(tip, "path", {class: kind + " tip", d: "M0 -9L9 0L0 9z"});
    }
  }

  // A shape of `ledger.signs`, which are those of the program's pictures.
  function sign(svg, at, what, y) {
    const spot = draw(svg, "svg", {x: percent(place(at)), y, overflow: "visible"});
    for (const [kind, path] of ledger.signs[what]) draw(spot, "path", {class: kind, d: path});
  }

  // Valid time above record time; `drawHeld` fills in what held as known then. The words of an item say the same, so that
  // a reader that does not see may skip it.
  function bars(item) {
    const svg = draw(document.createDocumentFragment(), "svg", {class: "drawn", width: "100%", height: 44, "aria-hidden": "true"});
    for (const [at] of page.axis.ticks) {
      draw(svg, "line", {class: "grid", x1: percent(place(at)), x2: percent(place(at)), y1: 0, y2: 44});
    }
    draw(svg, "g", {class: "held"});
    for (const span of item.c || []) bar(svg, span, "record", 27, 9);
    draw(svg, "line", {class: "learned", x1: percent(place(item.x)), x2: percent(place(item.x)), y1: 23, y2: 40});
    for (const [at, what] of item.m || []) sign(svg, at, what, 31.5);
    draw(svg, "line", {class: "asked", y1: 0, y2: 22});
    draw(svg, "line", {class: "asked", y1: 22, y2: 44});
    return svg;
  }

  function drawAxis(box) {
    const svg = draw(box, "svg", {width: "100%", height: 22});
    page.axis.ticks.forEach(([at, label], n) => {
      const x = place(at);
      const anchor = x < 8 ? "start" : x > 90 ? "end" : "middle";
      draw(svg, "text", {x: percent(x), y: 15, "text-anchor": anchor, class: n % 2 ? "odd" : ""}).textContent = label;
    });
  }

  // The valid time of an item, as it was known: what it claims, and on it where it held.
  function drawHeld(group, item, known) {
    group.replaceChildren();
    if (known < item.x) return; // not recorded yet
    draw(group, "line", {class: "lost", x1: percent(place(item.q[0])), x2: percent(place(item.q[1])), y1: 12, y2: 12});
    const held = item.r.filter(([, , from, to]) => from <= known && (to === null || known < to));
    for (const [from, to] of held) bar(group, [from, to], "valid", 6, 12);
    if (!held.length) sign(group, item.q[0], "rejected", 12);
  }

  ledger.drawing = {axis, place, percent, bars, drawAxis, drawHeld};
})();
