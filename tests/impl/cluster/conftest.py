"""A cluster for a test, from its beginning to its end."""

import pytest

from tests.impl.cluster.parts import running


@pytest.fixture
def cluster(tmp_path):
    """See ``running``: the test runs in it."""
    return running(tmp_path)
