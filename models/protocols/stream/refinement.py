"""From a live consumer, its log and what is stored of its packs to the state of ``tidemark.spec.stream``.

=====================  =====================================================================================
specification          implementation
=====================  =====================================================================================
end, place, again,     the entries of the log
ts, tick_at, highest
read, at, last,        ``ChannelConsumer``; while there is none, a new one at the stored position
seeking, buffered
held, next_ts,         the pack that ``next_pack`` has given, until it is stored
next_place
done, twice,           what is stored
position_ts,
position_place
faults                 noted: how often the memory was lost
=====================  =====================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.packs import StreamPack
from tidemark.models.protocols.stream.ports import Stored, number_of

Entries = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class ConsumerView:
    """The memory of a consumer. ``held``: the numbers of the messages in its pack; ``pack``: the end position
    of the pack as timestamp and place; zeros if there is none.
    """

    read: int
    at: int
    last: int
    seeking: bool
    buffered: tuple[int, ...]
    held: tuple[int, ...] = ()
    pack: tuple[int, int] = (0, 0)


def consumer_view(consumer: ChannelConsumer, pack: StreamPack | None) -> ConsumerView:
    """The picture of a consumer, and of the pack that it has given last."""
    held: tuple[int, ...] = ()
    end = (0, 0)
    if pack is not None:
        held = tuple(number_of(message) for message in pack.messages)
        end = (pack.finish.ts, pack.finish.place)
    return ConsumerView(
        read=consumer.read,
        at=consumer.tick,
        last=consumer.last,
        seeking=consumer.seeking,
        buffered=tuple(sorted({number_of(message) for _, message in consumer.buffered})),
        held=held,
        pack=end,
    )


def abstract(
    entries: Entries,
    stored: Stored,
    view: ConsumerView,
    *,
    messages: int,
    places: int,
    faults: int,
) -> dict[str, Any]:
    """The state of ``tidemark.spec.stream`` with one channel, by variable name.

    view: while there is no consumer, that of a new one at the stored position. messages, places: how many
    there may be. faults: how often the memory was lost.
    """
    position = stored.position
    # A pack that was stored although its consumer does not know: it is not held any more.
    taken = view.pack[0] <= position.ts
    held, (next_ts, next_place) = ((), (0, 0)) if taken else (view.held, view.pack)
    every = range(messages)
    return {
        **_log(entries, messages, places),
        "read": {0: view.read},
        "at": {0: view.at},
        "last": view.last,
        "seeking": {0: view.seeking},
        "buffered": {m: m in view.buffered for m in every},
        "held": {m: m in held for m in every},
        "next_ts": next_ts,
        "next_place": {0: next_place},
        "done": {m: m in stored.done for m in every},
        "twice": {m: m in stored.twice for m in every},
        "position_ts": position.ts,
        "position_place": {0: position.place},
        "faults": faults,
    }


def _log(entries: Entries, messages: int, places: int) -> dict[str, Any]:
    found: dict[int, list[int]] = {m: [] for m in range(messages)}
    ts = dict.fromkeys(range(messages), 0)
    ticks = {(0, place): 0 for place in range(places + 1)}
    for place, (kind, number, value) in enumerate(entries, start=1):
        if kind == "tick":
            ticks[0, place] = value
        else:
            found[number].append(place)
            ts[number] = value
    return {
        "end": {0: len(entries)},
        "place": {m: found[m][0] if found[m] else 0 for m in found},
        "again": {m: found[m][1] if len(found[m]) > 1 else 0 for m in found},
        "ts": ts,
        "tick_at": ticks,
        "highest": {0: max(ticks.values())},
    }
