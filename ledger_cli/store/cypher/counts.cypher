// How many nodes carry each label, and how many relationships there are of each type. No parameters.
// Rows: what, n; in no order.
MATCH (n) UNWIND labels(n) AS what RETURN what, count(*) AS n
UNION ALL
MATCH ()-[r]->() RETURN type(r) AS what, count(*) AS n
