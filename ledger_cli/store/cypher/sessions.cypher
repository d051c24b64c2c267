// Sessions by their ids.
// $ids: list of string.
// Rows: id, at (the clock), newestAt (other than the clock only where two branches recorded one id), by id.
MATCH (s:Session) WHERE s.id IN $ids
RETURN s.id AS id, s.at AS at, s.newestAt AS newestAt
ORDER BY id
