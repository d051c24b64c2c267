"""Agent memory on the ledger's own rule: what is asked is answered from what holds at a moment, with its evidence."""
