// The entities with these keys: name and kind of the earliest entries, and which entries those are.
// $keys: list of string.
// Rows: key, name, namedAt, namedIn (session), kind, kindAt, kindIn (session); by key; unknown keys are left out.
MATCH (e:Entity) WHERE e.id IN $keys
RETURN e.key AS key, e.name AS name, e.namedAt AS namedAt, e.namedIn AS namedIn,
       e.kind AS kind, e.kindAt AS kindAt, e.kindIn AS kindIn
ORDER BY key
