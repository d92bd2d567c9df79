"""Slips in the proxy's side of ids, found by unit tests."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch, patches

IDS = "proxy/ids.py:IdCache."

SLIPS = patches(
    __name__,
    Patch(
        "a-failure-is-told-to-the-first-alone",
        at=IDS + "fail",
        old="in self.waiting",
        new="in self.waiting[:1]",
        source="seed 004: 6.2",
        says="The requests behind the first one wait for another time-out.",
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
        source="seed 004: 6.2",
        says="Batches count as next to each other: the ids between them are given, too.",
    ),
)
