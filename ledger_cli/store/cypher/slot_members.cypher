// The items in these slots, of either kind.
// $slots: list of string.
// Rows: id, kind, slot; in no order.
MATCH (d:Item) WHERE d.slot IN $slots
RETURN d.id AS id, d.kind AS kind, d.slot AS slot
