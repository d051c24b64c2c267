// Tie items to the sessions that brought them.
// $rows: list of {id, session}.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
MATCH (s:Session {id: r.session})
MERGE (d)-[:IN_SESSION]->(s)
