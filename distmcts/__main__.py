"""`python -m distmcts` is the command `distmcts`."""

from distmcts.commands.main import main

main()
