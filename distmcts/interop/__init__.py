"""distmcts as a player in other people's frameworks; each file needs the framework it is named for."""
