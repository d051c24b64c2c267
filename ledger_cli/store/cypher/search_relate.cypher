// The items that hold any of the words, in the dialect of relate.
// $words: string, plain words; $limit: integer.
// Rows: id, score (BM25); best first, then by id.
MATCH (d:Item)
SEARCH d IN (FULLTEXT INDEX item_text FOR $words LIMIT $limit) SCORE AS score
RETURN d.id AS id, score
ORDER BY score DESC, id
