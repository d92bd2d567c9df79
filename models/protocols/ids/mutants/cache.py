"""Mutants of the proxy's side of ids by itself."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.ids.cache import cache

ALONE = Host("ids-impl-cache", cache)
IDS = "proxy/ids.py:IdCache."
IN_ORDER = "requests_get_the_next_ids_in_their_order"

MUTANTS = patches(
    __name__,
    Patch(
        "a-failure-is-told-to-the-first-alone",
        at=IDS + "_fail",
        old="in self.waiting",
        new="in self.waiting[:1]",
        killer=IN_ORDER,
        on=ALONE,
        source="seed 004: 6.2",
        says="Who waits behind it waits for a time-out of its own.",
    ),
    Patch(
        "a-large-request-is-asked-for-in-pieces",
        at=IDS + "_wait",
        old="max(request.missing, self._batch)",
        new="self._batch",
        killer="a_batch_is_asked_for_when_none_is_left",
        on=ALONE,
        source="seed 004: 6.2",
        says="A request for more than a batch asks for one batch after the other.",
    ),
    Patch(
        "who-fails-or-leaves-stays-in-the-queue",
        at=IDS + "fill",
        old="self.waiting.remove(request)",
        new="if not request.missing:\n                self.waiting.remove(request)",
        killer="nothing_waits_and_nothing_is_lost_at_rest",
        on=ALONE,
        source="seed 004: 6.2",
        says="A request that has failed, or whose caller has left, is kept.",
    ),
    Patch(
        "ids-of-who-leaves-are-taken-back",
        at=IDS + "fill",
        old="finally:",
        new="""except asyncio.CancelledError:
            if request.runs and self.left is not None:
                self.left = Batch(request.runs[-1].first, self.left.last)
            raise
        finally:""",
        killer=IN_ORDER,
        on=ALONE,
        source="seed 004: 6.2",
        says="Batches count as next to each other: what lies between them is given, too.",
    ),
)
