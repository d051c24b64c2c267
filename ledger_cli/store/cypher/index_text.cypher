// An index over the words of the texts, in memory and never saved. No parameters, no rows.
CREATE FULLTEXT INDEX item_text IF NOT EXISTS FOR (d:Item) ON EACH [d.text]
