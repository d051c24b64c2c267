// What the pages of a ledger's site do by themselves: light up what held, draw both axes, search.
// Nothing is fetched but the files beside the page.
"use strict";

const ledger = (() => {
  const LAST = "9999-12-31T23:59:59.999999"; // asks with all that is known
  const SVG = "http://www.w3.org/2000/svg";
  const DAY = 86400000;
  const END = Date.parse("9999-12-31T23:59:59Z");
  const root = document.body.dataset.root;
  const byId = (id) => document.getElementById(id);
  const held = byId("data");
  const page = held ? JSON.parse(held.textContent) : {};

  // The rule of the two axes, as its answer: an item holds at x, as known at k, where one of its rectangles has both.
  // Instants are text that compares as time does: UTC, without what is zero at its end.
  function holds(item, x, k) {
    return item.r.some(([validFrom, validTo, knownFrom, knownTo]) =>
      validFrom <= x && (validTo === null || x < validTo) && knownFrom <= k && (knownTo === null || k < knownTo));
  }

  // Times

  const TIME = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?\s*([Zz]|[+-]\d\d:\d\d)?)?$/;

  function milliseconds(instant) {
    return Date.parse(instant.length === 10 ? instant + "T00:00:00Z" : instant + "Z");
  }

  function instantOf(ms, fraction = "") {
    const text = new Date(ms).toISOString().slice(0, 19);
    const rest = fraction.replace(/0+$/, "");
    return rest ? text + "." + rest : text.replace(/T00:00:00$/, "");
  }

  // A time as it is typed; null where it is none. Without an offset it is UTC.
  function parse(text) {
    const found = TIME.exec(text.trim());
    if (!found) return null;
    const [, day, hour = "00", minute = "00", second = "00", fraction = "", offset = "Z"] = found;
    const ms = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
    if (Number.isNaN(ms) || hour > "23" || new Date(ms).toISOString().slice(0, 10) !== day) return null;
    let shift = 0;
    if (offset !== "Z" && offset !== "z") {
      shift = (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))) * 60000 * (offset[0] === "-" ? -1 : 1);
    }
    const at = new Date(ms - shift);
    return at.getUTCFullYear() < 1 || at.getUTCFullYear() > 9999 ? null : instantOf(at.getTime(), fraction);
  }

  function shown(instant) {
    return instant === LAST ? "now" : instant.length === 10 ? instant : instant + "Z";
  }

  // Making elements: texts are always text

  function make(tag, attributes = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  }

  function draw(parent, tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    parent.append(made);
    return made;
  }

  // The axes

  const axis = page.axis && {start: milliseconds(page.axis.from), end: milliseconds(page.axis.to)};

  function place(instant) {
    if (instant === null || instant === LAST) return 100;
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

  const SIGNS = {
    superseded: "M0 -8V8", corrected: "M0 -8V8", closed: "M0 -8V8", ended: "M-4 -4H4V4H-4z",
    rejected: "M-5 -5L5 5M5 -5L-5 5", reinstated: "M-5 5H5L0 -6z", beside: "M0 -6L6 0L0 6L-6 0z",
  };

  function sign(svg, at, what, y) {
    const spot = draw(svg, "svg", {x: percent(place(at)), y, overflow: "visible"});
    draw(spot, "path", {class: "sign " + what, d: SIGNS[what]});
  }

  // Valid time above record time; `light` draws what held as known then. The words of an item say the same, so that a
  // reader that does not see may skip it.
  function bars(item) {
    const svg = document.createElementNS(SVG, "svg");
    for (const [name, value] of Object.entries({class: "drawn", width: "100%", height: 44, "aria-hidden": "true"})) {
      svg.setAttribute(name, value);
    }
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

  // The question: a day of valid time, and a day of record time; `known` is LAST for all that is known now.
  // An address with a fragment `#valid=…&known=…` asks it.

  const asked = {valid: page.now || "", known: LAST};
  const listeners = [];
  let steps = null;

  function readFragment() {
    const found = new URLSearchParams(location.hash.slice(1));
    const valid = parse(found.get("valid") || "");
    const known = parse(found.get("known") || "");
    asked.valid = valid || clamp(page.now);
    asked.known = known || LAST;
    return found;
  }

  // The moment of the site, or the end of what is drawn, where that is earlier.
  function clamp(instant) {
    if (instant <= page.axis.to) return instant < page.axis.from ? page.axis.from : instant;
    return axis.end - axis.start > 20 * DAY ? page.axis.to.slice(0, 10) : page.axis.to;
  }

  let waiting = 0;
  function writeFragment() {
    const found = new URLSearchParams();
    found.set("valid", asked.valid);
    if (asked.known !== LAST) found.set("known", asked.known);
    if (byId("which") && byId("which").value) found.set("which", byId("which").value);
    if (byId("only") && byId("only").checked) found.set("only", "1");
    clearTimeout(waiting); // an address bar takes only so many changes a second
    waiting = setTimeout(() => history.replaceState(null, "", "#" + found.toString().replaceAll("%3A", ":")), 150);
  }

  // A slider has at most 2,000 steps; over a month and more they are whole days at least.
  function slides() {
    const sizes = [60000, 600000, 3600000, 21600000, DAY, 7 * DAY, 30 * DAY, 91 * DAY, 365 * DAY, 3650 * DAY, 36500 * DAY];
    const span = axis.end - axis.start;
    const size = sizes.find((one) => span / one <= 2000 && (one >= DAY || span < 30 * DAY)) || span / 2000;
    const start = size < DAY ? Math.floor(axis.start / size) * size : Math.floor(axis.start / DAY) * DAY;
    const count = Math.ceil((axis.end - start) / size);
    return {size, start, count};
  }

  function changes(name) {
    const found = new Set();
    for (const item of items()) {
      for (const r of item.r) for (const at of name === "valid" ? r.slice(0, 2) : r.slice(2)) if (at !== null) found.add(at);
    }
    return [...found].sort();
  }

  function jump(name, forward) {
    const all = changes(name);
    const next = forward ? all.find((at) => at > asked[name]) : all.findLast((at) => at < asked[name]);
    if (next !== undefined) ask({[name]: next});
    else if (forward && name === "known") ask({known: LAST});
  }

  function ask(change) {
    Object.assign(asked, change);
    showQuestion();
    writeFragment();
    listeners.forEach((tell) => tell());
  }

  function showQuestion() {
    for (const name of ["valid", "known"]) {
      const slide = byId(name + "-slide");
      byId(name).value = shown(asked[name]);
      const last = asked[name] === LAST;
      const at = last ? steps.count + 1 : Math.floor((milliseconds(asked[name]) - steps.start) / steps.size);
      slide.value = String(Math.max(0, Math.min(at, last ? at : steps.count)));
      slide.setAttribute("aria-valuetext", shown(asked[name]));
    }
    byId("wrong").textContent = "";
  }

  function setUpQuestion() {
    steps = slides();
    byId("question").hidden = false;
    byId("question").addEventListener("submit", (event) => event.preventDefault());
    for (const name of ["valid", "known"]) {
      const slide = byId(name + "-slide");
      slide.max = String(steps.count + (name === "known" ? 1 : 0)); // the last step of record time: all that is known
      slide.addEventListener("input", () => {
        const n = Number(slide.value);
        const at = Math.min(steps.start + n * steps.size, END); // the last step may lead past the last year
        ask({[name]: n > steps.count ? LAST : instantOf(at)});
      });
      const typed = byId(name);
      typed.addEventListener("change", () => {
        const at = name === "known" && ["", "now"].includes(typed.value.trim()) ? LAST
          : name === "valid" && typed.value.trim() === "now" ? page.now : parse(typed.value);
        typed.setAttribute("aria-invalid", String(at === null));
        if (at === null) byId("wrong").textContent = "Write a time as 2024-02-01 or 2024-02-01T09:00:00Z.";
        else ask({[name]: at});
      });
    }
    byId("all-known").addEventListener("click", () => ask({known: LAST}));
    byId("on-the-day").addEventListener("click", () => ask({known: asked.valid}));
    addEventListener("hashchange", () => {
      if (location.hash.includes("=")) { readFragment(); showQuestion(); readFilter(); listeners.forEach((tell) => tell()); }
    });
    readFragment();
    showQuestion();
  }

  // Lighting up

  // The valid time of an item, as it was known: what it claims, and on it where it held.
  function drawHeld(group, item) {
    group.replaceChildren();
    if (asked.known < item.x) return; // not recorded yet
    draw(group, "line", {class: "lost", x1: percent(place(item.q[0])), x2: percent(place(item.q[1])), y1: 12, y2: 12});
    const held = item.r.filter(([, , from, to]) => from <= asked.known && (to === null || asked.known < to));
    for (const [from, to] of held) bar(group, [from, to], "valid", 6, 12);
    if (!held.length) sign(group, item.q[0], "rejected", 12);
  }

  function light(row, item) {
    const lit = holds(item, asked.valid, asked.known);
    drawHeld(row.querySelector(".held"), item);
    row.classList.toggle("holds", lit);
    row.querySelector(".state").textContent = lit ? "holds" : "";
    const [valid, known] = row.querySelectorAll(".asked");
    for (const [line, at] of [[valid, asked.valid], [known, asked.known]]) {
      line.setAttribute("x1", percent(place(at)));
      line.setAttribute("x2", percent(place(at)));
    }
    return lit;
  }

  function sentence(count, of) {
    const known = asked.known === LAST ? "with all that is known now" : "as known on " + shown(asked.known);
    const some = count === 1 ? "1 item holds" : `${count} items hold`;
    return `${some} on ${shown(asked.valid)}, ${known} (of ${of}).`;
  }

  function setUpList() {
    const rows = [...document.querySelectorAll("li.item")].map((row) => [row, page.items[Number(row.dataset.n)]]);
    for (const [row, item] of rows) row.querySelector(".bars").append(bars(item));
    const here = new Set(rows.map(([, item]) => item.i));
    const tell = () => {
      rows.forEach(([row, item]) => light(row, item));
      const lit = page.items.filter((item) => holds(item, asked.valid, asked.known));
      byId("answer").textContent = sentence(lit.length, page.items.length);
      const others = lit.filter((item) => !here.has(item.i));
      const box = byId("elsewhere");
      if (!box) return;
      box.replaceChildren(...(others.length ? ["Also, on other pages: "] : []));
      others.forEach((item, n) => box.append(n ? ", " : "", make("a", {href: `${root}items/${item.f}.html`, "data-id": item.i}, item.i)));
    };
    listeners.push(tell);
    tell();
  }

  // All items: for the timeline and the search, from the files beside the pages

  const parts = [];
  let index = null;
  let loading = null;

  function lost() {
    byId("found").textContent = "the files in data/ cannot be read";
  }

  function script(path) {
    return new Promise((done, failed) => {
      const made = make("script", {src: root + path});
      made.addEventListener("load", done);
      made.addEventListener("error", () => failed(new Error("cannot read " + path)));
      document.head.append(made);
    });
  }

  function load() {
    loading = loading || script("data/index.js")
      .then(() => Promise.all(Array.from({length: index.parts}, (_, n) => script(`data/items-${n}.js`))))
      .then(() => {
        all = parts.flat();
        for (const item of all) item.a = (item.a || []).map((n) => index.entities[n][0]);
      });
    return loading;
  }

  let all = [];
  const items = () => page.items || all;

  // The timeline of the whole ledger

  const STEP = 100;
  let limit = STEP;

  function readFilter() {
    if (!byId("filter")) return;
    const found = new URLSearchParams(location.hash.slice(1));
    byId("which").value = found.get("which") || "";
    byId("only").checked = found.get("only") === "1";
  }

  function row(item) {
    const head = make("p", {class: "head"}, make("a", {class: "id", href: `${root}items/${item.f}.html`}, make("bdi", {}, item.i)),
      " ", make("bdi", {class: "said"}, item.t));
    if (item.s) head.append(" ", make("span", {class: "slot"}, make("bdi", {}, item.s)));
    head.append(" ", make("span", {class: "state"}));
    const made = make("li", {class: "item", "data-id": item.i}, head, make("div", {class: "bars"}, bars(item)),
      make("p", {class: "times"}, item.w));
    light(made, item);
    return made;
  }

  function folded(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  }

  // What the timeline shows: the items about an entity or in a slot of that name.
  function chosen() {
    const which = folded(byId("which").value.trim());
    if (!which) return all;
    return all.filter((item) => item.a.some((name) => folded(name) === which) || (item.s && folded(item.s) === which));
  }

  function showTimeline() {
    const some = chosen();
    const lit = some.filter((item) => holds(item, asked.valid, asked.known));
    const wanted = byId("only").checked ? lit : some;
    byId("answer").textContent = sentence(lit.length, some.length);
    byId("shown").textContent = wanted.length > limit ? `The first ${limit} of ${wanted.length} are shown.` : "";
    byId("lines").replaceChildren(...wanted.slice(0, limit).map(row));
    byId("more").hidden = wanted.length <= limit;
  }

  function setUpTimeline() {
    load().then(() => {
      byId("filter").hidden = false;
      const slots = [...new Set(all.map((item) => item.s).filter(Boolean))];
      const names = [...index.entities.map(([name]) => name), ...slots].slice(0, 5000);
      byId("names").append(...names.map((name) => make("option", {value: name})));
      const again = () => { limit = STEP; writeFragment(); showTimeline(); };
      byId("filter").addEventListener("submit", (event) => event.preventDefault());
      byId("which").addEventListener("change", again);
      byId("only").addEventListener("change", again);
      byId("more").addEventListener("click", () => { limit += STEP; showTimeline(); });
      let frame = 0;
      listeners.push(() => { cancelAnimationFrame(frame); frame = requestAnimationFrame(showTimeline); });
      readFilter();
      showTimeline();
      document.documentElement.dataset.ready = "1";
    }, lost);
  }

  // Search

  const FOUND = 20;

  function matches(words) {
    const wanted = folded(words).split(/\s+/).filter(Boolean);
    if (!wanted.length) return [];
    const whole = wanted.join(" ");
    const rank = (id) => (folded(id) === whole ? 0 : folded(id).startsWith(whole) ? 1 : 2);
    const found = [];
    for (const [name, path] of index.entities) {
      if (wanted.every((word) => folded(name).includes(word))) found.push([rank(name), "entity", name, "", path]);
    }
    for (const item of all) {
      item.h = item.h || folded([item.i, item.t, item.s || "", ...item.a].join("\n"));
      if (wanted.every((word) => item.h.includes(word))) found.push([rank(item.i), item.i, item.t, item.s || "", `items/${item.f}.html`]);
    }
    return found.sort((a, b) => a[0] - b[0]);
  }

  function showFound() {
    const words = byId("words").value;
    const found = matches(words);
    const list = byId("results");
    list.replaceChildren(...found.slice(0, FOUND).map(([, id, text, slot, path]) =>
      make("li", {}, make("a", {href: root + path}, make("bdi", {class: "id"}, id), " ", make("bdi", {class: "said"}, text),
        ...(slot ? [" ", make("bdi", {class: "slot"}, slot)] : [])))));
    list.hidden = !found.length;
    byId("found").textContent = !words.trim() ? "" : found.length > FOUND ? `${found.length} found, ${FOUND} shown` : `${found.length} found`;
  }

  function setUpSearch() {
    const box = byId("search");
    const input = byId("words");
    box.hidden = false;
    input.addEventListener("focus", () => load().then(showFound, lost));
    input.addEventListener("input", () => load().then(showFound, lost));
    const links = () => [...byId("results").querySelectorAll("a")];
    box.addEventListener("keydown", (event) => {
      const all = links();
      const at = all.indexOf(document.activeElement);
      if (event.key === "ArrowDown" && all.length) all[Math.min(at + 1, all.length - 1)].focus();
      else if (event.key === "ArrowUp" && at >= 0) (at ? all[at - 1] : input).focus();
      else if (event.key === "Enter" && document.activeElement === input && all.length) all[0].click();
      else if (event.key === "Escape") { input.value = ""; showFound(); input.focus(); input.blur(); }
      else return;
      event.preventDefault();
    });
    document.addEventListener("click", (event) => { if (!box.contains(event.target)) byId("results").hidden = true; });
  }

  function setUpKeys() {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches("input:not([type=range]):not([type=checkbox]), textarea, select")) return;
      const jumps = {"[": ["valid", false], "]": ["valid", true], "{": ["known", false], "}": ["known", true]};
      if (event.key === "/") byId("words").focus();
      else if (jumps[event.key] && steps) jump(...jumps[event.key]);
      else return;
      event.preventDefault();
    });
  }

  function start() {
    setUpSearch();
    setUpKeys();
    if (!page.page) return;
    drawAxis(byId("axis"));
    setUpQuestion();
    if (page.page === "timeline") setUpTimeline();
    else setUpList();
  }

  return {
    start,
    index: (found) => { index = found; },
    take: (n, found) => { parts[n] = found; },
  };
})();

ledger.start();
