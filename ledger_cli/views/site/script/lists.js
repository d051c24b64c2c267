// Lists of items that light up: those that stand in a page, and the timeline, which makes its own.
(() => {
  "use strict";

  const {byId, make, folded, unbroken, root, page} = ledger;
  const {place, percent, bars, drawAxis, drawHeld} = ledger.drawing;
  const {asked, holds, sentence, listen, writeFragment} = ledger.question;
  const {found, load, lost} = ledger.items;

  function light(row, item) {
    const lit = holds(item);
    drawHeld(row.querySelector(".held"), item, asked.known);
    row.classList.toggle("holds", lit);
    row.querySelector(".state").textContent = lit ? "holds" : "";
    const [valid, known] = row.querySelectorAll(".asked");
    for (const [line, at] of [[valid, asked.valid], [known, asked.known]]) {
      line.setAttribute("x1", percent(place(at)));
      line.setAttribute("x2", percent(place(at)));
    }
  }

  function setUpList() {
    const rows = [...document.querySelectorAll("li.item")].map((row) => [row, page.items[Number(row.dataset.n)]]);
    for (const [row, item] of rows) row.querySelector(".bars").append(bars(item));
    const here = new Set(rows.map(([, item]) => item.i));
    const tell = () => {
      rows.forEach(([row, item]) => light(row, item));
      const lit = page.items.filter((item) => holds(item));
      byId("answer").replaceChildren(...unbroken(sentence(lit.length, page.items.length)));
      const others = lit.filter((item) => !here.has(item.i));
      const box = byId("elsewhere");
      if (!box) return; // the page of an item has all its items
      box.replaceChildren(...(others.length ? ["Also, on other pages: "] : []));
      others.forEach((item, n) => box.append(n ? ", " : "", make("a", {href: `${root}items/${item.f}.html`, "data-id": item.i}, item.i)));
    };
    listen(tell);
    tell();
  }

  // The timeline of the whole ledger

  const STEP = 100;
  let limit = STEP;

  function readFilter() {
    const told = new URLSearchParams(location.hash.slice(1));
    byId("which").value = told.get("which") || "";
    byId("only").checked = told.get("only") === "1";
  }

  function row(item) {
    const head = make("p", {class: "head"}, make("a", {class: "id", href: `${root}items/${item.f}.html`}, make("bdi", {}, item.i)),
      " ", make("bdi", {class: "said"}, item.t));
    if (item.s) head.append(" ", make("span", {class: "slot"}, make("bdi", {}, item.s)));
    head.append(" ", make("span", {class: "state"}));
    const made = make("li", {class: "item", "data-id": item.i}, head, make("div", {class: "bars"}, bars(item)),
      make("p", {class: "times"}, ...unbroken(item.w)));
    light(made, item);
    return made;
  }

  // What the timeline shows: the items about an entity or in a slot of that name.
  function chosen() {
    const which = folded(byId("which").value.trim());
    const named = (name) => folded(name) === which;
    return which ? found.all.filter((item) => item.a.some(named) || (item.s && named(item.s))) : found.all;
  }

  function showTimeline() {
    const some = chosen();
    const lit = some.filter((item) => holds(item));
    const wanted = byId("only").checked ? lit : some;
    byId("answer").replaceChildren(...unbroken(sentence(lit.length, some.length)));
    byId("shown").textContent = wanted.length > limit ? `The first ${limit} of ${wanted.length} are shown.`
      : wanted.length ? "" : "No item to show.";
    byId("lines").replaceChildren(...wanted.slice(0, limit).map(row));
    byId("more").hidden = wanted.length <= limit;
  }

  function setUpTimeline() {
    load().then(() => {
      byId("filter").hidden = false;
      const slots = [...new Set(found.all.map((item) => item.s).filter(Boolean))];
      const names = [...found.index.entities.map(([name]) => name), ...slots].slice(0, 5000);
      byId("names").append(...names.map((name) => make("option", {value: name})));
      const again = () => { limit = STEP; writeFragment(); showTimeline(); };
      byId("filter").addEventListener("submit", (event) => event.preventDefault());
      byId("which").addEventListener("change", again);
      byId("only").addEventListener("change", again);
      byId("more").addEventListener("click", () => { limit += STEP; showTimeline(); });
      let frame = 0;
      listen(() => { cancelAnimationFrame(frame); frame = requestAnimationFrame(showTimeline); });
      addEventListener("hashchange", () => { if (location.hash.includes("=")) readFilter(); });
      readFilter();
      showTimeline();
      document.documentElement.dataset.ready = "1";
    }, lost);
  }

  if (!page.page) return;
  drawAxis(byId("axis"));
  ledger.question.setUp(page.page === "timeline" ? () => found.all : undefined);
  if (page.page === "timeline") setUpTimeline();
  else setUpList();
})();
