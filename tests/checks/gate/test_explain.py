"""A package that is missing is a missing tool, however deep its error lies; other errors keep their class."""

import pytest

from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.explain import explain
from tidemark.spec.language.errors import AuthorError


def wrapped(name: str) -> AuthorError:
    cause = ModuleNotFoundError(f"No module named {name!r}", name=name)
    error = AuthorError(cause, place="protocol.py:3", doing="protocol cannot be imported")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(("name", "extra"), [("pyarrow.parquet", "spark"), ("numba", "explore")])
def test_a_package_of_an_extra(name: str, extra: str) -> None:
    found = explain(wrapped(name))
    assert found.code is ExitCode.MISSING_TOOL
    assert f"[{extra}]" in found.remedy


def test_a_package_of_the_author() -> None:
    found = explain(wrapped("their_own_package"))
    assert found.code is ExitCode.BAD_INPUT
    assert "protocol.py:3" in found.message
