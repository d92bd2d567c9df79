"""The programs of the stores by plain arguments, as the manifest gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidemark.models.protocols.store.cells import Cell, EtcdWindow, Log, Metadata, Objects, Window
from tidemark.models.protocols.store.program import STORES, StoreProgram, StoreScenario
from tidemark.models.simulation.settings import FaultBudget

PLAIN = "tidemark.spec.store:Store"
TRANSACTIONAL = f"{STORES}:Transactional"
KNOWN = f"{STORES}:KnownObjects"


def program(
    cell: type[Cell],
    protocol: str,
    *,
    values: Sequence[int],
    users: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]] = (),
    terms: int = 0,
    crashes: int = 0,
    storage_failures: int = 0,
    storage_lost_acks: int = 0,
    torn_writes: int = 0,
) -> StoreProgram:
    """Return a program.

    Args:
        cell: the store.
        protocol: the specification of its kind.
        values: see ``StoreScenario``.
        users: likewise.
        after: likewise.
        terms: likewise.
        crashes: budget of power failures.
        storage_failures: budget of operations of the medium that fail without effect.
        storage_lost_acks: budget of those of a remote store that are done and reported as failed.
        torn_writes: budget of writes that fail half-way.
    """
    scenario = StoreScenario(
        values=tuple(values),
        users=tuple(map(tuple, users)),
        after=tuple(map(tuple, after)),
        terms=terms,
        faults=FaultBudget(
            crashes=crashes,
            storage_failures=storage_failures,
            storage_lost_acks=storage_lost_acks,
            torn_writes=torn_writes,
        ),
    )
    return StoreProgram(scenario, cell=cell, protocol=protocol)


def objects(**scenario: Any) -> StoreProgram:
    """Parquet files."""
    return program(Objects, KNOWN, **scenario)


def log(**scenario: Any) -> StoreProgram:
    """The file log."""
    return program(Log, PLAIN, **scenario)


def metadata(**scenario: Any) -> StoreProgram:
    """The metadata in SQLite."""
    return program(Metadata, TRANSACTIONAL, **scenario)


def window(**scenario: Any) -> StoreProgram:
    """The oracle's window in SQLite."""
    return program(Window, TRANSACTIONAL, **scenario)


def etcd_window(**scenario: Any) -> StoreProgram:
    """The oracle's window in etcd."""
    return program(EtcdWindow, TRANSACTIONAL, **scenario)
