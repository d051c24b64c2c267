// Add stretches to items. Stretches are nodes: see graph.py for what edges would cost.
// $rows: list of {item, validFrom, validTo, knownFrom, knownTo}, times as text, `to` may be null.
UNWIND $rows AS r
MATCH (d:Item {id: r.item})
CREATE (d)-[:HOLDS]->(:Stretch {validFrom: datetime(r.validFrom), validTo: datetime(r.validTo),
                                knownFrom: datetime(r.knownFrom), knownTo: datetime(r.knownTo)})
