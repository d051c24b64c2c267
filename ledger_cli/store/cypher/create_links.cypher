// Write links that are not there yet; one edge an entry, so two sessions may record the same pair.
// $rows: list of {old, new, recordedAt, by, session}, times as text.
UNWIND $rows AS r
MATCH (n:Item {id: r.new})
MATCH (o:Item {id: r.old})
CREATE (n)-[:SUPERSEDES {recordedAt: localdatetime(r.recordedAt), by: r.by, session: r.session}]->(o)
