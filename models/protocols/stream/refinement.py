"""From a live consumer, its logs and what is stored of its packs to the state of ``tidemark.spec.stream``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.stream.aligned import AlignedConsumer, AlignedPack, AlignedPosition
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.packs import StreamPack, StreamPosition
from tidemark.models.protocols.stream.ports import Stored, number_of
from tidemark.models.refinement.origins import Environment
from tidemark.models.refinement.step import NoCounterpartError

Entries = tuple[tuple[str, int, int], ...]
Consumer = ChannelConsumer | AlignedConsumer


@dataclass(frozen=True)
class ConsumerView:
    """The memory of a consumer; the first four by channel. ``held``: the numbers of the messages in its pack;
    ``next_ts``, ``next_places``: the end position of the pack; zeros if there is none.
    """

    read: tuple[int, ...]
    at: tuple[int, ...]
    seeking: tuple[bool, ...]
    last: int
    buffered: tuple[int, ...]
    held: tuple[int, ...] = ()
    next_ts: int = 0
    next_places: tuple[int, ...] = ()


def consumer_view(consumer: Consumer, pack: StreamPack | AlignedPack | None) -> ConsumerView:
    """The picture of a consumer, and of the pack that it has given last."""
    readers = consumer.readers if isinstance(consumer, AlignedConsumer) else (consumer,)
    if pack is None and isinstance(consumer, AlignedConsumer):
        pack = consumer.pack
    return ConsumerView(
        read=tuple(reader.read for reader in readers),
        at=tuple(reader.tick for reader in readers),
        seeking=tuple(reader.seeking for reader in readers),
        last=consumer.last,
        buffered=tuple(sorted({number_of(m) for reader in readers for _, m in reader.buffered})),
        held=() if pack is None else tuple(number_of(message) for message in pack.messages),
        next_ts=0 if pack is None else pack.finish.ts,
        next_places=(0,) * len(readers) if pack is None else places_of(pack.finish, len(readers)),
    )


def places_of(position: StreamPosition | AlignedPosition, channels: int) -> tuple[int, ...]:
    """The place of a position in each channel. Raises NoCounterpartError for what is no place."""
    if isinstance(position, StreamPosition):
        places: tuple[int, ...] = (position.place,)
    else:
        places = position.places or (0,) * channels
    for place in places:
        if not isinstance(place, int):
            raise NoCounterpartError(f"a position has {place!r} for a place")
    return places


def abstract(
    logs: Sequence[Entries],
    stored: Stored,
    view: ConsumerView,
    *,
    messages: int,
    places: int,
    faults: int,
) -> dict[str, Any]:
    """The state of ``tidemark.spec.stream``, by variable name.

    view: while there is no consumer, that of a new one at the stored position. messages, places: how many
    there may be. faults: how often the memory was lost.
    """
    position = stored.position
    # A pack that was stored although its consumer does not know: it is not held any more.
    taken = view.next_ts <= position.ts
    every, none = range(messages), (0,) * len(logs)
    return {
        **_logs(logs, messages, places),
        "read": dict(enumerate(view.read)),
        "at": dict(enumerate(view.at)),
        "last": view.last,
        "seeking": dict(enumerate(view.seeking)),
        "buffered": {m: m in view.buffered for m in every},
        "held": {m: m in view.held and not taken for m in every},
        "next_ts": 0 if taken else view.next_ts,
        "next_place": dict(enumerate(none if taken else view.next_places)),
        "done": {m: m in stored.done for m in every},
        "twice": {m: m in stored.twice for m in every},
        "position_ts": position.ts,
        "position_place": dict(enumerate(places_of(position, len(logs)))),
        "faults": faults,
    }


def _logs(logs: Sequence[Entries], messages: int, places: int) -> dict[str, Any]:
    found: dict[int, list[int]] = {m: [] for m in range(messages)}
    ts = dict.fromkeys(range(messages), 0)
    ticks = {(channel, place): 0 for channel in range(len(logs)) for place in range(places + 1)}
    for channel, entries in enumerate(logs):
        for place, (kind, number, value) in enumerate(entries, start=1):
            if kind == "tick":
                ticks[channel, place] = value
            else:
                found[number].append(place)
                ts[number] = value
    return {
        "end": {channel: len(entries) for channel, entries in enumerate(logs)},
        "place": {m: found[m][0] if found[m] else 0 for m in found},
        "again": {m: found[m][1] if len(found[m]) > 1 else 0 for m in found},
        "ts": ts,
        "tick_at": ticks,
        "highest": {c: max(value for (d, _), value in ticks.items() if d == c) for c in range(len(logs))},
    }


ENVIRONMENT = Environment(
    "spec/stream:Stream",
    {
        "end, place, again, ts, tick_at, highest": (
            "the logs; ChannelLog.entries, as far as they are forced, in the programs over the broker"
        ),
        "held, next_ts, next_place": "the pack that was given last is kept by the program until it is stored",
        "done, twice, position_ts, position_place": "what whoever takes the packs has stored: simulated",
        "faults": "how often the memory was lost: noted by the program",
    },
)
"""What is not read from the implementation, and why."""
