// Tie tool calls to the items that they touched.
// $rows: list of {call, id}.
UNWIND $rows AS r
MATCH (c:ToolCall {id: r.call})
MATCH (n:Item {id: r.id})
MERGE (c)-[:TOUCHED]->(n)
