"""The names of the schemes in this folder, for code that means a certain one. schemes.py knows all, and loads the compiler."""

SERIAL = "serial"
LEAF = "leaf"
ROOT = "root"
TREE = "tree"
SIMULATED = "simulated"
SHIPPED = (SERIAL, LEAF, ROOT, TREE, SIMULATED)
