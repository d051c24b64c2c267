// What items are linked to or corrections of, and what is linked to or a correction of them: one step, both ways.
// Chains of any length are walked in steps: a pattern of variable length stops at ten hops without a word.
// $ids: list of string.
// Rows: id, kind, slot; each once, in no order.
UNWIND $ids AS from
MATCH (:Item {id: from})-[:SUPERSEDES|CORRECTS]-(d:Item)
RETURN DISTINCT d.id AS id, d.kind AS kind, d.slot AS slot
