// Add stretches to items. Stretches are nodes: see graph.py for what edges would cost.
// $rows: list of {item, validFrom, validTo, knownFrom, knownTo}, times as text, `to` may be null.
UNWIND $rows AS r
MATCH (d:Item {id: r.item})
CREATE (d)-[:HOLDS]->(:Stretch {validFrom: localdatetime(r.validFrom), validTo: localdatetime(r.validTo),
                                knownFrom: localdatetime(r.knownFrom), knownTo: localdatetime(r.knownTo)})
