// What held at $at, as known at $known, in the whole ledger: holding.cypher without the entity.
// $at, $known: local datetimes, in UTC.
// Rows: items, in no order (40,000 rows sort faster in Python).
MATCH (d:Item)
MATCH (d)-[:HOLDS]->(s:Stretch)
WHERE s.validFrom <= $at AND (s.validTo IS NULL OR $at < s.validTo)
  AND s.knownFrom <= $known AND (s.knownTo IS NULL OR $known < s.knownTo)
RETURN d.id AS id, d.kind AS kind, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about,
       d.evidence AS evidence, d.confidence AS confidence, d.corrects AS corrects, d.validFrom AS validFrom,
       d.statedTo AS statedTo, d.recordedAt AS recordedAt, d.by AS by, d.session AS session
