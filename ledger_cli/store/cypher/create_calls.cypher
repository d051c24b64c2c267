// Write tool calls that are not there yet, each hung from its session.
// $rows: list of {id, session, seq, name, ask, status, rows, error, arguments, took, ts}; arguments as JSON text,
// ts in milliseconds since 1970.
UNWIND $rows AS r
MATCH (s:Session {id: r.session})
CREATE (s)-[:HAS_CALL {ts: r.ts}]->(:ToolCall {id: r.id, session: r.session, seq: r.seq, name: r.name, ask: r.ask,
                                               status: r.status, rows: r.rows, error: r.error,
                                               arguments: r.arguments, took: r.took})
