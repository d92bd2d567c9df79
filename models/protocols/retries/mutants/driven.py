"""A wrong client and a wrong proxy, for the walks."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.retries.mutants.client import RETRY
from tidemark.models.protocols.retries.program import retries

DRIVEN = Host("retries-driven", retries)

MUTANTS = patches(
    __name__,
    Patch(
        "goes-on-unless-it-is-the-last",
        at="client/schemas.py:SchemaCache._goes_on",
        old="version > refused",
        new="version != refused",
        killer="conformance",
        on=DRIVEN,
        source=RETRY,
        says="The rule of Milvus' client: it makes a request again unless its version was refused last.",
    ),
    Patch(
        "a-version-is-compared-once",
        at="proxy/gateway.py:Gateway._write",
        old="collection, known, proxy.meta",
        new="collection, None, None",
        killer="conformance",
        on=DRIVEN,
        source="seed 002, DDL",
        says="A proxy does not look again when the write has its timestamp.",
    ),
)
