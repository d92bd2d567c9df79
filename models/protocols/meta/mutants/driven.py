"""A wrong cache and a wrong coordinator for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.rootcoord.collection_meta import CollectionMeta
from tidemark.models.protocols.meta.driver import MetaAdapter
from tidemark.models.protocols.meta.mutants.implementation import TakesAnything, TellsNobody


class AnAnswerIsAlwaysTaken(MetaAdapter):
    """An answer fills the cache although a newer version is known."""

    cache: ClassVar[type[MetaCache]] = TakesAnything


class AcknowledgedBeforeAllAnswer(MetaAdapter):
    """A change is acknowledged when it is stored."""

    coordinator: ClassVar[type[CollectionMeta]] = TellsNobody
