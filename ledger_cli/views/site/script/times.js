// Instants are text that compares as time does: UTC, without what is zero at its end.
(() => {
  "use strict";

  const LAST = "9999-12-31T23:59:59.999999"; // asks with all that is known
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
      if (offset.slice(1, 3) > "23" || offset.slice(4) > "59") return null;
      shift = (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))) * 60000 * (offset[0] === "-" ? -1 : 1);
    }
    const at = new Date(ms - shift);
    return at.getUTCFullYear() < 1 || at.getUTCFullYear() > 9999 ? null : instantOf(at.getTime(), fraction);
  }

  function shown(instant) {
    return instant.length === 10 ? instant : instant + "Z";
  }

  // The visitor's day, by the clock and in the zone of the browser.
  function today() {
    const now = new Date();
    return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((n, i) => String(n).padStart(i ? 2 : 4, "0")).join("-");
  }

  ledger.times = {LAST, milliseconds, instantOf, parse, shown, today};
})();
