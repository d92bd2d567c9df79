"""Mutants of the flush of a channel."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.channels.flush_life import ASKED, OVER, life

LIFE = Host("flush-service-impl-life", life)

MUTANTS = patches(
    __name__,
    Patch(
        "a-node-that-comes-again-is-not-told",
        at="datacoord/flush_service.py:FlushService._until_confirmed",
        old="term != told_term",
        new="told_term is None",
        killer=ASKED,
        on=LIFE,
        source="seed 004, 6.3",
        says="A node that has forgotten the flush, since it died, is not told again.",
    ),
    Patch(
        "one-request-of-a-channel-is-resumed",
        at="datacoord/flush_service.py:FlushService.resume",
        old=".flush_requests:",
        new=".flush_requests[:1]:",
        killer=OVER,
        on=LIFE,
        source="facts 7.8: after a restart",
        says="Of several requests of a channel that were recorded only the first one is resumed.",
    ),
)
