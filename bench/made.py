"""Evidence that is made: logs of a node, messages of a topic, operations of clients, without an end."""

import json
import random
import time
from collections.abc import Callable, Iterator
from itertools import count, islice

_BEGIN = 1_700_000_000  # a second of 2023/11/14
_A_SECOND = 1_000
"""Lines of one node in a second."""
_EVENT_EVERY = 12
_IDLE = (
    b'[@.%03d +00:00] [DEBUG] [proxy/task_scheduler.go:266] ["schedule one task"] [taskID=%d] [db=default]\n'
)
_HEAD = "[{stamp}.{n:03d} +00:00] [INFO] "
_STORED = _HEAD + (
    '[datacoord/meta.go:1341] ["UpdateChannelCheckpoint done"] [vChannel=dml_{node}_1v0] [ts={stored}]\n'
)
_ADDED = _HEAD + (
    '[metacache/meta_cache.go:1] ["adding segment"] [type=Growing] [segmentID={segment}] '
    "[channel=dml_{node}_1v0]\n"
)
_FETCH = _HEAD + (
    '[pipeline/insert_node.go:80] ["pipeline fetch insert msg"] [collectionID=1] [segmentID={segment}] '
    "[insertRowNum=3] [timestampMin={ts}] [timestampMax={ts}]\n"
)
_MESSAGE = (
    '{{"kind":"broker","topic":"dml_{c}","id":{n},"type":"{t}","ts":{ts},"rows":1,"source":1}}\n'.format
)


def seconds_of_a_node(node: int) -> Iterator[bytes]:
    """The lines of a node, a second each; one in twelve is an event, and timestamps grow."""
    idle = [_IDLE % (n * 1000 // _A_SECOND, n) for n in range(_A_SECOND) if n % _EVENT_EVERY]
    for second in count(_BEGIN):
        stamp = time.strftime("%Y/%m/%d %H:%M:%S", time.gmtime(second))
        fetches = [
            (_STORED, _ADDED, _FETCH)[min(n // _EVENT_EVERY, 2)].format(
                stamp=stamp,
                n=n,
                node=node,
                segment=100 * node + (n // _EVENT_EVERY + second) % 9,
                ts=(second * 1000 + n) << 18,
                stored=(second * 1000 - 1) << 18,
            )
            for n in range(0, _A_SECOND, _EVENT_EVERY)
        ]
        lines = b"".join(idle).replace(b"@", stamp.encode()).splitlines(keepends=True)
        for n, fetch in enumerate(fetches):
            lines.insert(n * _EVENT_EVERY, fetch.encode())
        yield b"".join(lines)


def topic(size: int, *, late: Callable[[int], bool]) -> Iterator[bytes]:
    """Messages of 16 channels in blocks of about ``size``, a block every 100 ms: each channel's begin with a
    tick. ``late``: in which blocks one row comes behind the tick that has passed it.
    """
    each = size // 16
    for block in count():
        ts = (_BEGIN * 1000 + block * 100) << 18
        lines = [
            _MESSAGE(
                c=n % 16, n=block * each + n // 16, t="insert" if n >= 16 else "tick", ts=ts + n // 16 * 16
            )
            for n in range(16 * each)
        ]
        if late(block):
            lines[16] = _MESSAGE(c=0, n=block * each + 1, t="insert", ts=ts - 1)
        yield "".join(lines).encode()


def operations(count: int, *, seed: int = 1) -> Iterator[dict[str, object]]:
    """A sound history of eight clients: inserts of ten rows, deletes, reads at all levels, counts."""
    rng = random.Random(seed)
    turns = [0] * 8
    batches: list[list[int]] = []  # first key, and 1 if it was deleted
    now, ts = 0, (_BEGIN * 1000) << 18
    for n in range(count):
        now += rng.randrange(1000, 5000)
        ts += rng.randrange(1, 5)
        client = n % 8
        entry: dict[str, object] = {
            "kind": "op", "v": 1, "client": f"c{client}", "process": "p0", "seq": turns[client],
            "collection": "c", "start": now, "end": now + 500, "outcome": "ok",
        }  # fmt: skip
        turns[client] += 1
        chance = rng.random()
        if chance < 0.4 or len(batches) < 10:
            first = 10 * len(batches)
            batches.append([first, 0])
            yield entry | {"op": "insert", "keys": [[first, first + 9]], "ts": ts}
            continue
        batch = batches[rng.randrange(len(batches))]
        if chance < 0.5 and not batch[1]:
            batch[1] = 1
            yield entry | {"op": "delete", "keys": [[batch[0], batch[0]]], "ts": ts}
        elif chance < 0.999:
            level = rng.choice(("Strong", "Session", "Bounded", "Eventually"))
            asked, seen = [[batch[0], batch[0] + 9]], [[batch[0] + batch[1], batch[0] + 9]]
            yield entry | {"op": "query", "level": level, "keys": asked, "seen": seen}
        else:
            yield entry | {"op": "count", "level": "Strong", "count": sum(10 - gone for _, gone in batches)}


def seconds_of_clients() -> Iterator[bytes]:
    """What eight clients did and saw; sound."""
    entries = (json.dumps(one).encode() + b"\n" for one in operations(1 << 40))
    while True:
        yield b"".join(islice(entries, 500))


def under_docker(seconds: Iterator[bytes]) -> Iterator[bytes]:
    """The same lines as Docker keeps them."""
    for lines in seconds:
        wrapped = ({"log": one.decode(), "stream": "stdout"} for one in lines.splitlines(keepends=True))
        yield b"".join(json.dumps(one).encode() + b"\n" for one in wrapped)


def under_kubectl(seconds: Iterator[bytes], node: int) -> Iterator[bytes]:
    """The same lines with the pod before each."""
    pod = b"[pod/milvus-datanode-%d/datanode] [" % node
    for lines in seconds:
        yield lines.replace(b"\n[", b"\n" + pod).replace(b"[", pod, 1)
