"""What the clients do until they are told to stop; everything that varies is drawn from the seed."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass

from .operations import Client

_FLUSH_SECONDS = 30.0
_AFTER_ERROR_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Role:
    """How one client behaves.

    ``batch`` rows an insert at most, ``exact``: always; ``pause`` seconds between operations; ``level`` of
    the reads; ``first_key`` of the keys that this client writes; ``rounds`` after which it stops by itself.
    """

    role: str
    seed: int
    first_key: int = 0
    batch: int = 3
    exact: bool = False
    pause: float = 0.02
    level: str = "Strong"
    delete_share: float = 0.25
    session_share: float = 0.2
    rounds: int = 0


def play(client: Client, role: Role, stop: threading.Event) -> None:
    """Do what the role says until ``stop`` is set, or its rounds are over."""
    _ROLES[role.role](client, role, stop)


def _writer(client: Client, role: Role, stop: threading.Event) -> None:
    """Insert fresh keys, delete some of them, read one's own writes at level Session now and then."""
    rng = random.Random(role.seed)
    mine: list[int] = []
    key = role.first_key
    while not stop.is_set():
        if mine and rng.random() < role.delete_share:
            gone = mine.pop(rng.randrange(len(mine)))
            done = client.delete([gone])
        else:
            size = role.batch if role.exact else rng.randint(1, role.batch)
            keys = list(range(key, key + size))
            key += size
            done = client.insert(keys, rng=rng)
            if done:
                mine += keys
            if done and rng.random() < role.session_share:
                client.query(level="Session", keys=keys)
        stop.wait(rng.uniform(0, 2 * role.pause) if done else _AFTER_ERROR_SECONDS)


def _reader(client: Client, role: Role, stop: threading.Event) -> None:
    rng = random.Random(role.seed)
    while not stop.is_set():
        seen = client.query(level=role.level)
        stop.wait(_AFTER_ERROR_SECONDS if seen is None else rng.uniform(0, 2 * role.pause))


def _counter(client: Client, role: Role, stop: threading.Event) -> None:
    rng = random.Random(role.seed)
    while not stop.is_set():
        count = client.count(level=role.level)
        stop.wait(_AFTER_ERROR_SECONDS if count is None else rng.uniform(0, 2 * role.pause))


def _flusher(client: Client, role: Role, stop: threading.Event) -> None:
    rng = random.Random(role.seed)
    while not stop.wait(rng.uniform(0, 2 * role.pause)):
        client.flush(timeout=_FLUSH_SECONDS)


def _definer(client: Client, role: Role, stop: threading.Event) -> None:
    """Create and drop collections beside the one that is read."""
    rng = random.Random(role.seed)
    number = 0
    while not stop.wait(rng.uniform(0, 2 * role.pause)):
        number += 1
        name = f"{client.collection}_side_{number}"
        client.create(name, shards=1)
        stop.wait(rng.uniform(0, role.pause))
        client.drop(name)


def _session_deleter(client: Client, role: Role, stop: threading.Event) -> None:
    """Insert, read, delete, read. The reads ask for Session in one process: they have to see the writes."""
    rng = random.Random(role.seed)
    for number in range(role.rounds):
        if stop.is_set():
            return
        key = role.first_key + number
        client.insert([key], rng=rng)
        client.query(level="Session", keys=[key])
        client.delete([key])
        client.query(level="Session", keys=[key])
        stop.wait(rng.uniform(0, 2 * role.pause))


_ROLES: dict[str, Callable[[Client, Role, threading.Event], None]] = {
    "writer": _writer,
    "reader": _reader,
    "counter": _counter,
    "flusher": _flusher,
    "definer": _definer,
    "session-deleter": _session_deleter,
}
