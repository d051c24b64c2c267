// An index over the words of the rationales, in memory and never saved. No parameters, no rows.
CREATE FULLTEXT INDEX item_rationale IF NOT EXISTS FOR (d:Item) ON EACH [d.rationale]
