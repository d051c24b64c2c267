// Write links; one edge an entry, so two sessions may record the same pair.
// $rows: list of {old, new, recordedAt, by, session}, times as text.
UNWIND $rows AS r
MATCH (n:Item {id: r.new})
MATCH (o:Item {id: r.old})
MERGE (n)-[l:SUPERSEDES {session: r.session, recordedAt: datetime(r.recordedAt)}]->(o)
  ON CREATE SET l.by = r.by
