"""Adapters of flush implementations with one bug each."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.flush.driver import FlushAdapter
from tidemark.models.protocols.flush.mutants import implementation

DRIVEN = Host("flush-driven-ignores-in-flight", FlushAdapter)

MUTANTS = patches(
    __name__,
    *(replace(patch, killer="conformance", on=DRIVEN) for patch in implementation.MUTANTS),
    Patch(
        "rounds-overlap",
        at=f"{implementation.UPDATER}_run_round",
        old="async with self._round:",
        new="async with asyncio.Lock():",
        killer="conformance",
        on=DRIVEN,
        source="facts 9",
        says="Two rounds of the updater run at the same time.",
    ),
    Patch(
        "refusal-is-success",
        at=f"{implementation.SYNCS}_counts_as_recorded",
        old="outcome in (SaveOutcome.RECORDED, SaveOutcome.ALREADY_RECORDED)",
        new="True",
        killer="conformance",
        on=DRIVEN,
        source="hazard 22",
        says="A save that the coordinator refuses counts as recorded.",
    ),
)
