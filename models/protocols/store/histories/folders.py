"""The names of Parquet files: who lists and deletes them beside the store that has written them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from tidemark.impl.storage.parquet_folder import ParquetFolder
from tidemark.impl.storage.parquet_store import SUFFIX, ParquetStore, encode
from tidemark.impl.types import Row
from tidemark.models.protocols.store.histories import contracts
from tidemark.models.protocols.store.histories.contracts import Named
from tidemark.models.protocols.common.faults import FAIL
from tidemark.models.protocols.store.histories.kinds import ROOT, Objects
from tidemark.models.protocols.store.histories.order import Answer, Call, State
from tidemark.models.protocols.store.histories.program import Script
from tidemark.models.simulation.world.database import outside
from tidemark.models.simulation.world.process import Process


class _Both(NamedTuple):
    store: ParquetStore
    folder: ParquetFolder


class Folder(Objects):
    """A store of Parquet files and its folder, which reads the names by itself and remembers none."""

    first: ClassVar[State] = Named()

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.folder(state, call)

    def left(self, state: State) -> Iterable[State]:
        """See Kind. A deletion is not forced."""
        assert isinstance(state, Named)
        return state.after_power()

    def holding(self, what: Iterable[Any]) -> State:
        """See Kind."""
        return Named(frozenset(what))

    def give(self, what: Any) -> None:
        """See Kind: objects by path, durable; and the rest of one that was never finished."""
        with outside():
            files = {f"{ROOT}/{path}{SUFFIX}": encode(rows) for path, rows in what}
        first, *_ = files
        files[f"{first}.w.1.unfinished"] = b"PAR1"
        above = {str(one) for file in files for one in Path(file).parents}
        for directory in sorted(above, key=len):
            self.system.make_directory(directory)
        for file, content in files.items():
            self.system.change(file, 0, content)
            self.system.force(file)
        for directory in above:
            self.system.force(directory)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        store = super().adapter(process, name)
        return _Both(store, ParquetFolder(store))

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind: ``below`` lists a folder."""
        found: Answer
        match call.name:
            case "below":
                found = await adapter.folder.paths(*call.arguments)
            case "delete":
                found = await adapter.folder.delete(*call.arguments)
            case _:
                found = await super().perform(adapter.store, call)
        return found


_ONE = (Row(1, 7, 3, "a"),)
_TWO = (Row(5, 8, 1, "b"),)
_HELD = (("s/1/a", _ONE), ("s/1/a-b", _TWO), ("s/1-b", _ONE), ("s/1", _TWO), ("s2/a", _TWO))
"""Names of which one begins with another, and which are in another order as paths than as texts."""

FOLDER: tuple[Script, ...] = (
    {
        "given": _HELD,
        "first": _HELD,
        "users": (
            (
                "w",
                (
                    ("below", "s"),
                    ("delete", "s/1/a"),
                    ("below", "s/1"),
                    ("get", "s/1/a"),
                    ("get", "s/1/a-b"),
                    ("delete", "s/1/a"),
                    ("delete", "absent/a"),
                    ("below", "absent"),
                    ("put", "s/1/a", _TWO),
                    ("delete", "s/1"),
                    ("below", "s"),
                    ("below", "s2"),
                    ("get", "s/1/a"),
                    *((what, path) for what in ("below", "delete") for path in ("/s", "s/../../a", "..", "")),
                ),
            ),
        ),
        "faults": (FAIL,),
        "places": 10,
    },
    {
        "given": _HELD,
        "first": _HELD,
        "users": (
            ("w", (("delete", "s/1/a"), ("below", "s"), ("delete", "s/1"))),
            ("w", (("delete", "s/1/a"), ("below", "s/1"))),
        ),
    },
)
FOLDER_POWER: tuple[Script, ...] = (
    {
        "given": _HELD,
        "first": _HELD,
        "users": (
            ("w", (("delete", "s/1/a"), ("delete", "s/1/a-b"), ("put", "s2/a", _ONE), ("below", "s"))),
        ),
        "after": (
            (
                "w",
                (
                    ("below", "s"),
                    ("get", "s2/a"),
                    ("delete", "s/1/a"),
                    ("delete", "s/1/a-b"),
                    ("below", "s"),
                    ("get", "s/1-b"),
                ),
            ),
        ),
    },
)
