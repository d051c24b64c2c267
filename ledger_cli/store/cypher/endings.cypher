// The endings of items.
// $ids: list of string.
// Rows: id, validTo, by, reason, recordedAt, session; by recordedAt, id, session, validTo.
UNWIND $ids AS id
MATCH (x:Ending)-[:ENDS]->(:Item {id: id})
RETURN id, x.validTo AS validTo, x.by AS by, x.reason AS reason, x.recordedAt AS recordedAt, x.session AS session
ORDER BY recordedAt, id, session, validTo
