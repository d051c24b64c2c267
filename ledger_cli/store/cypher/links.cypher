// The links on items, by the item that is replaced.
// $ids: list of string, the replaced items.
// Rows: old, new, recordedAt, by, session; by recordedAt, old, new, session.
UNWIND $ids AS old
MATCH (n:Item)-[l:SUPERSEDES]->(:Item {id: old})
RETURN old, n.id AS new, l.recordedAt AS recordedAt, l.by AS by, l.session AS session
ORDER BY recordedAt, old, new, session
