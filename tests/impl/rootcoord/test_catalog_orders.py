"""Calls of the catalogue side by side, in every order of their steps."""

import asyncio

import pytest

from tests.impl.rootcoord.test_catalog import World, call
from tidemark.impl.errors import CollectionError
from tidemark.impl.values.collection_version import CollectionVersion


async def outcomes(world, catalog, calls):
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, CollectionVersion | CollectionError) for one in found)
    return [str(one) for one in found], world.stored, world.logged, catalog.meta.acknowledged


@pytest.mark.every_order
@pytest.mark.parametrize(
    "calls",
    [
        (("create", "new"), ("create", "new")),
        (("alter", "a"), ("drop", "a")),
        (("drop", "b"), ("create_alias", "new", "b")),
        (("alter_alias", "also", "b"), ("drop_alias", "also")),
        (("create_alias", "new", "a"), ("create", "new")),
        (("drop", "b"), ("alter_alias", "also", "b")),
    ],
)
async def test_calls_side_by_side_are_as_one_after_another(calls):
    async def world_and_catalog():
        world = World()
        catalog = await world.catalog()
        for made in (("create", "a"), ("create", "b"), ("create_alias", "also", "a")):
            await call(catalog, *made)
        return world, catalog

    serial = []
    for first, second in (calls, calls[::-1]):
        world, catalog = await world_and_catalog()
        one = await outcomes(world, catalog, [call(catalog, *first)])
        both = await outcomes(world, catalog, [call(catalog, *second)])
        serial.append(({str(first): one[0], str(second): both[0]}, *both[1:]))
    world, catalog = await world_and_catalog()
    found, *state = await outcomes(world, catalog, [call(catalog, *one) for one in calls])
    named = {str(one): [text] for one, text in zip(calls, found, strict=True)}
    if calls[0] == calls[1]:
        assert sorted(found)[1:] == ["there is a collection 'new' already; use it, or another name"]
    else:
        assert (named, *state) in serial
