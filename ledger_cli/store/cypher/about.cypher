// The items about an entity, whether they hold or not.
// $key: string, the entity's key.
// Rows: items, by validFrom, recordedAt, id.
MATCH (:Entity {id: $key})<-[:ABOUT]-(d:Item)
RETURN d.id AS id, d.kind AS kind, d.text AS text, d.rationale AS rationale, d.slot AS slot, d.about AS about,
       d.evidence AS evidence, d.confidence AS confidence, d.corrects AS corrects, d.validFrom AS validFrom,
       d.statedTo AS statedTo, d.recordedAt AS recordedAt, d.by AS by, d.session AS session
ORDER BY validFrom, recordedAt, id
