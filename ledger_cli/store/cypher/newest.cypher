// The record time of the newest entry. No parameters.
// Rows: one: at, null in an empty ledger.
MATCH (s:Session) RETURN max(s.newestAt) AS at
