// The question: a day of valid time, and a day of record time; and what holds for it. An address with a fragment
// `#valid=…&known=…` asks it.
(() => {
  "use strict";

  const {byId, page} = ledger;
  const {LAST, milliseconds, instantOf, parse, shown, today} = ledger.times;
  const {axis} = ledger.drawing;
  const DAY = 86400000;
  const END = Date.parse("9999-12-31T23:59:59Z");
  const NAMES = ["valid", "known"];
  const asked = {valid: page.now, known: LAST}; // at first the moment that the site was built for
  const listeners = []; // are told of every question
  let items = () => page.items; // whose changes the keys go to
  let steps = null;

  // The rule of the two axes, as its answer: an item holds at x, as known at k, where one of its rectangles has both.
  function holds(item, x = asked.valid, k = asked.known) {
    return item.r.some(([validFrom, validTo, knownFrom, knownTo]) =>
      validFrom <= x && (validTo === null || x < validTo) && knownFrom <= k && (knownTo === null || k < knownTo));
  }

  function sentence(count, of) {
    const day = asked.valid === page.now ? shown(asked.valid) + ", when this page was built" : shown(asked.valid);
    const known = asked.known === LAST ? "with all that is known now" : "as known on " + shown(asked.known);
    const some = count === 1 ? "1 item holds" : `${count} items hold`;
    return `${some} on ${day}, ${known} (of ${of}).`;
  }

  // A time as it stands in a field or an address; null where it is none.
  function read(name, text) {
    return text.trim() === "now" ? (name === "known" ? LAST : page.now) : parse(text);
  }

  function ask(change) {
    Object.assign(asked, change);
    showQuestion();
    writeFragment();
    listeners.forEach((tell) => tell());
  }

  function showQuestion() {
    for (const name of NAMES) {
      const slide = byId(name + "-slide");
      const last = name === "known" && asked.known === LAST;
      const text = last ? "now" : shown(asked[name]);
      const at = last ? steps.count + 1 : Math.floor((milliseconds(asked[name]) - steps.start) / steps.size);
      byId(name).value = text;
      byId(name).setAttribute("aria-invalid", "false");
      slide.value = String(Math.max(0, Math.min(at, last ? at : steps.count)));
      slide.setAttribute("aria-valuetext", text);
    }
    byId("wrong").textContent = "";
  }

  // The address

  let waiting = 0;

  function readFragment() {
    const found = new URLSearchParams(location.hash.slice(1));
    clearTimeout(waiting); // a new address is not written over
    const wrong = NAMES.filter((name) => found.has(name) && read(name, found.get(name)) === null);
    for (const [name, otherwise] of [["valid", page.now], ["known", LAST]]) {
      asked[name] = (found.has(name) && read(name, found.get(name))) || otherwise;
    }
    showQuestion();
    if (wrong.length) byId("wrong").textContent = `The address has no time that can be read for: ${wrong.join(", ")}.`;
  }

  function writeFragment() {
    const found = new URLSearchParams();
    found.set("valid", asked.valid);
    if (asked.known !== LAST) found.set("known", asked.known);
    if (byId("which") && byId("which").value) found.set("which", byId("which").value);
    if (byId("only") && byId("only").checked) found.set("only", "1");
    clearTimeout(waiting); // an address bar takes only so many changes a second
    waiting = setTimeout(() => history.replaceState(null, "", "#" + found.toString().replaceAll("%3A", ":")), 150);
  }

  // The sliders

  // A slider has at most 2,000 steps; over a month and more they are whole days at least.
  function slides() {
    const sizes = [60000, 600000, 3600000, 21600000, DAY, 7 * DAY, 30 * DAY, 91 * DAY, 365 * DAY, 3650 * DAY];
    const span = axis.end - axis.start;
    const size = sizes.find((one) => span / one <= 2000 && (one >= DAY || span < 30 * DAY));
    const whole = Math.min(size, DAY);
    const start = Math.floor(axis.start / whole) * whole;
    return {size, start, count: Math.ceil((axis.end - start) / size)};
  }

  function setUpSlider(name) {
    const slide = byId(name + "-slide");
    slide.max = String(steps.count + (name === "known" ? 1 : 0)); // the last step of record time: all that is known
    slide.addEventListener("input", () => {
      const n = Number(slide.value);
      const at = Math.min(steps.start + n * steps.size, END); // the last step may lead past the last year
      ask({[name]: n > steps.count ? LAST : instantOf(at)});
    });
    const typed = byId(name);
    typed.addEventListener("change", () => {
      const at = read(name, name === "known" && !typed.value.trim() ? "now" : typed.value);
      typed.setAttribute("aria-invalid", String(at === null));
      if (at === null) byId("wrong").textContent = "Write a time as 2024-02-01 or 2024-02-01T09:00:00Z.";
      else ask({[name]: at});
    });
  }

  // The keys

  function jump(name, forward) {
    const found = new Set(items().flatMap((item) => item.r).flatMap((r) => (name === "valid" ? r.slice(0, 2) : r.slice(2))));
    found.delete(null);
    const all = [...found].sort();
    const next = forward ? all.find((at) => at > asked[name]) : all.findLast((at) => at < asked[name]);
    if (next !== undefined) ask({[name]: next});
    else if (forward && name === "known") ask({known: LAST});
  }

  const KEYS = {
    "[": () => jump("valid", false), "]": () => jump("valid", true),
    "{": () => jump("known", false), "}": () => jump("known", true),
    "0": () => ask({valid: page.now, known: LAST}),
  };

  // Set the sliders up. `every` gives the items that the page is about, where they do not stand in it.
  function setUp(every = items) {
    items = every;
    steps = slides();
    byId("question").hidden = false;
    NAMES.forEach(setUpSlider);
    byId("all-known").addEventListener("click", () => ask({known: LAST}));
    byId("on-the-day").addEventListener("click", () => ask({known: asked.valid}));
    byId("today").addEventListener("click", () => ask({valid: today(), known: LAST}));
    Object.assign(ledger.keys, KEYS);
    addEventListener("hashchange", () => {
      if (!location.hash.includes("=")) return; // a part of the page
      readFragment();
      listeners.forEach((tell) => tell());
    });
    readFragment();
  }

  ledger.question = {asked, holds, sentence, setUp, writeFragment, listen: (tell) => listeners.push(tell)};
})();
