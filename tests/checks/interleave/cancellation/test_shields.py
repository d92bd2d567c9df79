"""A cancellation reaches what it reaches on a plain loop: what is in ``asyncio.shield`` is out of reach.

In each form below a few tasks are held by code outside, which may cancel them. On a plain loop each of them
is cancelled after each number of passes. The explorer may cancel any task, and must come to the same ends.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

import pytest

from tidemark.checks.interleave import Options, Reduction, Status, explore, explore_coroutine
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import FaultBudget, Process, Program, ProgramRef, Settings, World

HERE = "tests.checks.interleave.cancellation.test_shields"
Story = list[str]
Held = list["asyncio.Task[None]"]
_ROUNDS = 12


async def part(story: Story, name: str) -> None:
    try:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        story.append(f"{name} is lost")
        raise
    story.append(f"{name} is done")


async def parts(story: Story) -> None:
    await asyncio.gather(part(story, "left"), part(story, "right"))


async def group(story: Story) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(part(story, "left"))
        tasks.create_task(part(story, "right"))


def begin(*waiters: "Coroutine[object, object, object]") -> Held:
    async def wait(waiter: "Coroutine[object, object, object]") -> None:
        await waiter

    return [asyncio.create_task(wait(waiter)) for waiter in waiters]


async def over(inside: Awaitable[None]) -> None:
    await asyncio.shield(inside)


async def plainly(task: "asyncio.Task[None]") -> None:
    await task


def a_coroutine(story: Story) -> Held:
    return begin(over(part(story, "it")))


def a_task(story: Story) -> Held:
    return begin(over(asyncio.create_task(part(story, "it"))))


def nested(story: Story) -> Held:
    async def twice() -> None:
        await asyncio.shield(asyncio.shield(part(story, "it")))

    return begin(twice())


def with_a_deadline(story: Story) -> Held:
    async def waits() -> None:
        try:
            await asyncio.wait_for(asyncio.shield(part(story, "it")), 100)
        except TimeoutError:  # a timer may be early in the explorer: it gives up as one that is cancelled
            raise asyncio.CancelledError from None

    return begin(waits())


def parts_inside(story: Story) -> Held:
    return begin(over(parts(story)))


def a_group_inside(story: Story) -> Held:
    return begin(over(group(story)))


def shields_in_a_group(story: Story) -> Held:
    async def waits() -> None:
        await asyncio.gather(asyncio.shield(part(story, "left")), asyncio.shield(part(story, "right")))

    return begin(waits())


def awaited_by_another_one(story: Story) -> Held:
    """The other one awaits it without a shield: a cancellation of the other one goes through."""
    task = asyncio.create_task(part(story, "it"))
    return begin(over(task), plainly(task))


def a_future(story: Story) -> Held:
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    async def settles() -> None:
        try:
            await part(story, "it")
        finally:
            future.set_result(None)

    return begin(over(future), settles())


def no_shield(story: Story) -> Held:
    return begin(part(story, "it"))


FORMS: list[Callable[[Story], Held]] = [
    a_coroutine, a_task, nested, with_a_deadline, parts_inside, a_group_inside, shields_in_a_group,
    awaited_by_another_one, a_future, no_shield,
]  # fmt: skip


async def to_its_end(form: Callable[[Story], Held], passes: int, who: int) -> tuple[str, ...]:
    """Run a form on whatever loop there is; cancel one of the tasks that are held, unless ``who`` is -1."""
    story: Story = []
    held = form(story)
    for _ in range(passes):
        await asyncio.sleep(0)
    if who >= 0:
        held[who].cancel()
    await asyncio.wait(held)
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)
    ends = ["cancelled" if task.cancelled() else "over" for task in held]
    return (*sorted(story), *ends)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_the_ends_are_those_of_a_plain_loop(form: Callable[[Story], Held]) -> None:
    everybody = 2 if form in (awaited_by_another_one, a_future) else 1
    plain = {asyncio.run(to_its_end(form, 0, -1))}
    for who in range(everybody):
        plain |= {asyncio.run(to_its_end(form, passes, who)) for passes in range(1, _ROUNDS)}

    async def main() -> tuple[str, ...]:
        return await to_its_end(form, 0, -1)

    seen = explore_coroutine(main, clock="per-process", cancellations=1)
    assert seen.status is Status.EXHAUSTED, seen.reason
    assert seen.finals - {None} == plain  # None: it is main that was cancelled
    assert len(plain) > 1


async def outlived() -> tuple[str, ...]:
    """A task that a shielded one has started, and that goes on when that one has ended."""
    story: Story = []
    left: Held = []

    async def starts() -> None:
        left.append(asyncio.create_task(part(story, "it")))

    await asyncio.shield(starts())
    await asyncio.wait(left)
    return tuple(story)


def test_what_outlives_the_shielded_task_is_in_reach() -> None:
    assert ("it is lost",) in explore_coroutine(outlived, cancellations=1).finals


async def ended_by_the_program() -> tuple[str, ...]:
    story: Story = []
    task = asyncio.create_task(part(story, "it"))
    held = begin(over(task))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([*held, task])
    return tuple(story)


def test_the_program_itself_cancels_what_it_holds() -> None:
    assert explore_coroutine(ended_by_the_program).finals == {("it is lost",)}


class Shielding(Program):
    """A process that shields a task, or has no shield over the same one, and looks the same otherwise."""

    settings = Settings(faults=FaultBudget(cancellations=2))

    def __init__(self) -> None:
        self.story: Story = []

    def build(self, world: World) -> None:
        world.process("worker", self.worker)

    async def worker(self, process: Process) -> None:
        async def work() -> None:
            try:
                await process.point("work")
            except asyncio.CancelledError:
                self.story.append("lost")
                raise

        task = asyncio.create_task(work())
        if await process.choose(2, "shield") == 0:
            asyncio.shield(task)
        self.story.append("begun")
        await process.point("begun")
        await asyncio.wait([task])

    def declared(self) -> tuple[str, ...]:
        return tuple(self.story)

    def final(self) -> tuple[str, ...]:
        return tuple(self.story)


def test_a_shield_is_a_part_of_a_merged_state() -> None:
    """What may be cancelled differs, so the states do: merging them gives the ends of the whole tree."""
    program = ProgramRef.of(f"{HERE}:Shielding")
    whole = explore(program, Options(reduction=Reduction.NONE))
    merged = explore(program, Options(reduction=Reduction.STATES))
    assert whole.finals == merged.finals
    assert whole.status is merged.status


@pytest.mark.parametrize("names", [("worker",), ("wor*",), ("waits*",), ("*.waits",)])
def test_an_exempt_task_is_never_cancelled(names: tuple[str, ...]) -> None:
    async def main() -> Story:
        story: Story = []

        async def waits() -> None:
            await part(story, "it")

        await asyncio.wait([asyncio.create_task(waits(), name="worker")])
        return tuple(story)  # type: ignore[return-value]

    free = explore_coroutine(main, cancellations=1, exempt=("main",))
    kept = explore_coroutine(main, cancellations=1, exempt=("main", *names))
    assert ("it is lost",) in free.finals
    assert kept.finals == {("it is done",)}
    assert kept.status is Status.EXHAUSTED
    assert f"never cancelled: main, {names[0]}" in kept.bounds
    with pytest.raises(BadInputError, match="give names"):
        explore_coroutine(main, exempt="worker")
