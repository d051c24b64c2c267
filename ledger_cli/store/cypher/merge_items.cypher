// Write items that may be there already; what is there stays as it is.
// $rows: list of the items' properties, times as text.
UNWIND $rows AS r
MERGE (d:Item {id: r.id})
  ON CREATE SET d.kind = r.kind, d.text = r.text, d.rationale = r.rationale, d.slot = r.slot,
                d.about = r.about, d.evidence = r.evidence, d.confidence = r.confidence,
                d.corrects = r.corrects, d.validFrom = datetime(r.validFrom),
                d.statedTo = datetime(r.statedTo), d.validTo = datetime(r.validTo),
                d.recordedAt = datetime(r.recordedAt), d.closedAt = datetime(r.closedAt), d.by = r.by,
                d.session = r.session, d.place = r.place
FOREACH (_ IN CASE WHEN d.kind = 'decision' THEN [1] ELSE [] END | SET d:Decision)
FOREACH (_ IN CASE WHEN d.kind = 'fact' THEN [1] ELSE [] END | SET d:Fact)
