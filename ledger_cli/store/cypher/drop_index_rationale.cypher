// Let the index over the rationales go. No parameters, no rows.
DROP INDEX item_rationale IF EXISTS
