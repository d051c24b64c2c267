// Rename entities that are there, or give them their kind: an earlier entry came.
// $rows: list of {key, name, namedAt, namedIn, kind, kindAt, kindIn}, times as text.
UNWIND $rows AS r
MATCH (e:Entity {id: r.key})
SET e.name = r.name, e.namedAt = localdatetime(r.namedAt), e.namedIn = r.namedIn,
    e.kind = r.kind, e.kindAt = localdatetime(r.kindAt), e.kindIn = r.kindIn
