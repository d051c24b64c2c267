"""Exchange with other tools: a ledger as JSON Lines, CSV, Cypher or decision records, and back. (README)"""
