// What held at $at, as known at $known, of what is about any of several entities: holding.cypher for many.
// $keys: list of string, the entities' keys; $at, $known: local datetimes, in UTC.
// Rows: key, and an item, in no order; an item once for each of the entities it is about.
MATCH (e:Entity)<-[:ABOUT]-(d:Item) WHERE e.id IN $keys
MATCH (d)-[:HOLDS]->(s:Stretch)
WHERE s.validFrom <= $at AND (s.validTo IS NULL OR $at < s.validTo)
  AND s.knownFrom <= $known AND (s.knownTo IS NULL OR $known < s.knownTo)
RETURN e.key AS key,
       d.id AS id, d.kind AS kind, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about,
       d.evidence AS evidence, d.confidence AS confidence, d.corrects AS corrects, d.validFrom AS validFrom,
       d.statedTo AS statedTo, d.recordedAt AS recordedAt, d.by AS by, d.session AS session
