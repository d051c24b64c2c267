// The search in the page: all words have to be found, in what an item is called, says, or rests on.
(() => {
  "use strict";

  const {byId, make, folded, root} = ledger;
  const {found, loadTexts, lost} = ledger.items;
  const {holds} = ledger.question;
  const {LAST} = ledger.times;
  const SHOWN = 20;
  const BEFORE = 40; // letters of a snippet before the first word found
  const LONG = 160; // and in all

  // What is compared, folded once: of an item `k`, its id; `h`, its id and text; `n`, its slot and entities; `p`, passages.
  let prepared = false;
  function prepare() {
    if (prepared) return;
    prepared = true;
    for (const item of found.all) {
      Object.assign(item, {k: folded(item.i), h: folded(item.i + "\n" + item.t), n: folded([item.s || "", ...item.a].join("\n")), p: []});
    }
    for (const [what, text, numbers] of found.texts) {
      const passage = {what, text, h: folded(text)};
      for (const n of numbers) found.all[n].p.push(passage);
    }
  }

  // The search for what was typed: `words`, and for a name and a text how well they answer, 0 the best (null: not at all).
  function searcher(typed) {
    const words = folded(typed).split(/\s+/).filter(Boolean);
    const whole = words.join(" ");
    const begin = (one) => new RegExp("(?<![\\p{L}\\p{N}])" + one.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "u");
    const [phrase, each] = [begin(whole), words.map(begin)];
    function rank(name, text) {
      if (name === whole) return 0;
      if (name.startsWith(whole)) return 1;
      if (phrase.test(text) || each.every((one) => one.test(name))) return 2;
      if (each.every((one) => one.test(text))) return 3;
      return words.every((word) => text.includes(word)) ? 4 : null;
    }
    return {words, rank};
  }

  // What answers, the best first: names and texts before slots, entities and passages; what holds now before the rest.
  function matches({words, rank}) {
    const entities = found.index.entities.map(([name, path]) => {
      const plain = folded(name);
      return {rank: rank(plain, plain), text: name, path, lit: true};
    });
    const items = found.all.map((item) => {
      const one = {rank: rank(item.k, item.h), id: item.i, text: item.t, slot: item.s, path: `items/${item.f}.html`,
        lit: holds(item, found.index.now, LAST)};
      if (one.rank !== null) return one;
      const missing = words.filter((word) => !item.h.includes(word));
      const further = missing.filter((word) => !item.n.includes(word));
      if (!further.length) {
        one.rank = 5;
        one.about = item.a.filter((name) => missing.some((word) => folded(name).includes(word)));
      } else if (further.every((word) => item.p.some((passage) => passage.h.includes(word)))) {
        one.rank = 6;
        one.near = further;
        one.passages = item.p.filter((passage) => further.some((word) => passage.h.includes(word)));
      }
      return one;
    });
    return [...entities, ...items].filter((one) => one.rank !== null).sort((a, b) => a.rank - b.rank || b.lit - a.lit);
  }

  // A text folded letter by letter: `plain`, and where each letter of it stands in the text.
  function mapped(text) {
    const at = [];
    let [plain, n] = ["", 0];
    for (const letter of text) {
      const one = letter < "\x80" ? letter.toLowerCase() : folded(letter);
      for (let m = 0; m < one.length; m += 1) at.push(n);
      plain += one;
      n += letter.length;
    }
    return {plain, at: [...at, text.length]};
  }

  // A text with the words marked in it.
  function marked(text, words) {
    const {plain, at} = mapped(text);
    const hits = new Array(plain.length).fill(false);
    for (const word of words) {
      for (let n = plain.indexOf(word); n >= 0; n = plain.indexOf(word, n + word.length)) hits.fill(true, n, n + word.length);
    }
    const pieces = [];
    for (let start = 0, end; start < plain.length; start = end) {
      end = hits.indexOf(!hits[start], start);
      if (end < 0) end = plain.length;
      const piece = text.slice(at[start], at[end]);
      pieces.push(hits[start] ? make("mark", {}, piece) : piece);
    }
    return pieces;
  }

  // The part of a passage around the first word found in it.
  function snippet(text, words) {
    const {plain, at} = mapped(text);
    const first = Math.min(...words.map((word) => plain.indexOf(word)).filter((n) => n >= 0));
    const start = Math.max(0, Math.min(first - BEFORE, plain.length - LONG));
    const end = Math.min(plain.length, start + LONG);
    return (start ? "…" : "") + text.slice(at[start], at[end]) + (end < plain.length ? "…" : "");
  }

  function entry(one, words) {
    const said = (text) => make("bdi", {class: "said"}, ...marked(text, words));
    const link = make("a", {href: root + one.path}, one.id === undefined ? make("span", {class: "kind"}, "entity")
      : make("bdi", {class: "id"}, ...marked(one.id, words)), " ", said(one.text));
    if (one.slot) link.append(" ", make("bdi", {class: "slot"}, ...marked(one.slot, words)));
    if (one.about && one.about.length) link.append(make("span", {class: "place"}, "about ", said(one.about.join(", "))));
    for (const {what, text} of (one.passages || []).slice(0, 2)) {
      link.append(make("span", {class: "place"}, make("bdi", {}, what), ": ", said(snippet(text, one.near))));
    }
    return make("li", {}, link);
  }

  function showFound() {
    prepare();
    const asking = searcher(byId("words").value);
    const some = asking.words.length ? matches(asking) : [];
    byId("results").replaceChildren(...some.slice(0, SHOWN).map((one) => entry(one, asking.words)));
    byId("results").hidden = !some.length;
    const shown = some.length > SHOWN ? `, ${SHOWN} shown` : "";
    byId("found").textContent = asking.words.length ? `${some.length || "nothing"} found${shown}` : "";
  }

  const box = byId("search");
  const input = byId("words");
  let before = null; // what had the focus

  function leave() {
    input.value = "";
    byId("results").hidden = true;
    byId("found").textContent = "";
    (before || byId("main")).focus();
  }

  box.hidden = false;
  const show = () => loadTexts().then(showFound, lost);
  input.addEventListener("focus", show);
  input.addEventListener("input", show);
  ledger.keys["/"] = () => {
    before = document.activeElement === document.body ? null : document.activeElement;
    input.focus();
    input.select();
  };
  box.addEventListener("keydown", (event) => {
    const all = byId("results").hidden ? [] : [...byId("results").querySelectorAll("a")];
    const at = all.indexOf(document.activeElement);
    if (event.key === "ArrowDown" && all.length) all[Math.min(at + 1, all.length - 1)].focus();
    else if (event.key === "ArrowUp" && at >= 0) (at ? all[at - 1] : input).focus();
    else if (event.key === "Enter" && at < 0 && all.length) all[0].click();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  });
  // What was found covers the page only as long as somebody is at it.
  document.addEventListener("click", (event) => { if (!box.contains(event.target)) byId("results").hidden = true; });
  document.addEventListener("focusin", (event) => { if (!box.contains(event.target)) byId("results").hidden = true; });
})();
