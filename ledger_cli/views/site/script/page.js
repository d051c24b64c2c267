// What all parts of the script share: the page, its data, and the making of elements. The parts are put together into
// one file, in this order: page, times, drawing, question, items, lists, search. Nothing is fetched but the files beside
// the page.
const ledger = (() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const held = byId("data");

  // Texts are always text.
  function make(tag, attributes = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  }

  // A text of ours in which times stand, none of them to be broken at the end of a line.
  function unbroken(text) {
    const pieces = text.split(/(\d{4}-\d\d-\d\d(?:[ T][\d:.]*\d)?Z?(?: →)?)/);
    return pieces.map((piece, n) => (n % 2 ? make("span", {class: "at"}, piece) : piece));
  }

  // A text as it is compared: without case, accents, and what only looks different.
  function folded(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ς", "σ");
  }

  // Keys that do something, each with what it does; not while somebody types.
  const keys = {};
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    if (event.target.matches("input:not([type=range]):not([type=checkbox])")) return;
    keys[event.key]();
    event.preventDefault();
  });

  return {
    byId, make, unbroken, folded, keys,
    root: document.body.dataset.root,
    page: held ? JSON.parse(held.textContent) : {}, // what stands in the page for its script
  };
})();
