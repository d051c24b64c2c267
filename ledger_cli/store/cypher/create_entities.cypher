// Write entities that are not there yet, as the earliest entries spell them, with which entries those are.
// $rows: list of {key, name, namedAt, namedIn, kind, kindAt, kindIn}, times as text.
UNWIND $rows AS r
CREATE (:Entity {id: r.key, key: r.key, name: r.name, namedAt: localdatetime(r.namedAt), namedIn: r.namedIn,
                 kind: r.kind, kindAt: localdatetime(r.kindAt), kindIn: r.kindIn})
