// Tie items to the episodes they come from.
// $rows: list of {id, episode}.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
MATCH (p:Episode {id: r.episode})
MERGE (d)-[:FROM]->(p)
