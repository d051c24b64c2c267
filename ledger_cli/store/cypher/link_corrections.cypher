// Tie corrections to what they correct, and to the item at the start of all corrections.
// $rows: list of {id, corrects, place}.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
MATCH (c:Item {id: r.corrects})
MATCH (p:Item {id: r.place})
MERGE (d)-[:CORRECTS]->(c)
MERGE (d)-[:IN_PLACE]->(p)
