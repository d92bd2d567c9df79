"""Names of a protocol in the syntax of another language."""

import re
from collections.abc import Collection, Mapping

from tidemark.spec.language.expr import Local
from tidemark.spec.language.spec import Property


class Names:
    """Gives each name a unique form that is no word of the target language."""

    def __init__(self, reserved: Collection[str]) -> None:
        self._taken = set(reserved)
        self._known: dict[str, str] = {}

    def declare(self, name: str) -> str:
        """A name of the whole text; a repeated call gives the same."""
        if name not in self._known:
            self._known[name] = self._free(name)
            self._taken.add(self._known[name])
        return self._known[name]

    def bind(self, local: Local, scope: Mapping[str, str]) -> str:
        """A name for a bound variable that hides nothing."""
        word = re.match(r"[A-Za-z_]*[A-Za-z]", local.name)
        return self._free(word[0] if word else "x", set(scope.values()))

    def _free(self, name: str, more: Collection[str] = ()) -> str:
        while name in self._taken or name in more:
            name += "_"
        return name


def short_name(prop: Property) -> str:
    """``flush.stored_once`` -> ``stored_once``."""
    return prop.id.rpartition(".")[2]
