// The items that hold any of the words, in the dialect of kglite.
// $index: string, the index asked; $words: string, plain words; $limit: integer.
// Rows: id, score (BM25); best first, then by id.
CALL db.index.fulltext.queryNodes($index, $words) YIELD node, score
RETURN node.id AS id, score
ORDER BY score DESC, id
LIMIT $limit
