"""Entries for the mutants that the modules listed in a manifest declare."""

from typing import Any

from pydantic import Field, TypeAdapter

from tidemark.models.manifest.errors import ManifestError, PinError
from tidemark.models.manifest.strict import Strict
from tidemark.models.mutation.declared import Declared, mutants_of
from tidemark.models.mutation.patches import WALKS
from tidemark.spec.language.references import ReferenceNotFoundError


class MutantModule(Strict):
    """A module of mutants: a line of ``[mutants]`` in a manifest."""

    module: str = Field(pattern=r"^[A-Za-z_][\w.]*$")
    prefix: str = ""
    """What comes before the names of its mutants, so that names are unique over all manifests."""
    walked: str | None = None
    """The same of those that walks must find, if it is another."""
    number: int = Field(gt=0)
    """Pinned number of its mutants."""

    def prefix_of(self, mutant: Declared) -> str:
        """What comes before the name of one of them."""
        return self.prefix if self.walked is None or mutant.killer != WALKS else self.walked


MODULES = TypeAdapter(tuple[MutantModule, ...])


def entries_of(listed: MutantModule, *, file: str) -> list[dict[str, Any]]:
    """The content of one ``[mutant.NAME]`` for each mutant of a module. Raises ManifestError if there is no
    such module; PinError if it has another number of mutants than is pinned.
    """
    try:
        found = mutants_of(listed.module)
    except ReferenceNotFoundError as error:
        raise ManifestError(f"mutants: {error.problem}", file=file, remedy=error.remedy) from error
    if len(found) != listed.number:
        names = ", ".join(item.name for item in found) or "none"
        raise PinError(
            f"{listed.module} declares {len(found)} mutants, and {listed.number} are pinned ({names})",
            file=file,
            remedy="restore the mutant that is gone, or change  number  under [mutants] on purpose",
        )
    return [vars(item) | {"name": listed.prefix_of(item) + item.name} for item in found]
