// The facts that held at $at, as known at $known, about any of several entities: holding.cypher for many.
// $keys: list of string, the entities' keys; $at, $known: local datetimes, in UTC.
// Rows: via (an entity's name), id, text, rationale, slot, about, in no order; a fact once for each of the entities.
MATCH (e:Entity)<-[:ABOUT]-(d:Fact) WHERE e.id IN $keys
MATCH (d)-[:HOLDS]->(s:Stretch)
WHERE s.validFrom <= $at AND (s.validTo IS NULL OR $at < s.validTo)
  AND s.knownFrom <= $known AND (s.knownTo IS NULL OR $known < s.knownTo)
RETURN e.name AS via, d.id AS id, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about
