// The sessions of an agent's calls; one may be a session of the ledger, too.
// $rows: list of {id}.
UNWIND $rows AS r
MERGE (s:Session {id: r.id})
