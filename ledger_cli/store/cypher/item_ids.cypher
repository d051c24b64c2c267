// The id of every item. No parameters.
// Rows: id, in order.
MATCH (d:Item) RETURN d.id AS id ORDER BY id
