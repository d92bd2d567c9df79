"""The page about the language names all of it."""

import re
from pathlib import Path

from tidemark.spec import language

PAGE = Path(__file__).parents[3] / "docs" / "language.md"


def test_every_public_name_is_on_the_page() -> None:
    words = set(re.findall(r"\w+", PAGE.read_text(encoding="utf-8")))
    plurals = {word.removesuffix("s") for word in words}
    assert [name for name in language.__all__ if name not in words | plurals] == []


def test_the_example_is_a_protocol(tmp_path, monkeypatch) -> None:
    """The blocks of the page, put together, are traced."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    text = "from tidemark.spec.language import *\n\n" + "".join(blocks)
    (tmp_path / "page_example.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    traced = language.resolve("page_example:Stock").trace()
    assert [action.name for action in traced.actions] == ["put", "deliver"]
    assert traced.relies_on == ("orders.never_repeated",)
    assert list(traced.environment) == ["HONEST"]
    assert {variable.name for variable in traced.variables} == {"door", "stock", "marked", "chosen"}
