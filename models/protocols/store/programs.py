"""The programs of the stores."""

from __future__ import annotations

from collections.abc import Callable

from tidemark.models.protocols.store.cells import Cell, EtcdWindow, Log, Metadata, Objects, Window
from tidemark.models.protocols.store.program import STORES, StoreProgram, StoreScenario
from tidemark.models.refinement.scenario import program

PLAIN = "tidemark.spec.store:Store"
TRANSACTIONAL = f"{STORES}:Transactional"
KNOWN = f"{STORES}:KnownObjects"


def _over(cell: type[Cell], protocol: str) -> Callable[..., StoreProgram]:
    return program(lambda scenario: StoreProgram(scenario, cell=cell, protocol=protocol), StoreScenario)


objects = _over(Objects, KNOWN)
log = _over(Log, PLAIN)
metadata = _over(Metadata, TRANSACTIONAL)
window = _over(Window, TRANSACTIONAL)
etcd_window = _over(EtcdWindow, TRANSACTIONAL)
