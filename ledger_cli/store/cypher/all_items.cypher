// Every item, as recorded. No parameters.
// Rows: items, in no order (100,000 rows sort faster in Python).
MATCH (d:Item)
RETURN d.id AS id, d.kind AS kind, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about,
       d.evidence AS evidence, d.confidence AS confidence, d.corrects AS corrects, d.validFrom AS validFrom,
       d.statedTo AS statedTo, d.recordedAt AS recordedAt, d.by AS by, d.session AS session
