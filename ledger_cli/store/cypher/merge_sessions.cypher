// Write sessions with their clocks.
// $rows: list of {id, at, newestAt}, times as text.
UNWIND $rows AS r
MERGE (s:Session {id: r.id})
SET s.at = localdatetime(r.at), s.newestAt = localdatetime(r.newestAt)
