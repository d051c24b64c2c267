// Write verdicts: REJECTS or REINSTATES an item; a verdict on a link is ON the item it replaces (`new` names the
// other), one on an ending is ON the item it ends.
// $rows: list of {key, id, edge, new, ending, verdict, by, reason, recordedAt, session}, times as text.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
MERGE (v:Review {id: r.key})
  ON CREATE SET v.key = r.key, v.verdict = r.verdict, v.new = r.new, v.ending = r.ending, v.by = r.by,
                v.reason = r.reason, v.recordedAt = datetime(r.recordedAt), v.at = datetime(r.recordedAt),
                v.session = r.session
FOREACH (_ IN CASE WHEN r.edge = 'REJECTS' THEN [1] ELSE [] END | MERGE (v)-[:REJECTS]->(d))
FOREACH (_ IN CASE WHEN r.edge = 'REINSTATES' THEN [1] ELSE [] END | MERGE (v)-[:REINSTATES]->(d))
FOREACH (_ IN CASE WHEN r.edge = 'ON' THEN [1] ELSE [] END | MERGE (v)-[:ON]->(d))
