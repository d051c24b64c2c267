// The items that a write in ($after, $until] recorded, changed the stretches of, reviewed or ended.
// $after, $until: local datetimes, in UTC.
// Rows: id; each once, in no order.
MATCH (d:Item) WHERE $after < d.recordedAt AND d.recordedAt <= $until
RETURN d.id AS id
UNION
MATCH (d:Item)-[:HOLDS]->(s:Stretch)
WHERE ($after < s.knownFrom AND s.knownFrom <= $until) OR ($after < s.knownTo AND s.knownTo <= $until)
RETURN d.id AS id
UNION
MATCH (v:Review)-[:REJECTS|REINSTATES|ON]->(d:Item) WHERE $after < v.recordedAt AND v.recordedAt <= $until
RETURN d.id AS id
UNION
MATCH (x:Ending)-[:ENDS]->(d:Item) WHERE $after < x.recordedAt AND x.recordedAt <= $until
RETURN d.id AS id
