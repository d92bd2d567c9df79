"""Aliases of collections: names that point to them, and what proxies keep of names."""

from tidemark.spec.aliases.proof import Aliases as Aliases
