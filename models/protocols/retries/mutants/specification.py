"""Named mutants of the client's retry, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import require
from tidemark.spec.retries import Retries

SMALL = "retries-small"


@mutant(
    killer="retries.each_attempt_is_for_a_change",
    source="seed 002, DDL: retryIfSchemaError; hazard 37",
    instance=SMALL,
)
class GoesOnIfAnother(Retries):
    """The rule of Milvus' client: between two proxies of different age it goes back and forth."""

    GROWS = False


@mutant(
    killer="retries.a_retry_succeeds_when_the_schema_is_settled",
    source="seed 002, DDL; hazard 37",
    instance=SMALL,
)
class KeepsTheVersion(Retries):
    """The request is made again with the version that was refused."""

    EVICTS = False


@mutant(killer="retries.a_request_is_made_again", source="seed 002, DDL", instance=SMALL)
class IsNotMadeAgain(Retries):
    """The client hears of each change of the schema that it has missed."""

    AGAIN = False


@mutant(killer="retries.what_is_accepted_is_for_the_newest_schema", source="facts 12", instance=SMALL)
class TakesEveryVersion(Retries):
    """A proxy takes rows for whatever schema they were made."""

    def accept(s, r: Retries.Request, p: Retries.Proxy) -> None:
        require(s.stage[r] == "tries")
        s.stage[r] = "accepted"


@mutant(killer="retries.what_is_accepted_is_for_the_newest_schema", source="facts 12", instance=SMALL)
class AcknowledgedBeforeAllKnow(Retries):
    """A change is acknowledged although a proxy does not know it."""

    def acknowledge(s) -> None:
        require(s.changing)
        s.changing = False
        s.acknowledged = s.current
