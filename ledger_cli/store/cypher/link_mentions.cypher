// Tie episodes to what they mention.
// $rows: list of {id, key}.
UNWIND $rows AS r
MATCH (p:Episode {id: r.id})
MATCH (e:Entity {id: r.key})
MERGE (p)-[:MENTIONS]->(e)
