// Write episodes that are not there yet, in their sessions.
// $rows: list of the episodes' properties, times as text.
UNWIND $rows AS r
MATCH (s:Session {id: r.session})
CREATE (:Episode {id: r.id, kind: r.kind, text: r.text, mentions: r.mentions, at: localdatetime(r.at),
                  recordedAt: localdatetime(r.recordedAt), session: r.session})-[:IN_SESSION]->(s)
