"""The data coordinator's records: what each call changes and answers, and calls side by side."""

import asyncio
from dataclasses import fields, replace
from functools import cache, partialmethod
from itertools import permutations

import pytest

from tests.impl.storage.parts import AtOnce
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ImplementationError
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import (
    DROPPED_CHECKPOINT,
    BinlogRecord,
    ChannelPosition,
    ChannelRecord,
    Compaction,
    EndPosition,
    FlushRequest,
    MetaSnapshot,
    Owner,
    SaveBinlogPaths,
    SegmentRecord,
    StartPosition,
    UpdateCheckpoints,
)

LOOP = AtOnce


def text(value):
    """A field of a record or an answer, in short."""
    match value:
        case EndPosition() | StartPosition():
            return text(value.ts)
        case BinlogRecord():
            return text(value.row_positions)
        case FlushRequest():
            return f"{value.flush_ts}:{text(value.segments)}"
        case Compaction():
            return text(value.applied)
        case tuple():
            return "[" + ",".join(map(text, value)) + "]"
        case bool() | None:
            return str(value).lower()
        case _:
            return "end" if value == DROPPED_CHECKPOINT else str(value)


def by_name(stored):
    return {getattr(one, fields(one)[0].name): one for one in (*stored.channels, *stored.segments)}


def difference(before, after):
    """The fields that differ, record by record. A record that was not there has the fields' defaults."""
    changes = []
    for name, new in sorted(after.items(), key=str):
        made = SegmentRecord(name, new.channel) if isinstance(new, SegmentRecord) else ChannelRecord(name)
        old = before.get(name, made)
        changed = [
            field.name for field in fields(new) if getattr(old, field.name) != getattr(new, field.name)
        ]
        if changed or name not in before:
            changes.append(" ".join([f"{name}:", *(f"{one}={text(getattr(new, one))}" for one in changed)]))
    return (
        "; ".join(changes + [f"{name} is gone" for name in sorted(before.keys() - after.keys())]) or "nothing"
    )


class World:
    """A coordinator and its store, whose writes take a step and are noted: by write what it changes."""

    def __init__(self, store):
        self.store, self.stored, self.writes, self.pause = store, {}, [], 0.0
        self.coordinator = Coordinator(meta=self)

    async def _write(self, name, *arguments):
        await self.agree()
        await asyncio.sleep(self.pause)
        await getattr(self.store, name)(*arguments)
        after = by_name(await self.store.load())
        self.writes.append(difference(self.stored, after))
        self.stored = after

    save_channels = partialmethod(_write, "save_channels")
    save_segment = partialmethod(_write, "save_segment")
    replace_segment = partialmethod(_write, "replace_segment")
    collect = partialmethod(_write, "collect")

    async def load(self):
        self.stored = by_name(await self.store.load())
        return await self.store.load()

    async def agree(self):
        known = MetaSnapshot(
            tuple(self.coordinator.channels.values()), tuple(self.coordinator.segments.values())
        )
        assert by_name(known) == self.stored == by_name(await self.store.load())

    async def call(self, call):
        """Make a call, written as a line. Return its answer, or the name of its error."""
        name, *words = call.split()
        arguments = [int(word) if word.lstrip("-").isdigit() else word for word in words]
        make = getattr(self, f"call_{name}", None) or getattr(self.coordinator, name)
        try:
            answer = await make(*arguments)
        except (ImplementationError, ValueError) as failure:
            return type(failure).__name__
        return text(getattr(answer, "value", answer))

    async def call_recover(self, *arguments):
        answer = await self.coordinator.recover_channel(*arguments)
        numbers = tuple(one.segment_id for one in answer.segments)
        assert answer.segments == tuple(self.coordinator.segments[number] for number in numbers)
        asks = " starts" if answer.asks_starts else ""
        return f"{answer.owner.node_id} {answer.owner.term} from {answer.seek.ts} {text(numbers)}{asks}"

    async def call_save(self, channel, node, term, segment, position, *more):
        rows = numbers(more, "rows")
        return await self.coordinator.save_binlog_paths(
            SaveBinlogPaths(
                channel,
                Owner(node, term),
                segment,
                EndPosition(position),
                BinlogRecord(f"{segment}/{position}", rows) if rows else None,
                flushed="flush" in more,
                dropped="drop" in more,
                starts=tuple((number, StartPosition(ts)) for number, ts in pairs(more, "starts")),
            )
        )

    async def call_report(self, *reports):
        positions = (reports[place : place + 4] for place in range(0, len(reports), 4))
        await self.coordinator.update_channel_checkpoints(
            UpdateCheckpoints(
                tuple(
                    ChannelPosition(name, EndPosition(ts), Owner(node, term))
                    for name, node, term, ts in positions
                )
            )
        )

    async def call_flush(self, channel, ts, *segments):
        await self.coordinator.request_flush(channel, ts, segments)

    async def call_confirm(self, channel, ts, *segments):
        return await self.coordinator.confirm_flush(channel, ts, segments)

    async def call_drop(self, channel, node, term):
        await self.coordinator.drop_channel(channel, Owner(node, term))

    async def call_collect(self, channel):
        await self.coordinator.collect_channel(channel)

    async def call_create(self, channel, begins):
        await self.coordinator.create_channel(channel, EndPosition(begins))

    async def call_watch(self, channel, begins):
        await self.coordinator.watch_channel(channel, EndPosition(begins))

    async def call_deletes(self, channel):
        return self.coordinator.delete_checkpoint(channel)

    async def call_compact(self, segment, position, path):
        """A compactor that has read the segment at a position notes the deletes that it has applied."""
        before = self.coordinator.segments.get(segment, SegmentRecord(segment, ""))
        before = replace(before, dml_position=EndPosition(position))
        compaction = Compaction(applied=(*before.compaction.applied, path))
        await self.coordinator.replace_segment(before, replace(before, compaction=compaction))


def numbers(words, name):
    """The numbers behind a word, up to the next word."""
    found = []
    for word in words[words.index(name) + 1 :] if name in words else ():
        if isinstance(word, str):
            break
        found.append(word)
    return tuple(found)


def pairs(words, name):
    found = numbers(words, name)
    return zip(found[::2], found[1::2], strict=True)


CALLS = {
    "owners": """
assign c a | none | c: assigned_to=a last_owner=a term=1
recover c a 9 | a 2 from 0 [] | c: term=2 session=9
save c a 2 1 3 rows 3 | recorded | 1: dml_position=3 binlogs=[[3]]
assign c b | none | c: assigned_to=b last_owner=b term=3 session=0
recover c a 9 | NotOwnerError
recover c b 5 | b 4 from 0 [1] | c: term=4 session=5
recover c b 5 | b 4 from 0 [1] | nothing
recover c b 4 | NotOwnerError
recover c b 1 | NotOwnerError
recover c b 0 | b 5 from 0 [1] | c: term=5 session=0
recover c b 0 | b 6 from 0 [1] | c: term=6
recover c b 1 | b 7 from 0 [1] | c: term=7 session=1
recover c b 1 | b 7 from 0 [1] | nothing
assign c a | none | c: assigned_to=a last_owner=a term=8 session=0
recover c b 6 | NotOwnerError
recover c a 9 | a 9 from 0 [1] | c: term=9 session=9
assign c a | none | nothing
recover c a 9 | a 9 from 0 [1] | nothing
unassign c | none | c: assigned_to=none
recover c b 7 | b 10 from 0 [1] | c: assigned_to=b last_owner=b term=10 session=7
unassign none | UnknownChannelError
recover none a 1 | UnknownChannelError
assign d a | none | d: assigned_to=a last_owner=a term=1
recover d a 1 | a 2 from 0 [] | d: term=2 session=1
unassign d | none | d: assigned_to=none
assign d b | none | d: assigned_to=b last_owner=b term=3 session=0
assign d b | none | nothing
unassign c | none | c: assigned_to=none
recover c b 7 | b 10 from 0 [1] | c: assigned_to=b
unassign c | none | c: assigned_to=none
recover c b 6 | NotOwnerError
assign c b | none | c: assigned_to=b
unassign c | none | c: assigned_to=none
recover c a 1 | a 11 from 0 [1] | c: assigned_to=a last_owner=a term=11 session=1
""",
    "segments": """
assign c a | none | c: assigned_to=a last_owner=a term=1
recover c a 1 | a 2 from 0 [] | c: term=2 session=1
assign d b | none | d: assigned_to=b last_owner=b term=1
recover d b 1 | b 2 from 0 [] | d: term=2 session=1
save c a 2 1 3 rows 3 | recorded | 1: dml_position=3 binlogs=[[3]]
save c a 2 1 3 rows 3 | already recorded
save c a 1 1 5 rows 5 | not owner
save c b 2 1 5 rows 5 | not owner
save c a 2 1 5 rows 4 5 | recorded | 1: dml_position=5 binlogs=[[3],[4,5]]
save c a 2 1 4 rows 4 | already recorded
save c a 2 1 5 flush | recorded | 1: flushed=true
save c a 2 1 7 rows 7 | already recorded
save c a 2 2 4 drop | recorded | 2: dml_position=4 dropped=true
save c a 2 2 6 rows 6 | already recorded
save c a 2 2 6 flush | recorded | 2: flushed=true
save d b 2 3 4 rows 4 flush | recorded | 3: dml_position=4 flushed=true binlogs=[[4]]
save none a 0 4 4 rows 4 | not owner
save c a 2 0 6 rows 6 | recorded | 0: dml_position=6 binlogs=[[6]]
recover d b 2 | b 3 from 0 [3] | d: term=3 session=2
recover c a 2 | a 3 from 0 [0,1,2] | c: term=3 session=2
save c a 2 5 8 rows 8 | not owner
unassign c | none | c: assigned_to=none
save c a 3 5 8 rows 8 | not owner
""",
    "flushes": """
assign c a | none | c: assigned_to=a last_owner=a term=1
recover c a 1 | a 2 from 0 [] | c: term=2 session=1
assign d b | none | d: assigned_to=b last_owner=b term=1
recover d b 1 | b 2 from 0 [] | d: term=2 session=1
save c a 2 1 3 rows 3 | recorded | 1: dml_position=3 binlogs=[[3]]
save c a 2 2 3 rows 2 | recorded | 2: dml_position=3 binlogs=[[2]]
flush c 5 2 1 | none | c: flush_requests=[5:[1,2]]
flush c 5 1 2 | none
flush c 4 | none | c: flush_requests=[4:[],5:[1,2]]
flush c 4 1 | none | c: flush_requests=[4:[],4:[1],5:[1,2]]
flush c 0 | ValueError
flush none 4 | UnknownChannelError
confirm c 4 | false
report c a 2 4 d a 2 4 | none | c: checkpoint=4
confirm c 4 | true | c: flush_requests=[4:[1],5:[1,2]]
report d b 2 6 c a 1 5 | none | c: checkpoint=5; d: checkpoint=6
report c a 2 3 | none
report none a 2 3 | none
confirm c 5 1 2 | false
save c a 2 1 5 flush | recorded | 1: dml_position=5 flushed=true
confirm c 5 2 1 | false
save c a 2 2 5 drop | recorded | 2: dml_position=5 dropped=true
confirm c 5 2 1 | true | c: flush_requests=[4:[1]]
confirm c 5 2 1 | true | nothing
flush c 7 | none | c: flush_requests=[4:[1],7:[]]
drop c b 2 | NotOwnerError
drop c a 1 | NotOwnerError
drop c a 2 | none | c: checkpoint=end dropped=true
drop none a 1 | UnknownChannelError
save c a 2 3 9 rows 9 | not owner
recover c a 2 | ChannelDroppedError
flush c 8 | ChannelDroppedError
confirm none 1 | UnknownChannelError
unassign d | none | d: assigned_to=none
report d b 2 9 | none
drop d b 2 | NotOwnerError
""",
    "names": """
assign c a | none | c: assigned_to=a last_owner=a term=1
recover c a 1 | a 2 from 0 [] | c: term=2 session=1
save c a 2 1 3 rows 3 | recorded | 1: dml_position=3 binlogs=[[3]]
assign d b | none | d: assigned_to=b last_owner=b term=1
recover d b 1 | b 2 from 0 [] | d: term=2 session=1
save d b 2 2 3 rows 3 | recorded | 2: dml_position=3 binlogs=[[3]]
create e 4 | none | e: checkpoint=4 begins=4
create e 5 | ChannelLivesError
collect e | ChannelLivesError
collect none | UnknownChannelError
create c 9 | ChannelLivesError
collect c | ChannelLivesError
compact 1 2 x | none
compact 1 3 y | none | 1: compaction=[y]
drop c a 2 | none | c: checkpoint=end dropped=true
create c 9 | ChannelLivesError
collect c | none | 1 is gone | c: checkpoint=0 assigned_to=none last_owner=none session=0 collected=true
compact 1 3 z | none
assign c b | none | c: assigned_to=b last_owner=b term=3
collect c | none
create c 9 | none
  | c: checkpoint=9 assigned_to=none last_owner=none term=4 dropped=false collected=false begins=9
create c 8 | ChannelLivesError
recover c a 1 | a 5 from 9 [] | c: assigned_to=a last_owner=a term=5 session=1
save c a 5 3 10 rows 10 | recorded | 3: dml_position=10 binlogs=[[10]]
compact 2 3 x | none | 2: compaction=[x]
collect c | ChannelLivesError
""",
    "without a checkpoint": """
watch f 3 | none | f: checkpoint=-1 begins=3
assign f b | none | f: assigned_to=b last_owner=b term=1
recover f b 1 | b 2 from 3 [] starts | f: term=2 session=1
watch e 4 | none | e: checkpoint=-1 begins=4
watch e 5 | ChannelLivesError
create e 5 | ChannelLivesError
deletes none | UnknownChannelError
begin_checkpoint none | UnknownChannelError
deletes e | 4
recover e a 1 | a 1 from 4 [] starts | e: assigned_to=a last_owner=a term=1 session=1
save f b 2 30 9 rows 8 9 starts 31 6 30 5 32 4 | recorded | 32: begins=4 | 30: begins=5 | 31: begins=6
  | 30: dml_position=9 binlogs=[[8,9]]
deletes f | 4
recover f b 1 | b 2 from 4 [30,31,32] starts | nothing
save f b 2 32 7 rows 7 drop starts 32 4 | recorded | 32: dml_position=7 dropped=true binlogs=[[7]]
recover f b 1 | b 2 from 6 [30,31,32] starts | nothing
save e a 1 4 9 rows 9 starts -3 7 5 8 4 6 | recorded | 4: begins=6 | -3: begins=7 | 5: begins=8
  | 4: dml_position=9 binlogs=[[9]]
save e a 1 4 9 rows 9 | already recorded
recover e a 1 | a 1 from 7 [-3,4,5] starts | nothing
deletes e | 7
save e a 1 -3 8 rows 8 | recorded | -3: dml_position=8 binlogs=[[8]]
save e a 1 5 10 rows 10 | recorded | 5: dml_position=10 binlogs=[[10]]
deletes e | 7
save e a 1 -3 12 rows 11 12 starts 6 11 | recorded | 6: begins=11 | -3: dml_position=12 binlogs=[[8],[11,12]]
recover e a 1 | a 1 from 9 [-3,4,5,6] starts | nothing
save e a 1 4 9 drop | recorded | 4: dropped=true
save e a 1 5 10 drop | recorded | 5: dropped=true
recover e a 1 | a 1 from 11 [-3,4,5,6] starts | nothing
begin_checkpoint e | none | e: checkpoint=4
begin_checkpoint e | none
recover e a 1 | a 1 from 4 [-3,4,5,6] | nothing
deletes e | 4
save e a 1 7 13 rows 13 starts 7 12 8 12 | recorded | 7: dml_position=13 binlogs=[[13]]
report e a 1 10 | none | e: checkpoint=10
begin_checkpoint e | none
deletes e | 7
recover e a 1 | a 1 from 10 [-3,4,5,6,7] | nothing
report f b 2 2 | none | f: checkpoint=2
begin_checkpoint f | none
save f b 2 33 9 rows 9 starts 34 9 | recorded | 33: dml_position=9 binlogs=[[9]]
drop f b 2 | none | f: checkpoint=end dropped=true
begin_checkpoint f | ChannelDroppedError
deletes f | end
collect f | none | 30 is gone; 31 is gone; 32 is gone; 33 is gone
  | f: checkpoint=0 assigned_to=none last_owner=none session=0 collected=true begins=0
watch f 8 | none | f: checkpoint=-1 term=3 dropped=false collected=false begins=8
deletes f | 8
recover f b 2 | b 4 from 8 [] starts | f: assigned_to=b last_owner=b term=4 session=2
""",
}
"""One after another: the call, its answer, and what each of its writes changes."""


@pytest.mark.parametrize("case", CALLS)
async def test_a_call_changes_the_records_and_answers_as_the_table_says(case):
    world = World(MemoryMetaStore())
    for line in CALLS[case].strip().replace("\n  |", " |").splitlines():
        call, answer, *writes = (part.strip() for part in line.split("|"))
        world.writes.clear()
        found = await world.call(call)
        assert (call, found, world.writes) == (call, answer, writes)
        await world.agree()
        world.coordinator = Coordinator(meta=world)
        await world.coordinator.load()


OWNED = ("assign c a", "recover c a 1")
WRITTEN = (*OWNED, "save c a 2 1 3 rows 3")
RACES = [
    (OWNED, ["unassign c", "assign c b"], ["recover c a 2"], ["save c a 2 1 3 rows 3"]),
    ((*OWNED, "flush c 1"), ["flush c 2", "drop c a 2"], ["confirm c 1"], ["report c a 2 2"]),
    (OWNED, ["drop c a 2"], ["report c a 2 2"], ["save c a 2 1 2 rows 2 flush"]),
    ((*WRITTEN, "drop c a 2"), ["collect c", "create c 6"], ["compact 1 3 x", "collect c", "create c 7"]),
    (WRITTEN, ["save c a 2 1 5 rows 5"], ["compact 1 3 x"]),
    (("watch c 1", *OWNED), ["watch d 2", "begin_checkpoint c"], ["watch d 3"], ["report c a 2 4"]),
]
"""Calls made before, and those of each client."""


async def prepared(race):
    world = World(MemoryMetaStore())
    for call in RACES[race][0]:
        await world.call(call)
    return world


async def outcome(race, turns):
    """The answers by client and the records, if the clients make one call at each of their turns."""
    world, calls = await prepared(race), [iter(calls) for calls in RACES[race][1:]]
    answers: list[list[str]] = [[] for _ in calls]
    for client in turns:
        answers[client].append(await world.call(next(calls[client])))
    return answers, world.stored


@cache
def outcomes_of(race):
    turns = [client for client, calls in enumerate(RACES[race][1:]) for _ in calls]
    with asyncio.Runner() as runner:
        return [runner.run(outcome(race, order)) for order in set(permutations(turns))]


@pytest.fixture(params=range(len(RACES)))
def race(request):
    """A race, and what comes out if its calls follow one another."""
    return request.param, outcomes_of(request.param)


@pytest.mark.every_order(merge=True)
async def test_calls_side_by_side_are_as_one_after_another(race):
    number, outcomes = race
    world = await prepared(number)
    world.pause = 0.1

    async def client(calls):
        answers = []
        for call in calls:
            await asyncio.sleep(world.pause)
            answers.append(await world.call(call))
        return answers

    answers = await asyncio.gather(*map(client, RACES[number][1:]))
    await world.agree()
    assert (answers, world.stored) in outcomes
