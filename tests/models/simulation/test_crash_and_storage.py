"""Crashes, disks, stores: what is lost, what stays, and that dead code does not run."""

import pytest

from tests.models.simulation.solo import Solo
from tidemark.checks.interleave import explore
from tidemark.models.simulation import (
    TORN,
    FaultBudget,
    Process,
    Program,
    ProgramError,
    ProgramRef,
    Settings,
    StorageFailedError,
    StorageUnknownError,
    World,
)

HERE = "tests.models.simulation.test_crash_and_storage:"


class Finally(Solo):
    """Its coroutine would write in `finally` and in `except`."""

    settings = Settings(faults=FaultBudget(crashes=1), crashable=frozenset({"p"}))
    restarts = False

    async def main(self, process: Process) -> None:
        try:
            self.log.append("begin")
            await process.point("middle")
        except BaseException:
            self.log.append("except")
            raise
        finally:
            self.log.append("finally")


def test_a_crash_runs_neither_except_nor_finally():
    result = explore(ProgramRef.of(f"{HERE}Finally"))
    assert result.finals == {("begin",), ("begin", "finally")}


class WriteAhead(Solo):
    """Appends two records, syncs after the first one; what does a restart find?"""

    settings = Settings(faults=FaultBudget(crashes=1), crashable=frozenset({"p"}))

    async def main(self, process: Process) -> None:
        disk = process.disk
        if process.incarnation == 2:
            self.log.extend(disk.records())
            return
        disk.append("a")
        await disk.sync()
        disk.append("b")
        await process.point("unsynced")


def test_a_crash_keeps_any_prefix_of_what_was_not_synced_and_may_tear_the_last():
    result = explore(ProgramRef.of(f"{HERE}WriteAhead"))
    assert result.finals == {(), ("a",), (TORN,), ("a", "b"), ("a", TORN)}


class Put(Program):
    """One put with a fault budget; the caller says what it was told."""

    def __init__(self, **faults: int) -> None:
        self.settings = Settings(
            faults=FaultBudget(**faults), crashable=frozenset({"p"} if faults.get("crashes") else ())
        )
        self.told = "nothing"

    def build(self, world: World) -> None:
        self.store = world.store("objects")

        async def main(process: Process) -> None:
            try:
                await process.store("objects").put("key", [1])
            except (StorageFailedError, StorageUnknownError) as error:
                self.told = type(error).__name__
            else:
                self.told = "stored"

        world.process("p", main, restarts=False)

    def final(self) -> object:
        left = self.store.content().get("key")
        return self.told, TORN if left == TORN else left == [1]


@pytest.mark.parametrize(
    ("faults", "finals"),
    [
        ({}, {("stored", True)}),
        ({"storage_failures": 1}, {("stored", True), ("StorageFailedError", False)}),
        ({"storage_lost_acks": 1}, {("stored", True), ("StorageUnknownError", True)}),
        ({"torn_writes": 1}, {("stored", True), ("StorageFailedError", TORN)}),
        # A request to a remote store that was under way at the crash takes effect afterwards.
        ({"crashes": 1}, {("stored", True), ("nothing", True)}),
        (
            {"crashes": 1, "torn_writes": 1},
            {("stored", True), ("nothing", True), ("StorageFailedError", TORN), ("nothing", TORN)},
        ),
    ],
)
def test_outcomes_of_a_store(faults, finals):
    assert explore(ProgramRef.of(f"{HERE}Put", **faults)).finals == finals


class Move(Program):
    """Moves a unit from one key to another in one step, unless there is none."""

    names = "pq"

    def __init__(self, *, remote: bool, **faults: int) -> None:
        self.settings = Settings(
            faults=FaultBudget(**faults), crashable=frozenset({"p"} if faults.get("crashes") else ())
        )
        self.remote = remote
        self.told: object = "nothing"

    def build(self, world: World) -> None:
        self.store = world.store("accounts")
        self.store.content().update({"a": 1, "b": 0})

        def move(content: dict[str, int]) -> bool:
            if not content["a"]:
                return False
            content.update({"a": content["a"] - 1, "b": content["b"] + 1})
            return True

        async def main(process: Process) -> None:
            store = process.store("accounts")
            try:
                self.told = await store.transact("move", move, keys=("a", "b"), remote=self.remote)
            except (StorageFailedError, StorageUnknownError) as error:
                self.told = type(error).__name__

        for name in self.names:
            world.process(name, main, restarts=False)

    def final(self) -> object:
        content = self.store.content()
        return content["a"], content["b"]


def test_a_transaction_is_one_step():
    assert explore(ProgramRef.of(f"{HERE}Move", remote=True)).finals == {(0, 1)}
    assert explore(ProgramRef.of(f"{HERE}Move", remote=True, storage_failures=2)).finals == {(0, 1), (1, 0)}


class MoveAlone(Move):
    names = "p"

    def final(self) -> object:
        return self.told, self.store.content()["a"]


@pytest.mark.parametrize(("remote", "left"), [(True, 0), (False, 1)])
def test_a_transaction_under_way_outlives_its_caller_if_it_is_remote(remote, left):
    found = explore(ProgramRef.of(f"{HERE}MoveAlone", remote=remote, crashes=1))
    assert found.finals - {(True, 0)} == {("nothing", left)}


def test_a_crashable_process_that_does_not_exist_is_an_error():
    with pytest.raises(ProgramError, match="ghost"):
        explore(ProgramRef.of(f"{HERE}ghost"))


def ghost() -> Program:
    program = Finally()
    program.settings = Settings(crashable=frozenset({"ghost"}))
    return program
