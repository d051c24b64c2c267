// The episodes with these ids, as recorded.
// $ids: list of string.
// Rows: episodes, by id; unknown ids are left out.
MATCH (e:Episode) WHERE e.id IN $ids
RETURN e.id AS id, e.kind AS kind, e.text AS text, e.mentions AS mentions, e.at AS at,
       e.recordedAt AS recordedAt, e.session AS session
ORDER BY id
