"""`python -m ledger_cli`."""

from ledger_cli.app import main

main()
