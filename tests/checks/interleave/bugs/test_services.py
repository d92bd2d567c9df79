"""The services of this folder at the marker's defaults: each race is found, and without it all is clean."""

import time
from functools import partial

import pytest

from tests.checks.interleave.bugs.services import SERVICES
from tidemark.checks.interleave import Exploration, OrderError, Status, replay_coroutine, require_every_order
from tidemark.checks.interleave.coroutines import DEFAULT
from tidemark.models.simulation.coroutines import Main

AT_MOST = 10
"""Seconds of the processor until a race is found."""
WITHOUT_POLLS = {"retry_loop"}
EACH = pytest.mark.parametrize("service", SERVICES, ids=[service.__name__ for service in SERVICES])


def as_marked(main: Main, seconds: float) -> Exploration:
    """Search as the marker does. Its 30 seconds are those of a processor: others may use this one, too."""
    began = time.process_time()
    try:
        return require_every_order(main, walks=True, options=DEFAULT)
    finally:
        assert time.process_time() - began < seconds


@EACH
def test_the_race_of_a_service_is_found(service):
    racy = partial(service, False)
    with pytest.raises(OrderError) as seen:
        as_marked(racy, AT_MOST)
    assert replay_coroutine(racy, seen.value.token).violation is not None


@EACH
def test_a_service_without_its_race_is_clean_and_its_polls_are_told(service):
    result = as_marked(partial(service, True), 30)
    assert result.status is Status.EXHAUSTED
    assert result.statistics.executions > 0
    assert result.statistics.audited > 0
    assert f"; {result.earlier}" in result.bounds
    assert "equal memories of its tasks merged" in result.bounds
    assert f"{result.statistics.merged} executions were cut where they led back" in result.earlier
    assert ("rounds of polls" in result.earlier) is (service.__name__ not in WITHOUT_POLLS)
