// Write items that are not there yet, in their sessions; the caller looks first. MERGE with SET takes twice the time,
// and rewrites cells of text in place, after which the whole column has no mapped form: every later load takes twice
// the time too. A row names every property, null or not: a property new to a label is an error in a later CREATE.
// $rows: list of the items' properties, times as text.
UNWIND $rows AS r
MATCH (s:Session {id: r.session})
CREATE (d:Item {id: r.id, kind: r.kind, text: r.text, rationale: r.rationale, slot: r.slot, about: r.about,
                evidence: r.evidence, confidence: r.confidence, corrects: r.corrects,
                validFrom: localdatetime(r.validFrom), statedTo: localdatetime(r.statedTo),
                validTo: localdatetime(r.validTo), recordedAt: localdatetime(r.recordedAt),
                closedAt: localdatetime(r.closedAt), by: r.by, session: r.session, place: r.place})
       -[:IN_SESSION]->(s)
FOREACH (_ IN CASE WHEN r.kind = 'decision' THEN [1] ELSE [] END | SET d:Decision)
FOREACH (_ IN CASE WHEN r.kind = 'fact' THEN [1] ELSE [] END | SET d:Fact)
