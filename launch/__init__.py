"""Starting cluster nodes with engines made for it, one file each."""
