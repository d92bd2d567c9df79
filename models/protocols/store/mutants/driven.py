"""Wrong stores, for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.store.mutants import implementation
from tidemark.models.protocols.store.programs import log, window

LOG, WINDOW = Host("store-driven-log", log), Host("store-driven-window", window)
_HOSTS = {
    "end-is-kept-after-a-failure": LOG,
    "reader-does-not-force": LOG,
    "window-falls": WINDOW,
    "fence-is-ignored": WINDOW,
}
MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=_HOSTS[patch.name], killer="conformance")
        for patch in implementation.MUTANTS
        if patch.name in _HOSTS
    ),
)
