// What held at $at, as known at $known, of what is about one entity.
// Carries the rule of the two axes: `as-of` asks with $known = the last instant, `believed` with the day of the
// knowledge. Both axes are half-open: from <= t < to, and no `to` is no end. holding_all.cypher says it again for the
// whole ledger, because one statement for both takes twice the time there; a test holds the two together.
// $key: the entity's key, string; $at, $known: local datetimes, in UTC.
// Rows: items, by text, then id.
MATCH (:Entity {id: $key})<-[:ABOUT]-(d:Item)
MATCH (d)-[:HOLDS]->(s:Stretch)
WHERE s.validFrom <= $at AND (s.validTo IS NULL OR $at < s.validTo)
  AND s.knownFrom <= $known AND (s.knownTo IS NULL OR $known < s.knownTo)
RETURN d.id AS id, d.kind AS kind, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about,
       d.evidence AS evidence, d.confidence AS confidence, d.corrects AS corrects, d.validFrom AS validFrom,
       d.statedTo AS statedTo, d.recordedAt AS recordedAt, d.by AS by, d.session AS session
ORDER BY text, id
