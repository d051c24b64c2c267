// Every entity: name and kind of the earliest entries, and when those were recorded. No parameters.
// Rows: key, name, namedAt, kind, kindAt; by key.
MATCH (e:Entity)
RETURN e.key AS key, e.name AS name, e.namedAt AS namedAt, e.kind AS kind, e.kindAt AS kindAt
ORDER BY key
