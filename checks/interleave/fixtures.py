"""Fresh fixtures for each execution of a test: nothing that an execution changes may survive it.

Fixtures of function scope are torn down and set up again before each execution but the first, outside of
the simulation. Those of larger scopes are shared, as pytest says, and so are those of pytest itself
(``tmp_path``) but for ``monkeypatch``. pytest has no public way to do this; the three
calls that are used are those of plugins that run a test again.
"""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.models.simulation import closed_world

_SHARED = ("_pytest.", "pytest_asyncio.")
"""Modules whose fixtures are not set up again: a loop that a marked test does not use; folders, streams."""


class Fixtures:
    """The fixtures of a test.

    Args:
        item: the test, after pytest has set up its fixtures.
        wanted: names of the fixtures that the test function takes.
    """

    def __init__(self, item: pytest.Function, wanted: tuple[str, ...]) -> None:
        self._item: Any = item
        self._wanted = wanted
        self._used = False
        self._is_fresh = any(self._is_renewed(found) for found in self._definitions())

    def values(self) -> dict[str, Any]:
        """Return the fixtures by name, for the next execution."""
        if self._used and self._is_fresh:
            with closed_world.outside():
                self._renew()
        self._used = True
        return {name: self._item.funcargs[name] for name in self._wanted}

    def _definitions(self) -> list[Any]:
        return list(self._item._request._fixture_defs.values())  # noqa: SLF001  # as the docstring says

    @staticmethod
    def _is_renewed(found: Any) -> bool:
        owner = getattr(found.func, "__module__", "") or ""
        own = not owner.startswith(_SHARED) or found.argname == "monkeypatch"
        return found.scope == "function" and own

    def _renew(self) -> None:
        """Tear down what is of function scope, the youngest first, and set it up again."""
        item, shared = self._item, []
        for found in reversed(self._definitions()):
            if self._is_renewed(found):
                found.finish(item._request)  # noqa: SLF001  # as above
            else:
                shared.append(found._finalizers)  # noqa: SLF001  # as above
        # Each set-up registers with the test, and with the fixtures that it uses, how to tear it down. The
        # first registration is enough: it tears down whatever the fixture holds then.
        registered = [item.session._setupstate.stack[item][0], *shared]  # noqa: SLF001  # as above
        before = [len(finalizers) for finalizers in registered]
        item._initrequest()  # noqa: SLF001  # as above
        item._request._fillfixtures()  # noqa: SLF001  # as above
        for finalizers, count in zip(registered, before, strict=True):
            del finalizers[count:]
