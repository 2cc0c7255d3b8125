"""The command line: one file per subcommand. Nothing here imports the compiler before it is needed."""
