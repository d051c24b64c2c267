// Tie tool calls to the entities that they touched.
// $rows: list of {call, id}.
UNWIND $rows AS r
MATCH (c:ToolCall {id: r.call})
MATCH (n:Entity {id: r.id})
MERGE (c)-[:TOUCHED]->(n)
