"""What a manifest says once for many entries: defaults of a section, and reasons with what they explain.

A manifest may have a table ``common``:

- ``common.instance``, ``common.proof``, ``common.interleave``, ``common.conform``: keys and values for the
  entries of that section that do not have the key themselves; an entry adds to common claims by
  ``more_claims``. Programs without common claims have those of a refinement, to which ``more_claims`` of
  ``common.interleave`` adds. Instances, proofs and pins without ``protocol`` judge that of the manifest;
- ``common.vacuous``, ``common.skip``: reason -> ids, to which an entry refers by the reason.

An entry that states no expectation expects that proofs prove, and that all else holds.

Under ``vacuous``, ``skip``, ``equivalent``, ``counted``, ``holes``, ``idle`` an entry gives a table
reason -> ids, or a list whose items are reasons of ``common`` and such tables. What comes out has
id -> reason everywhere, as the judges read it.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.models.manifest.errors import ManifestError

SECTIONS = ("instance", "proof", "interleave", "conform")
"""Sections whose entries may have common keys."""

JUDGED = ("instance", "proof", "pins", "frames", "strength")
"""Sections whose entries are about a protocol: that of the manifest, if they name none."""

EXPECTING = ("instance", "proof", "interleave", "conform", "argument", "pins", "frames", "strength")
"""Sections whose entries have an expectation."""

SAFETY = ("invariant", "transition_invariant")
"""Kinds of claim about states and steps."""

OF_A_REFINEMENT = ("refinement", "execution")
"""Claims about a program of which each step is one of the protocol, beside the protocol's."""

REASONS = ("vacuous", "skip")
"""Keys whose reasons may be common."""

GROUPED = {
    "instance": REASONS,
    "proof": ("skip",),
    "interleave": ("vacuous",),
    "generated": ("equivalent",),
    "strength": ("idle",),
    "implementation": ("equivalent", "counted", "holes"),
}
"""By section the keys that are grouped by reason."""

Groups = Mapping[str, Mapping[str, list[str]]]


def expand(data: Mapping[str, Any], *, file: str) -> dict[str, Any]:
    """The content of a manifest in which every entry has all of its keys. ``file`` is its name in messages.
    Raises ManifestError: a reason is unknown, unused or explains something twice; a common key has no
    section, or is not used; a value has another form.
    """
    common = _table(data.get("common", {}), "common", file=file)
    wrong = [key for key in common if key not in (*SECTIONS, *REASONS)]
    if wrong:
        raise _error(
            f"common.{wrong[0]} is an unknown key", f"known: {', '.join((*SECTIONS, *REASONS))}", file
        )
    expansion = _Expansion(common, file)
    if "protocol" in data:
        expansion.implied = {section: {"protocol": data["protocol"]} for section in JUDGED}
    properties = data.get("properties")
    if isinstance(properties, dict):
        expansion.others = frozenset(
            claim for kind, ids in properties.items() if kind not in SAFETY for claim in ids
        )
        expansion.refines([claim for kind in SAFETY for claim in properties.get(kind, ())])
    content = {key: value for key, value in data.items() if key != "common"}
    for section in dict.fromkeys((*SECTIONS, *GROUPED, *JUDGED, *EXPECTING)):
        if isinstance(content.get(section), list):
            content[section] = [expansion.entry(section, entry) for entry in content[section]]
    expansion.check_all_used()
    return content


class _Expansion:
    """The common part of one manifest, and which of it was used."""

    def __init__(self, common: Mapping[str, Any], file: str) -> None:
        self.file = file
        self.defaults = {
            section: _table(common.get(section, {}), f"common.{section}", file=file) for section in SECTIONS
        }
        self.groups: Groups = {
            key: {
                reason: _ids(ids, f"common.{key} . {reason!r}", file=file)
                for reason, ids in _table(common.get(key, {}), f"common.{key}", file=file).items()
            }
            for key in REASONS
        }
        self.implied: Mapping[str, Mapping[str, Any]] = {}
        self.others: frozenset[str] = frozenset()
        """Properties that are neither invariants nor transition invariants."""
        self.used: set[tuple[str, str]] = set()

    def refines(self, safety: Iterable[str]) -> None:
        """Without common claims programs have those of a refinement, and what ``more_claims`` adds."""
        stated = self.defaults["interleave"]
        if "claims" not in stated:
            given = stated.get("more_claims")
            more = _ids(given, "common.interleave.more_claims", file=self.file) if given is not None else []
            claims = [*OF_A_REFINEMENT, *safety, *more]
            self.defaults["interleave"] = {**stated, "claims": claims}
            self.used |= {("interleave", "claims"), ("interleave", "more_claims")}

    def entry(self, section: str, entry: object) -> object:
        """One entry with the common keys of its section, and its reasons turned round."""
        if not isinstance(entry, dict):
            return entry
        where = f"{section} {entry.get('name', '')!r}"
        defaults = {key: one for key, one in self.defaults.get(section, {}).items() if key != "more_claims"}
        whole = {**self.implied.get(section, {}), **defaults, **entry}
        if section in EXPECTING:
            whole["expect"] = _expected(section, whole.get("expect", {}))
        if section == "instance" and self._breaks(whole):
            whole["kinds"] = list(SAFETY)
        if section == "proof" and "fails" in whole and whole["expect"] == {"every": "refuted"}:
            whole.setdefault("claims", [])  # nothing but what must fail is tried
        self.used |= {(section, key) for key in defaults if key not in entry}
        if "more_claims" in whole:
            whole["claims"] = self._more_claims(section, whole, where)
            del whole["more_claims"]
        if "reached" in whole:
            whole["claims"] = [*whole.get("claims", ()), *whole.pop("reached")]
        for key in GROUPED.get(section, ()):
            if key in whole:
                whole[key] = self._by_id(key, whole[key], where)
        return whole

    def _breaks(self, entry: Mapping[str, Any]) -> bool:
        """Do states or steps break a claim, and is nothing said of what is judged?"""
        refuted = entry["expect"].get("refuted", ()) if isinstance(entry["expect"], dict) else ()
        stated = "claims" in entry or "kinds" in entry
        return bool(refuted) and not stated and not self.others & {*refuted}

    def _more_claims(self, section: str, entry: Mapping[str, Any], where: str) -> list[str]:
        stated = self.defaults.get(section, {}).get("claims")
        if stated is None or entry.get("claims") is not stated:
            remedy = f"it adds to common.{section}.claims: state those, or write all under claims"
            raise _error(f"{where}: more_claims without common claims", remedy, self.file)
        base = _ids(stated, f"common.{section}.claims", file=self.file)
        more = _ids(entry["more_claims"], f"{where} . more_claims", file=self.file)
        twice = [claim for claim in more if claim in base]
        if twice:
            raise _error(
                f"{where}: more_claims has {twice[0]!r}, which is common", "remove it here", self.file
            )
        return [*base, *more]

    def _by_id(self, key: str, value: object, where: str) -> dict[str, str]:
        explained: dict[str, str] = {}
        for reason, ids in self._groups_of(key, value, where):
            for one in ids:
                if one in explained:
                    raise _error(
                        f"{where}: {key} explains {one!r} by {explained[one]!r} and by {reason!r}",
                        "keep one of the reasons",
                        self.file,
                    )
                explained[one] = reason
        return explained

    def _groups_of(self, key: str, value: object, where: str) -> Iterable[tuple[str, list[str]]]:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item, self._common(key, item, where)
            else:
                for reason, ids in _table(item, f"{where} . {key}", file=self.file).items():
                    yield reason, _ids(ids, f"{where} . {key} . {reason!r}", file=self.file)

    def _common(self, key: str, reason: str, where: str) -> list[str]:
        known = self.groups.get(key, {})
        if reason not in known:
            near = difflib.get_close_matches(reason, list(known), n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            remedy = f"{guess}state it under common.{key}, or write a table  {{ {reason!r} = [ids] }}"
            raise _error(f"{where}: {key} gives the unknown reason {reason!r}", remedy, self.file)
        self.used.add((key, reason))
        return known[reason]

    def check_all_used(self) -> None:
        """What is common and is not used is a pin that is not there."""
        said = [
            (key, name)
            for part in (self.defaults, self.groups)
            for key, table in part.items()
            for name in table
        ]
        for key, name in said:
            if (key, name) not in self.used:
                raise _error(f"no entry uses common.{key} . {name!r}", "remove it", self.file)


def _expected(section: str, stated: object) -> object:
    """Proofs prove and all else holds, unless an entry says that something else must come out."""
    return (
        {"every": "proved" if section == "proof" else "holds", **stated}
        if isinstance(stated, dict)
        else stated
    )


def _table(value: object, where: str, *, file: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _error(f"{where} = {value!r} is not a table", "write names with values", file)
    return value


def _ids(value: object, where: str, *, file: str) -> list[str]:
    if not (isinstance(value, list) and value and all(isinstance(item, str) for item in value)):
        raise _error(f"{where} = {value!r} is not a list of ids", "write  [ids]  after the reason", file)
    return list(value)


def _error(message: str, remedy: str, file: str) -> ManifestError:
    return ManifestError(message, file=file, remedy=remedy)
