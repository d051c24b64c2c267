// The verdicts on items, on the links that replace them, and on their endings.
// $ids: list of string.
// Rows: id (the item), new (the other end, if on a link), ending (true if on the ending), verdict, by, reason,
// recordedAt, session; by recordedAt, id, session, key.
UNWIND $ids AS id
MATCH (v:Review)-[:REJECTS|REINSTATES|ON]->(:Item {id: id})
RETURN id, v.new AS new, v.ending AS ending, v.verdict AS verdict, v.by AS by, v.reason AS reason,
       v.recordedAt AS recordedAt, v.session AS session, v.id AS key
ORDER BY recordedAt, id, session, key
