"""References ``module:name``: one loader, one error."""

import pickle
import re

import pytest

from tidemark.models.rooms import ROOT
from tidemark.models.simulation import ProgramRef
from tidemark.spec.language.references import ReferenceNotFoundError, load_callable, load_reference


def test_a_name_and_a_name_within_a_name() -> None:
    assert load_reference("pathlib:Path", what="class").__name__ == "Path"
    assert load_reference("pathlib:Path.home", what="function").__name__ == "home"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("no.such.module:Thing", "no program 'no.such.module:Thing' (No module named 'no')"),
        ("pathlib:Pat", "no program 'pathlib:Pat' (module 'pathlib' has no attribute 'Pat')"),
        ("pathlib", "no program 'pathlib' (there is no colon between two names)"),
        (":Path", "no program ':Path' (there is no colon"),
        ("pathlib:", "no program 'pathlib:' (there is no colon"),
        ("", "no program ''"),
        (".relative:Path", "no program '.relative:Path'"),
        ("math:pi", "'math:pi' is not a program: it is a float"),
    ],
)
def test_one_error_that_names_the_value_and_the_remedy(reference: str, said: str) -> None:
    with pytest.raises(ReferenceNotFoundError) as caught:
        load_callable(reference, what="program")
    assert said in str(caught.value)
    assert caught.value.remedy


def test_the_error_comes_back_from_another_process() -> None:
    with pytest.raises(ReferenceNotFoundError) as caught:
        load_reference("pathlib:Pat", what="class")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.remedy) == (str(caught.value), caught.value.remedy)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(ReferenceNotFoundError, match="no program 'tests:nothing'"):
        ProgramRef("tests:nothing").load()


def test_nobody_else_takes_references_apart() -> None:
    """A second loader would have messages of its own."""
    parts = re.compile(r"getattr\((importlib\.)?import_module\(")
    found = [
        str(path.relative_to(ROOT))
        for room in ("spec", "impl", "models", "checks", "bench")
        for path in sorted((ROOT / room).rglob("*.py"))
        if parts.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
