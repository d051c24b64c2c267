// Every session. No parameters.
// Rows: id, at; by at, id.
MATCH (s:Session) RETURN s.id AS id, s.at AS at ORDER BY at, id
