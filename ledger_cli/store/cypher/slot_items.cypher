// The items that have a slot, whether they hold or not. No parameters.
// Rows: items, by slot, validFrom, recordedAt, id.
MATCH (d:Item) WHERE d.slot IS NOT NULL
RETURN d.id AS id, d.kind AS kind, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about,
       d.evidence AS evidence, d.confidence AS confidence, d.corrects AS corrects, d.validFrom AS validFrom,
       d.statedTo AS statedTo, d.recordedAt AS recordedAt, d.by AS by, d.session AS session
ORDER BY slot, validFrom, recordedAt, id
