"""All schemes by name: those in this folder, and those that others have added by defining a subclass of Scheme."""

from importlib import import_module
from pkgutil import iter_modules

import distmcts.parallel
from distmcts.parallel.scheme import SCHEMES

for module in iter_modules(distmcts.parallel.__path__):
    import_module(f"distmcts.parallel.{module.name}")

__all__ = ["SCHEMES"]
