// The words of every item, for a search by parts of words. No parameters.
// Rows: id, text, rationale, by id.
MATCH (d:Item) RETURN d.id AS id, d.text AS text, d.rationale AS rationale ORDER BY id
