"""An agent's memory on the ledger: what it asks, what it learns, and the record of its calls."""
