// Write entities as the earliest entries spell them, with which entries those are.
// $rows: list of {key, name, namedAt, namedIn, kind, kindAt, kindIn}, times as text.
UNWIND $rows AS r
MERGE (e:Entity {id: r.key})
SET e.key = r.key, e.name = r.name, e.namedAt = datetime(r.namedAt), e.namedIn = r.namedIn,
    e.kind = r.kind, e.kindAt = datetime(r.kindAt), e.kindIn = r.kindIn
