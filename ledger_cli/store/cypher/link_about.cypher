// Tie items to what they are about.
// $rows: list of {id, key}.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
MATCH (e:Entity {id: r.key})
MERGE (d)-[:ABOUT]->(e)
