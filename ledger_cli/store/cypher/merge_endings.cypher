// Write endings.
// $rows: list of {key, id, validTo, by, reason, recordedAt, session}, times as text.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
MERGE (x:Ending {id: r.key})
  ON CREATE SET x.key = r.key, x.validTo = datetime(r.validTo), x.by = r.by, x.reason = r.reason,
                x.recordedAt = datetime(r.recordedAt), x.session = r.session
MERGE (x)-[:ENDS]->(d)
