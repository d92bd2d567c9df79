"""Wrong stores for conformance."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.store.driver import LogAdapter, WindowAdapter
from tidemark.models.protocols.store.mutants import implementation

_HOSTS = {
    "end-is-kept-after-a-failure": Host("store-driven-log-the-end-is-kept-after-a-failure", LogAdapter),
    "reader-does-not-force": Host("store-driven-log-a-reader-does-not-force", LogAdapter),
    "window-falls": Host("store-driven-window-falls", WindowAdapter),
    "fence-is-ignored": Host("store-driven-window-the-fence-is-ignored", WindowAdapter),
}
MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=_HOSTS[patch.name], killer="conformance")
        for patch in implementation.MUTANTS
        if patch.name in _HOSTS
    ),
)
