// All items of the ledger, for the timeline and the search: from the files in `data/`, which are read when they are
// needed. Those files call `ledger.index`, `ledger.take` and `ledger.said`.
(() => {
  "use strict";

  const {byId, make, root} = ledger;
  const parts = [];
  const texts = [];
  const found = {all: [], texts: [], index: null};
  let loading = null;
  let reading = null;

  function script(path) {
    return new Promise((done, failed) => {
      const made = make("script", {src: root + path});
      made.addEventListener("load", done);
      made.addEventListener("error", () => failed(new Error("cannot read " + path)));
      document.head.append(made);
    });
  }

  const each = (count, name) => Promise.all(Array.from({length: count}, (_, n) => script(`data/${name}-${n}.js`)));

  // Read all items: `found.all`, with the names of their entities.
  function load() {
    loading ??= script("data/index.js")
      .then(() => each(found.index.parts, "items"))
      .then(() => {
        found.all = parts.flat();
        for (const item of found.all) item.a = (item.a || []).map((n) => found.index.entities[n][0]);
      });
    return loading;
  }

  // Read all items, and what is said of them at length: `found.texts`, of [what it is, text, numbers of items].
  function loadTexts() {
    reading ??= load().then(() => each(found.index.texts, "texts")).then(() => { found.texts = texts.flat(); });
    return reading;
  }

  function lost() {
    byId("found").textContent = "the files in data/ cannot be read";
  }

  ledger.index = (one) => { found.index = one; };
  ledger.take = (n, some) => { parts[n] = some; };
  ledger.said = (n, some) => { texts[n] = some; };
  ledger.items = {found, load, loadTexts, lost};
})();
