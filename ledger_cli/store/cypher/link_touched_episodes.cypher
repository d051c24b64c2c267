// Tie tool calls to the episodes that they touched.
// $rows: list of {call, id}.
UNWIND $rows AS r
MATCH (c:ToolCall {id: r.call})
MATCH (n:Episode {id: r.id})
MERGE (c)-[:TOUCHED]->(n)
