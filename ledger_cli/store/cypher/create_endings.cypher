// Write endings that are not there yet.
// $rows: list of {key, id, validTo, by, reason, recordedAt, session}, times as text.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
CREATE (:Ending {id: r.key, key: r.key, validTo: localdatetime(r.validTo), by: r.by, reason: r.reason,
                 recordedAt: localdatetime(r.recordedAt), session: r.session})-[:ENDS]->(d)
