"""Many machines: a coordinator merges the searches of cluster nodes, or hands out units of work to them."""
