// Take all stretches of items away, for their new set to be added.
// $ids: list of string.
UNWIND $ids AS id
MATCH (:Item {id: id})-[:HOLDS]->(s:Stretch)
DETACH DELETE s
