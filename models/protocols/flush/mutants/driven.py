"""Wrong nodes and coordinators, for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.flush.mutants import implementation
from tidemark.models.protocols.flush.programs import flush

DRIVEN = Host("driven", flush)
TRIED = (
    "checkpoint-ignores-in-flight",
    "flush-ts-is-overwritten",
    "repeated-save-appends",
    "upload-error-is-swallowed",
)

MUTANTS = patches(
    __name__,
    *(
        replace(patch, killer="conformance", on=DRIVEN)
        for patch in implementation.MUTANTS
        if patch.name in TRIED
    ),
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
        at=f"{implementation.SYNCS}_save",
        old="outcome not in (SaveOutcome.RECORDED, SaveOutcome.ALREADY_RECORDED)",
        new="False",
        killer="conformance",
        on=Host("driven-moves", flush),
        source="hazard 22",
        says="A save that the coordinator refuses counts as recorded.",
    ),
)
