// The name of every entity. No parameters.
// Rows: name, in order.
MATCH (e:Entity) RETURN e.name AS name ORDER BY name
