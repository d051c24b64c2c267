// When items held, as known when.
// $ids: list of string.
// Rows: one a stretch: id, the two intervals; by id, knownFrom, validFrom.
UNWIND $ids AS id
MATCH (:Item {id: id})-[:HOLDS]->(s:Stretch)
RETURN id, s.validFrom AS validFrom, s.validTo AS validTo, s.knownFrom AS knownFrom, s.knownTo AS knownTo
ORDER BY id, knownFrom, validFrom
