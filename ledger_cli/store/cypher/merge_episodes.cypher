// Write episodes that may be there already, in their sessions.
// $rows: list of the episodes' properties, times as text.
UNWIND $rows AS r
MATCH (s:Session {id: r.session})
MERGE (e:Episode {id: r.id})
  ON CREATE SET e.kind = r.kind, e.text = r.text, e.mentions = r.mentions, e.at = datetime(r.at),
                e.recordedAt = datetime(r.recordedAt), e.session = r.session
MERGE (e)-[:IN_SESSION]->(s)
