// Let the index over the texts go. No parameters, no rows.
DROP INDEX item_text IF EXISTS
