// The items with these ids, as recorded.
// $ids: list of string.
// Rows: items, by id; unknown ids are left out.
MATCH (d:Item) WHERE d.id IN $ids
RETURN d.id AS id, d.kind AS kind, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about,
       d.evidence AS evidence, d.confidence AS confidence, d.corrects AS corrects, d.validFrom AS validFrom,
       d.statedTo AS statedTo, d.recordedAt AS recordedAt, d.by AS by, d.session AS session
ORDER BY id
