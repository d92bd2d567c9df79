"""The entries that each protocol has, made by rule from what a manifest says once.

``[strength]`` asks of the parts of all claims, of liveness and of lemmas whether each matters; each proof
that is expected to prove gets a second opinion in the full tier; and each judge has a self-test: a wrong
protocol is searched, an idle part is not listed, guarantees are left out of an argument. ``[torn]`` says
what keeps actions one step, and which actions end a process: each action is torn in two.

An entry with ``like`` takes what it does not say of protocol, program, claims, bounds and constants from the
entry of this name in its section; ``more_claims`` adds to its claims. An instance with ``larger``, a list of
sorts and numbers, has one of the next larger size beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from tidemark.models.manifest.common import SAFETY
from tidemark.models.manifest.errors import ManifestError
from tidemark.spec.language.protocol import declared_by, resolve

Entry = dict[str, Any]

PARTS = {"claims": SAFETY, "liveness": ("leads_to",), "lemmas": ("lemma",)}
"""What is looked at -> the kinds of property of which it is a part."""

STATES = 20_000
"""States of a wrong protocol that are searched if the manifest says nothing else."""

ABOUT = {
    "claims": "Each conjunct and each hypothesis of a claim matters: some run shows it.",
    "liveness": "Each hypothesis of a liveness claim, and the fairness of each action, matters: some fair "
    "run shows it.",
    "lemmas": "The proof needs each of its lemmas: without it the induction fails on a small instance.",
    "unlisted": "Self-test: an idle part is not listed.",
    "listed": "Self-test: a part that matters is listed as idle.",
    "search": "Self-test: a mutant is refuted by the interpreter and on Spark, with the same counts.",
    "argument": "Self-test: nothing follows without guarantees, and an entry in which nothing breaks shows "
    "no need.",
    "torn": "Each action in two steps: no claim falls, or something keeps it one step.",
    "unkept": "Self-test: an action that must be one step has no reason; where none must, one has.",
    "larger": "The next larger size: one more of each of {}.",
    "opinion": "The same proof, each decisive query answered by two solvers.",
}
LIKE = (
    "protocol", "program", "reduction", "claims", "kinds", "bounds", "constants", "symmetry",
    "instance", "equivalent",
)  # fmt: skip
"""Keys that an entry takes from the one that it is like."""

_NAMES = {"claims": "strength", "liveness": "strength-of-liveness", "lemmas": "strength-of-lemmas"}
_OWN = ("instances", "states", "tier", "liveness", "lemmas", "idle", "generated")
_KEYS = ("tier", "states", "protocol", "instances")


def with_usual(data: Mapping[str, Any], *, locked: bool, file: str) -> dict[str, Any]:
    """The content of a manifest with its usual entries, where it has not got them already. ``locked``: second
    opinions and self-tests of arguments are made unasked. Raises ManifestError.
    """
    data = {
        section: list(_alike(section, entries, file)) if isinstance(entries, list) else entries
        for section, entries in data.items()
    }
    protocol = str(data.get("protocol", ""))
    if any("larger" in one for one in _entries(data, "instance")):
        data["instance"] = list(_with_larger(_entries(data, "instance"), protocol, file))
    found = {key: value for key, value in data.items() if key != "self_tests"}
    tests = _table(data.get("self_tests", {}), "self_tests", ("frames", "search"), file)
    name = str(data.get("name", "")).replace("_", "-")
    if "strength" in data and not isinstance(data["strength"], list):
        found["strength"] = list(_strength(data["strength"], name, protocol, file))
    torn = found.pop("torn", None)
    made = {"instance": _searches(tests.get("search", {}), name, _entries(data, "instance"), file)}
    made["argument"] = _torn(torn, name, protocol, file) if torn is not None else iter(())
    if locked:
        found["proof"] = [_asked_twice(one) for one in _entries(data, "proof")]
        made["proof"] = _second_opinions(_entries(found, "proof"), name, data.get("protocol"))
        made["argument"] = chain(_arguments(data, name), made["argument"])
    for section, entries in made.items():
        added = list(entries)
        if added:
            found[section] = [*_entries(found, section), *added]
    if "frames" in tests:
        found["wrong_marks"] = tests["frames"]
    return found


def _alike(section: str, entries: list[Any], file: str) -> Iterator[object]:
    """The entries with the keys of those that they are like."""
    known = {one.get("name"): one for one in entries if isinstance(one, dict)}
    for entry in entries:
        if not (isinstance(entry, dict) and "like" in entry):
            yield entry
            continue
        other = known.get(entry["like"])
        if other is None or "like" in other:
            remedy = "name an entry of the same section that says all of it itself"
            problem = f"{section} {entry.get('name')!r} is like {entry['like']!r}"
            raise ManifestError(problem, file=file, remedy=remedy)
        taken = {key: other[key] for key in LIKE if key in other}
        own = {key: value for key, value in entry.items() if key != "like"}
        if isinstance(taken.get("claims"), list) and isinstance(own.get("more_claims"), list):
            taken["claims"] = [*taken["claims"], *own.pop("more_claims")]
        if own.get("kinds") == ["leads_to"]:
            taken["about"] = "The same for liveness."
        yield {**taken, **own}


def _with_larger(instances: Sequence[Entry], protocol: str, file: str) -> Iterator[Entry]:
    """The instances, and the next larger ones: with an element more that is like the last one of its sort."""
    for one in instances:
        said = {key: value for key, value in one.items() if key != "larger"}
        yield said
        names, bounds = one.get("larger", ()), one.get("bounds", {})
        if unknown := [name for name in names if name not in bounds]:
            problem = f"instance {one.get('name')!r}: {unknown[0]!r} is larger, and has no bound"
            raise ManifestError(problem, file=file, remedy=f"known: {', '.join(bounds)}")
        if names:
            constants = declared_by(resolve(one.get("protocol", protocol))).constants
            keys = {name: getattr(constant.type, "keys", ()) for name, constant in constants.items()}
            yield {
                **said,
                "name": f"{one.get('name')}-larger",
                "about": ABOUT["larger"].format(", ".join(names)),
                "tier": "full",
                "bounds": {name: bound + (name in names) for name, bound in bounds.items()},
                "constants": {
                    name: _widened(value, [key.name in names for key in keys.get(name, ())])
                    for name, value in one.get("constants", {}).items()
                },
            }


def _widened(value: Any, grows: Sequence[bool]) -> Any:
    """A constant with its last element once more, at each level of lists that grows."""
    if not grows:
        return value
    rows = [_widened(row, grows[1:]) for row in value]
    return [*rows, *rows[-1:]] if grows[0] else rows


def _entries(data: Mapping[str, Any], section: str) -> list[Entry]:
    found = data.get(section, [])
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _table(value: object, where: str, known: Sequence[str], file: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ManifestError(
            f"{where} is no table", file=file, remedy=f"write [{where}] with {', '.join(known)}"
        )
    for key in value:
        if key not in known:
            remedy = f"known: {', '.join(known)}"
            raise ManifestError(f"{where}.{key} is an unknown key", file=file, remedy=remedy)
    return value


def _strength(table: Mapping[str, Any], name: str, protocol: str, file: str) -> Iterator[Entry]:
    """What is asked of the parts of the claims; sub-tables that are named otherwise are entries."""
    entries = {key: one for key, one in table.items() if key not in _OWN and isinstance(one, dict)}
    own = _table({key: one for key, one in table.items() if key not in entries}, "strength", _OWN, file)
    kinds = {prop.id: prop.kind for prop in resolve(protocol).trace().properties}
    idle = _by_parts(own.get("idle", {}), kinds)
    instances = own.get("instances", [])
    if instances:
        last = {"instances": instances[-1:], "tier": "full"}
        said = {
            "claims": {
                "instances": instances,
                "states": STATES,
                **_chosen(own, ("states", "tier", "generated")),
            },
            **{
                parts: {**last, **_table(own.get(parts, {}), f"strength.{parts}", _KEYS, file)}
                for parts in ("liveness", "lemmas")
            },
        }
        made = {
            parts: _parts(parts, name, keys, idle)
            for parts, keys in said.items()
            if any(kind in PARTS[parts] for kind in kinds.values())
        }
        yield from made.values()
        yield _self_test(name, made, kinds)
    yield from ({"name": key, **entry} for key, entry in entries.items())


def _parts(parts: str, name: str, said: Mapping[str, Any], idle: Mapping[str, Any]) -> Entry:
    found = {"name": f"{name}-{_NAMES[parts]}", "about": ABOUT[parts], "parts": parts, **said}
    return {**found, "idle": idle[parts]} if idle[parts] else found


def _self_test(name: str, made: Mapping[str, Entry], kinds: Mapping[str, str]) -> Entry:
    """The first claim with an idle part, which is not listed; or the first part of a claim, listed."""
    listed = [
        (claim, entry)
        for entry in made.values()
        for ids in entry.get("idle", {}).values()
        for claim in (one.partition("/")[0] for one in ids)
        if claim in kinds
    ]
    first = next(one for one, kind in kinds.items() if kind in SAFETY)
    claim, host = listed[0] if listed else (first, made["claims"])
    found = {
        "name": f"{name}-strength-refuted",
        "about": ABOUT["unlisted" if listed else "listed"],
        "claims": [claim],
        **_chosen(host, ("parts", "protocol")),
        "instances": host["instances"][:1],
        "states": STATES,
        "expect": {"every": "refuted"},
    }
    return found if listed else {**found, "idle": {"listed by a self-test": [f"{first}/hypothesis1"]}}


def _by_parts(idle: Mapping[str, Sequence[str]], kinds: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    """Reasons with ids of idle parts, by what is looked at."""
    found: dict[str, dict[str, list[str]]] = {parts: {} for parts in PARTS}
    for reason, ids in idle.items():
        for one in ids:
            kind = kinds.get(one.partition("/")[0], "leads_to")
            parts = next((parts for parts, of in PARTS.items() if kind in of), "claims")
            found[parts].setdefault(reason, []).append(one)
    return found


def _chosen(table: Mapping[str, Any], keys: Sequence[str]) -> Entry:
    return {key: table[key] for key in keys if key in table}


def _asked_twice(proof: Entry) -> Entry:
    """A proof of the full tier has a second opinion, unless it must fail."""
    asked = proof.get("tier") == "full" and not proof.get("expect")
    return {"second_opinion": True, **proof} if asked else proof


def _second_opinions(proofs: Sequence[Entry], name: str, protocol: object) -> Iterator[Entry]:
    """Of each proof of a protocol that none of the full tier includes."""

    def said(one: Entry) -> tuple[object, object]:
        return one.get("protocol", protocol), one.get("claims")

    asked = [said(one) for one in proofs if one.get("tier") == "full" and one.get("second_opinion")]
    for one in proofs:
        if not one.get("expect") and not one.get("second_opinion") and said(one) not in asked:
            asked.append(said(one))
            stem = str(one.get("name", "")).removesuffix("any-size").removesuffix("-") or name
            opinion = {"name": f"{stem}-second-opinion", "about": ABOUT["opinion"], "tier": "full"}
            yield {**one, **opinion, "second_opinion": True}


def _searches(
    wrong: Mapping[str, Sequence[str]], name: str, instances: Sequence[Entry], file: str
) -> Iterator[Entry]:
    """A wrong protocol and the claims that it breaks, on the first instance that is interpreted."""
    host = next((one for one in instances if "interpreted" in one.get("engines", ())), None)
    for protocol, refuted in wrong.items():
        if host is None:
            remedy = 'write one with  engines = ["interpreted", "explore", "distribute"]'
            raise ManifestError("self_tests.search: no instance is interpreted", file=file, remedy=remedy)
        yield {
            **_chosen(host, ("bounds", "constants")),
            "name": f"{name}-tiny-refuted",
            "about": ABOUT["search"],
            "protocol": protocol,
            "engines": ["interpreted", "distribute"],
            "kinds": list(SAFETY),
            "expect": {"refuted": list(refuted)},
        }


def _arguments(data: Mapping[str, Any], name: str) -> Iterator[Entry]:
    """What an argument says, without guarantees, and with entries in which nothing breaks."""
    said = [one for one in _entries(data, "argument") if "expect" not in one]
    holding = [
        one["name"]
        for one in _entries(data, "instance")
        if not {"expect", "protocol"} & one.keys() and "name" in one
    ]
    needed = {option: holding[0] for one in said for option in one.get("needed", {}) if holding}
    follows = [claim for one in said for claim in one.get("claims", ()) if str(claim).startswith("follows.")]
    if not (needed or follows) or len(said) < len(_entries(data, "argument")):
        return
    yield {
        "name": f"{name}-argument-must-fail",
        "about": ABOUT["argument"],
        "claims": [*follows, *(f"environment.{option}" for option in needed)],
        "reads": [reading for one in said for reading in one.get("reads", ())],
        "needed": needed,
        "without_guarantees": True,
        "expect": {"every": "refuted"},
    }


def _torn(table: Mapping[str, Any], name: str, protocol: str, file: str) -> Iterator[Entry]:
    """Each action in two steps; and one that must be one step, of which nothing is said. ``table``: reason ->
    the actions that it keeps one step; ``ends``, by default the action ``crash``.
    """
    reasons = {reason: actions for reason, actions in table.items() if reason != "ends"}
    listed = [action for actions in reasons.values() for action in actions]
    kept = {action: reason for reason, actions in reasons.items() for action in actions}
    if len(listed) > len(kept):
        raise ManifestError("torn gives an action two reasons", file=file, remedy="keep one of them")
    names = [action.name for action in resolve(protocol).trace().actions]
    ends = table.get("ends", [one for one in names if one == "crash"])
    made = {"name": f"{name}-torn", "about": ABOUT["torn"], "ends": ends}
    yield {**made, "claims": [f"torn.{one}" for one in names], "torn": kept}
    told = {"name": f"{name}-torn-refuted", "about": ABOUT["unkept"], "expect": {"every": "refuted"}}
    wrong = {} if kept else {names[0]: "nothing"}
    yield {**made, **told, "torn": wrong, "claims": [f"torn.{min(kept, default=names[0])}"]}
