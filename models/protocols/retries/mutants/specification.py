"""Named mutants of the client's retry, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import require
from tidemark.spec.retries import Retries

SMALL = "retries-small"


@mutant(killer="retries.what_is_accepted_is_for_the_newest_schema", source="facts 12", instance=SMALL)
class TakesEveryVersion(Retries):
    """A proxy takes rows for whatever schema they were made."""

    def accept(s, r: Retries.Request, p: Retries.Proxy) -> None:
        require(s.stage[r] == "tries")
        s.stage[r] = "accepted"
