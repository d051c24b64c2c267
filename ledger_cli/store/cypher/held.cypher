// When every item held, as known when, and the words it is found by. No parameters.
// Rows: one a stretch: id, text, rationale, slot, about, the two intervals; in no order (Python sorts faster).
MATCH (d:Item)-[:HOLDS]->(s:Stretch)
RETURN d.id AS id, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about,
       s.validFrom AS validFrom, s.validTo AS validTo, s.knownFrom AS knownFrom, s.knownTo AS knownTo
