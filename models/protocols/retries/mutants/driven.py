"""Wrong clients and a wrong proxy for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.client.client import Client
from tidemark.impl.client.schemas import SchemaCache
from tidemark.impl.proxy.gateway import Gateway
from tidemark.impl.proxy.meta_cache import CollectionVersion
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.writes import WriteTask
from tidemark.models.protocols.retries.driver import RetriesAdapter


class _UnlessTheLast(SchemaCache):
    def _goes_on(self, version: int, refused: int) -> bool:
        return version != refused


class _GoesBackAndForth(Client):
    schema_cache = _UnlessTheLast


class _LooksOnce(Gateway):
    def _check_again(self, task: WriteTask, known: CollectionVersion, proxy: Proxy) -> None:
        del task, known, proxy


class GoesOnUnlessItIsTheLast(RetriesAdapter):
    """The rule of Milvus' client: a request is made again unless the version is the last that was refused."""

    client: ClassVar[type[Client]] = _GoesBackAndForth


class AVersionIsComparedOnce(RetriesAdapter):
    """A proxy does not look again when the write has its timestamp."""

    gateway: ClassVar[type[Gateway]] = _LooksOnce
