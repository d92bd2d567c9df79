"""A wrong cache for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.models.protocols.aliases.driver import AliasesAdapter
from tidemark.models.protocols.aliases.mutants.names import KeepsTheAlias


class AnAliasIsNotForgotten(AliasesAdapter):
    """An invalidation leaves what a proxy keeps of an alias."""

    cache: ClassVar[type[MetaCache]] = KeepsTheAlias
