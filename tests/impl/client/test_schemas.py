"""Requests for a version of a schema: when they are made again, and for which version."""

import asyncio
import itertools

import pytest

from tidemark.impl.client.schemas import MISMATCH, SchemaCache
from tidemark.impl.system.connection import RequestRefusedError


@pytest.mark.parametrize(
    ("known", "described", "accepted", "sent"),
    [
        (1, [], 1, [1]),
        (None, [0], 0, [0]),
        (None, [0, 2], 2, [0, 2]),
        (1, [4, 6], 6, [1, 4, 6]),
        (1, [6, 6], None, [1, 6, 6]),
        (1, [0], None, [1, 0]),
    ],
)
async def test_a_request_is_made_again_while_newer_versions_are_refused(known, described, accepted, sent):
    made, answers = [], iter(described)

    async def describe(collection):
        assert collection == "c"
        return next(answers)

    async def request(version):
        made.append(version)
        if version != accepted:
            raise RequestRefusedError(MISMATCH, "so it is")
        return "done"

    cache = SchemaCache(describe)
    cache.versions["other"] = 3
    if known is not None:
        cache.versions["c"] = known
    if accepted is None:
        with pytest.raises(RequestRefusedError, match=MISMATCH):
            await cache.retried("c", request)
    else:
        assert await cache.retried("c", request) == "done"
    assert (made, next(answers, None)) == (sent, None)
    assert cache.versions == {"other": 3, "c": sent[-1]}


@pytest.mark.every_order
async def test_a_request_is_for_the_version_that_its_own_question_brought():
    told, numbers = {}, itertools.count(1)

    async def describe(collection):
        told[asyncio.current_task()] = version = next(numbers)
        await asyncio.sleep(0)
        return version

    async def request(version):
        task = asyncio.current_task()
        assert version == told.get(task, version)
        if version == 1:
            raise RequestRefusedError(MISMATCH, "so it is")

    cache = SchemaCache(describe)
    await asyncio.gather(*(cache.retried("c", request) for _ in range(2)))
    assert cache.versions["c"] in told.values()
