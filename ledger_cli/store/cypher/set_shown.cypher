// Keep with items what is shown of their ends, as known now; derived, for people who query.
// $rows: list of {id, validTo, closedAt}, times as text or null.
UNWIND $rows AS r
MATCH (d:Item {id: r.id})
SET d.validTo = localdatetime(r.validTo), d.closedAt = localdatetime(r.closedAt)
