// Write items into a graph that holds none of them: a rebuild. Half the time of MERGE.
// A row names every property, null or not: a property new to a label is an error in a later CREATE.
// $rows: list of the items' properties, times as text.
UNWIND $rows AS r
CREATE (d:Item {id: r.id, kind: r.kind, text: r.text, rationale: r.rationale, slot: r.slot, about: r.about,
                evidence: r.evidence, confidence: r.confidence, corrects: r.corrects,
                validFrom: datetime(r.validFrom), statedTo: datetime(r.statedTo), validTo: datetime(r.validTo),
                recordedAt: datetime(r.recordedAt), closedAt: datetime(r.closedAt), by: r.by,
                session: r.session, place: r.place})
FOREACH (_ IN CASE WHEN r.kind = 'decision' THEN [1] ELSE [] END | SET d:Decision)
FOREACH (_ IN CASE WHEN r.kind = 'fact' THEN [1] ELSE [] END | SET d:Fact)
