"""A run in which two engines refute the same claim of a small protocol, for tests of the page."""

from pathlib import Path

from tidemark.checks.explore.replay import replay_command
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.trace import counterexample, failing_conjunct, run_again
from tidemark.checks.verdicts.verdict import Aspect, Judgement, Outcome, Subject, holds, proved, refuted
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step

CLAIM = "handover.one_holder"
INSTANCE = Instance("tests.protocols.small:Handover", bounds={"Server": 2, "Time": 1}, name="two")
MORE_JUDGES = ("distribute", "interleave", "conform", "argue", "frames", "pins")
STEPS = [Step("take", (0,)), Step("tick"), Step("offer", (0, 1)), Step("accept", (0, 1))]


def run(steps: list[Step]) -> tuple[Counterexample, str]:
    """A run of the protocol, and the command that replays it."""
    interpreter = Interpreter(INSTANCE)
    initial = next(interpreter.initial())
    states = run_again(interpreter, initial, steps)
    failing = failing_conjunct(interpreter, INSTANCE.spec.property(CLAIM), states[-1])
    command = replay_command(interpreter, entry="two", property_id=CLAIM, initial=initial, steps=steps)
    return counterexample(INSTANCE, states=states, steps=steps, failing=failing or "nothing"), command


def result() -> RunResult:
    """Two engines refute the claim in three and four steps; the proof of a variant holds; a mutant is killed;
    two counts are not as pinned.
    """

    def about(judge: str, instance: str, claim: str = CLAIM, aspect: Aspect = Aspect.PROPERTY) -> Subject:
        return Subject(protocol="handover", property_id=claim, judge=judge, instance=instance, aspect=aspect)

    def no(judge: str, instance: str, steps: list[Step], aspect: Aspect = Aspect.PROPERTY) -> Judgement:
        trace, command = run(steps)
        verdict = refuted(
            about(judge, instance, aspect=aspect),
            counts={"distinct": 18},
            counterexample=trace,
            replay=command,
            bounds="Server 2, Time 1",
        )
        expected = Outcome.REFUTED if aspect is Aspect.MUTANT else Outcome.HOLDS
        return Judgement(verdict=verdict, expected=expected)

    def pin(judge: str, instance: str) -> Judgement:
        subject = about(judge, instance, "pinned-counts", Aspect.PIN)
        verdict = refuted(subject, counts={"pins": 1}, reason="distinct: pinned 8", replay="x")
        return Judgement(verdict=verdict, expected=Outcome.HOLDS)

    short = [step for step in STEPS if step.action != "tick"]
    judgements = (
        Judgement(
            verdict=proved(about("prove", "any-size"), counts={"obligations": 5}), expected=Outcome.PROVED
        ),
        no("interpreted", "two", STEPS),
        no("explore", "two", short),
        Judgement(
            verdict=holds(about("explore", "lets-go"), counts={"distinct": 12}, bounds="Server 2"),
            expected=Outcome.HOLDS,
        ),
        *(
            Judgement(
                verdict=holds(about(judge, "two", "handover.other"), counts={"distinct": 12345}, bounds="b"),
                expected=Outcome.HOLDS,
            )
            for judge in ("explore", *MORE_JUDGES)
        ),
        no("mutate", "forgetful", short, Aspect.MUTANT),
        pin("explore", "two"),
        pin("interpreted", "two"),
    )
    text = Path(__file__).parents[2] / "protocols" / "small.py"
    lines = text.read_text(encoding="utf-8").splitlines()
    line = lines.index("    @invariant()", lines.index("class Handover(Protocol):")) + 1
    return RunResult(
        tier="fast",
        seed=0,
        judgements=judgements,
        planned=4,
        done=4,
        descriptions={CLAIM: "At most one server holds the lease.", "handover.other": "A clock runs."},
        kinds={CLAIM: "invariant", "handover.other": "leads_to"},
        places={CLAIM: f"tests/protocols/small.py:{line}"},
    )
