// Write verdicts that are not there yet: one REJECTS or REINSTATES an item; one on a link is ON the item that is
// replaced (`new` names the other), one on an ending is ON the item that ended.
// $rows: list of {key, id, edge, new, ending, verdict, by, reason, recordedAt, session}, times as text.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
CREATE (v:Review {id: r.key, key: r.key, verdict: r.verdict, new: r.new, ending: r.ending, by: r.by, reason: r.reason,
                  recordedAt: localdatetime(r.recordedAt), at: localdatetime(r.recordedAt), session: r.session})
FOREACH (_ IN CASE WHEN r.edge = 'REJECTS' THEN [1] ELSE [] END | CREATE (v)-[:REJECTS]->(d))
FOREACH (_ IN CASE WHEN r.edge = 'REINSTATES' THEN [1] ELSE [] END | CREATE (v)-[:REINSTATES]->(d))
FOREACH (_ IN CASE WHEN r.edge = 'ON' THEN [1] ELSE [] END | CREATE (v)-[:ON]->(d))
