// How much of what each session brought. No parameters.
// Rows: session, what (decision, fact, episode, link, ending, review), n; in no order.
MATCH (d:Item) RETURN d.session AS session, d.kind AS what, count(*) AS n
UNION ALL
MATCH (e:Episode) RETURN e.session AS session, 'episode' AS what, count(*) AS n
UNION ALL
MATCH (:Item)-[l:SUPERSEDES]->(:Item) RETURN l.session AS session, 'link' AS what, count(*) AS n
UNION ALL
MATCH (x:Ending) RETURN x.session AS session, 'ending' AS what, count(*) AS n
UNION ALL
MATCH (v:Review) RETURN v.session AS session, 'review' AS what, count(*) AS n
