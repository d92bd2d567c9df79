"""Which actions must be one step? Each is torn by rule, and a claim falls or not.

An action is tried on the small instances of its protocol, in the order of their size, until a claim falls.
If one does, the late step then looks again at the actor's own place (``Rule.OWN``): a process that takes its
steps in order, and a message that is taken once, need no more. If a claim falls all the same, something has
to keep check and effect together: a lock, a transaction, a step without suspension, the promise of another
protocol. ``[torn]`` of the manifest says what it is.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import BelowZeroError, Step
from tidemark.models.manifest import (
    ArgumentEntry,
    Expectation,
    Expected,
    InstanceEntry,
    Kind,
    Manifest,
    SearchEngine,
    Tier,
    instance_of,
)
from tidemark.models.mutation.torn import DIFFERS, LATE, LOOKS, Rule, TornInstance
from tidemark.models.native.parts import KernelOfParts, PartsLibrary
from tidemark.models.native.search.breadth_first import Search, SearchLimits
from tidemark.models.native.search.path import path_to
from tidemark.spec.language.protocol import resolve

SAFETY = (Kind.INVARIANT, Kind.TRANSITION)
TYPES = "types"
"""What falls if a step makes a natural number negative."""
CHUNK = 2048
"""States that are expanded together: a violation is looked for after each chunk."""
LARGEST = 60_000
"""States of the protocol itself in the largest instance that is tried; the smallest is tried anyway."""
LIMITS = SearchLimits(states=1_000_000, seconds=60.0)


class Fate(StrEnum):
    """What becomes of a protocol when an action is torn."""

    FALLS = "falls"
    OWN = "looks again at its own place"
    """A claim falls, unless the late step looks again where the actor is."""
    HOLDS = "holds"
    """A late step was taken whose guard did not hold, and no claim fell."""
    SAME = "never differs"
    """No late step finds its guard false."""
    UNKNOWN = "limit"


@dataclass(frozen=True)
class Trial:
    """The result of one rule on one action: on ``instance``, where ``claim`` fell in a run of ``steps``, or
    on the last one. ``states``: of the torn protocol there. ``between``: steps between look and late step.
    """

    fate: Fate
    instance: str
    states: int
    claim: str = ""
    steps: int = 0
    between: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.claim:
            return f"{self.fate.value} in {self.states} states"
        by = f", by {', '.join(self.between)} in between" if self.between else ""
        return f"{self.claim} falls in {self.steps} steps{by}"


class Tearing:
    """Tears the actions of a manifest's protocol. ``ends``: see ``TornInstance``. Raises BadInputError."""

    def __init__(self, manifest: Manifest, ends: Collection[str] = ()) -> None:
        self.ends = tuple(ends)
        self.spec = resolve(manifest.protocol).trace()
        self.hosts = [instance_of(entry) for entry in hosts(manifest)]
        if not self.hosts:
            remedy = "write an instance of the protocol itself, with its options, of which all claims hold"
            raise BadInputError(
                f"{manifest.name} has no instance on which an action can be torn", remedy=remedy
            )
        self._libraries = [PartsLibrary() for _ in self.hosts]

    def trial(self, action: str, rule: Rule) -> Trial:
        """The first instance on which a claim falls, or the last."""
        trials = list[Trial]()
        for host, library in zip(self.hosts, self._libraries, strict=True):
            trials.append(self._on(host, library, action, rule))
            if trials[-1].fate is Fate.FALLS:
                return trials[-1]
        return max(trials, key=lambda one: (one.fate is Fate.UNKNOWN, one.fate is Fate.HOLDS, one.states))

    def decisive(self, action: str) -> Trial:
        """What becomes of an action that is torn; if a claim falls even if it looks again, of that trial."""
        found = self.trial(action, Rule.TORN)
        if found.fate is not Fate.FALLS:
            return found
        own = self.trial(action, Rule.OWN)
        return replace(found, fate=Fate.OWN) if own.fate in (Fate.HOLDS, Fate.SAME) else own

    def _on(self, host: Instance, library: PartsLibrary, action: str, rule: Rule) -> Trial:
        given = (host.protocol, host.bounds, host.constants, host.name)
        torn = TornInstance(*given, action=action, rule=rule, ends=self.ends)
        kernel = KernelOfParts(torn, library)
        claims = torn.spec.of_kind("invariant", "transition_invariant")
        limits = replace(LIMITS, stop_on=frozenset(claim.id for claim in claims))
        search = Search(kernel, limits, chunk=CHUNK, workers=1)
        try:
            found = search.run()
        except BelowZeroError as error:
            return _fall(torn, TYPES, [*error.steps, error.step], search.result("").distinct)
        if search.interrupted:
            raise KeyboardInterrupt
        if hits := [(claim, hit) for claim in claims if (hit := found.hit(claim)) is not None]:
            claim, hit = min(hits, key=lambda one: (one[0].frame is not None, one[1].state))
            return _fall(torn, claim.id, path_to(found, hit).steps, found.distinct)
        if not found.complete:
            return Trial(Fate.UNKNOWN, host.name, found.distinct)
        differs = found.hit(torn.spec.property(DIFFERS)) is not None
        return Trial(Fate.HOLDS if differs else Fate.SAME, host.name, found.distinct)


def _fall(torn: TornInstance, claim: str, run: Sequence[Step], states: int) -> Trial:
    names = [step.action for step in run]
    late = len(run) - 1 - names[::-1].index(torn.action + LATE)
    looks = late - 1 - names[:late][::-1].index(torn.action + LOOKS)
    between = tuple(str(step).replace("()", "") for step in run[looks + 1 : late])
    return Trial(Fate.FALLS, torn.name, states, claim, len(run), between)


def hosts(manifest: Manifest) -> list[InstanceEntry]:
    """Small instances of the protocol itself of which all claims about states and steps hold, in the order of
    their size.
    """
    options = resolve(manifest.protocol).trace().options
    safety = [claim for kind in SAFETY for claim in manifest.properties.get(kind, ())]
    known = [
        entry
        for entry in manifest.instance
        if entry.protocol == manifest.protocol
        and entry.tier is Tier.FAST
        and entry.expect == Expectation(every=Expected.HOLDS)
        and {*safety} <= {*manifest.claims_of(entry, SAFETY)}
        and not entry.constants.keys() & options.keys()
    ]
    known = [entry for entry in known if SearchEngine.EXPLORE in entry.engines] or known
    known.sort(key=lambda entry: entry.counts.get("distinct", 0))
    return [entry for at, entry in enumerate(known) if not at or entry.counts.get("distinct", 0) <= LARGEST]


ATOMIC = "torn."
"""Prefix of the claim id of an action: ``torn.ACTION``."""


def torn_verdicts(entry: ArgumentEntry, context: Context) -> Iterator[Verdict]:
    """One for each action: it may be torn, or something keeps it one step. Raises BadInputError."""
    tearing, kept = Tearing(context.manifest, entry.ends), entry.torn or {}
    names = [action.name for action in tearing.spec.actions]
    for name in (*kept, *entry.ends):
        if name not in names:
            raise BadInputError(f"{entry.name}: no action {name!r}", remedy=known_names(name, names))
    for at, claim in enumerate(entry.claims, 1):
        name = claim.removeprefix(ATOMIC)
        context.progress(at, total=len(entry.claims), unit="actions", note=name)
        subject = context.subject(entry, "argue", claim, Aspect.VACUITY)
        yield _verdict(subject, tearing.decisive(name), kept.get(name, ""))


def _verdict(subject: Subject, trial: Trial, reason: str) -> Verdict:
    replay, counts = check_command(subject.judge, subject.instance), {"distinct": trial.states}
    falls = trial.fate is Fate.FALLS
    if trial.fate is Fate.UNKNOWN:
        return inconclusive(subject, reason=f"the search ended: {trial}", counts=counts, replay=replay)
    if falls == bool(reason):
        bounds = f"{reason or trial.fate.value}; {trial}, on {trial.instance}"
        return holds(subject, counts=counts, bounds=bounds, replay=replay)
    what = "say under [torn] of the manifest what keeps it one step" if falls else f"no need of {reason!r}"
    told = f"torn in two, {trial}: {what}"
    return refuted(subject, counts=counts, reason=told, replay=replay)


def kept_text(manifests: Iterable[Manifest]) -> str:
    """The table in Markdown of what is said to keep actions one step."""
    rows = ["| protocol | what keeps actions one step |", "| --- | --- |"]
    for manifest in manifests:
        reasons = dict[str, list[str]]()
        for action, reason in _said(manifest)[0].items():
            reasons.setdefault(reason, []).append(f"`{action}`")
        said = "; ".join(f"{', '.join(actions)}: {reason}" for reason, actions in reasons.items())
        rows += [f"| {manifest.name} | {said} |"] if said else []
    return "\n".join(rows)


def _said(manifest: Manifest) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """What keeps actions one step, and the actions that end a process."""
    found = ((one.torn, one.ends) for one in manifest.argument if one.torn is not None)
    return next(found, ({}, ()))


def rows_text(manifest: Manifest) -> Iterator[str]:
    """A line of Markdown for each action of a protocol, which is torn now. Raises BadInputError."""
    kept, ends = _said(manifest)
    tearing = Tearing(manifest, ends)
    yield "| action | torn in two | what keeps it one step | taken twice |"
    yield "| --- | --- | --- | --- |"
    for action in tearing.spec.actions:
        trial, twice = tearing.decisive(action.name), tearing.trial(action.name, Rule.TWICE)
        answer = kept.get(action.name, "" if trial.fate is Fate.FALLS else trial.fate.value)
        yield f"| {action.name} | {trial} | {answer} | {twice} |"
