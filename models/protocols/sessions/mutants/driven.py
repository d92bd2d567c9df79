"""A wrong follower of sessions, for the walks."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.sessions.mutants.implementation import WATCH
from tidemark.models.protocols.sessions.program import sessions

MUTANTS = patches(
    __name__,
    Patch(
        "the-list-misses-one",
        at=WATCH + "load",
        old="init_sessions(sources)",
        new="init_sessions(sources[:-1])",
        killer="conformance",
        on=Host("sessions-driven", sessions),
        source="seed 004: service discovery",
        says="The coordinator does not take over the last session of the list.",
    ),
)
