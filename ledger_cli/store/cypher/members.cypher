// What the walk over a component needs of its first items.
// $ids: list of string.
// Rows: id, kind, slot, place (the id of the item at the start of its corrections); in no order.
MATCH (d:Item) WHERE d.id IN $ids
RETURN d.id AS id, d.kind AS kind, d.slot AS slot, d.place AS place
