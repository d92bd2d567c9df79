"""Candidates as lemmas: cubes that differ in one term are joined, and one term is the conclusion."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.models.lemmas.cubes import Cube, Family, apart, same_type
from tidemark.models.lemmas.features import Feature, Group
from tidemark.spec.language.expr import Apply, Const, Expr, Local, Quantified, Read, Select
from tidemark.spec.language.fold import conjunction, disjunction, fold, negation
from tidemark.spec.language.spec import Property
from tidemark.spec.language.types import BOOL, EnumType, NumberType

WIDE = 76
"""Characters of a claim that is written in one line."""

Block = tuple[tuple[Feature, frozenset[int]], ...]
"""Features with the cases that are excluded together."""


@dataclass(frozen=True)
class Lemma:
    """A suggested lemma: the cubes that it excludes, as one claim."""

    name: str
    group: Group
    block: Block
    cubes: tuple[Cube, ...]
    family: int

    def claim(self, prefix: str) -> Property:
        """The lemma as a property of a traced protocol."""
        parts = [disjunction(*(feature.cases()[case] for case in cases)) for feature, cases in self.block]
        body = fold(negation(conjunction(*apart(self.group), *parts)))
        expr = Quantified(BOOL, "forall", self.group, body) if self.group else body
        return Property(f"{prefix}.{self.name}", "lemma", expr, description=self.words(), source="suggested")

    def words(self) -> str:
        """The claim in one line, as Python."""
        premises, conclusion = self._implication()
        return f"{' & '.join(premises)} => {conclusion}" if premises else conclusion

    def method(self) -> str:
        """The lemma as a method to paste into the protocol."""
        premises, conclusion = self._implication()
        premise = " & ".join(premises) if len(premises) > 1 else _bare("".join(premises))
        body = f"implies({premise}, {conclusion})" if premises else conclusion
        lines = ["@lemma()", f"def {self.name}(s):", f'    """{self._sentence()}"""']
        if not self.group:
            return "\n".join([*lines, f"    return {body}"])
        kinds = "".join(f"        s.{local.type.name},\n" for local in self.group)
        names = ", ".join(local.name for local in self.group)
        if len(body) > WIDE:
            rest = "\n            & ".join(premises)
            body = f"implies(\n            {rest},\n            {conclusion},\n        )"
        return "\n".join([*lines, f"    return forall(\n{kinds}        lambda {names}: {body},\n    )"])

    def _sentence(self) -> str:
        about = ", ".join(sorted({v.name for f, _ in self.block for v in f.variables()}))
        return f"Suggested, about {about}: say here in words why it is true."

    def _implication(self) -> tuple[list[str], str]:
        """Premises and conclusion: an equality of bound elements, else a comparison, else the last term."""
        pairs = same_type(self.group)
        sorts = [(i, j) for i, j in pairs if not isinstance(self.group[i].type, NumberType)]
        order = [(i, j) for i, j in pairs if isinstance(self.group[i].type, NumberType)]
        premises = [f"({self.group[i].name} < {self.group[j].name})" for i, j in order]
        if len(sorts) == 1:
            i, j = sorts[0]
            return [
                *premises,
                *(_either(f, cases) for f, cases in self.block),
            ], f"{self.group[i].name} == {self.group[j].name}"
        premises += [f"({self.group[i].name} != {self.group[j].name})" for i, j in sorts]
        last = max(range(len(self.block)), key=lambda at: (_shown_last(self.block[at][0]), at))
        premises += [_either(f, cases) for at, (f, cases) in enumerate(self.block) if at != last]
        feature, cases = self.block[last]
        left = frozenset(range(len(feature.cases()))) - cases
        return premises, _bare(_either(feature, left))


def _shown_last(feature: Feature) -> int:
    return 1 if feature.right is not None and not isinstance(feature.right, Const) else 0


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _either(feature: Feature, cases: frozenset[int]) -> str:
    """One of several cases of a term, as Python in brackets where needed."""
    left = python(feature.left)
    if feature.right is not None:
        right = python(feature.right)
        if not isinstance(feature.left.type, NumberType):
            return f"({left} {'==' if 1 in cases else '!='} {right})"
        sign = {(0,): "<", (1,): "==", (2,): ">", (0, 1): "<=", (1, 2): ">=", (0, 2): "!="}
        return f"({left} {sign[tuple(sorted(cases))]} {right})"
    if isinstance(feature.left.type, EnumType):
        members = feature.left.type.members
        if len(cases) == len(members) - 1:
            (other,) = set(range(len(members))) - cases
            return f'({left} != "{members[other]}")'
        if len(cases) == 1:
            return f'({left} == "{members[next(iter(cases))]}")'
        alternatives = [f'{left} == "{members[case]}"' for case in sorted(cases)]
        return f"any_of({', '.join(alternatives)})"
    return left if 1 in cases else f"~{left}"


def python(node: Expr) -> str:
    """A term as the author of a protocol would write it."""
    match node:
        case Const(value=value):
            return str(value)
        case Local(name=name):
            return name
        case Read(variable=variable):
            return f"s.{variable.name}"
        case Select(map=Read(variable=variable), keys=keys):
            return f"s.{variable.name}[{', '.join(map(python, keys))}]"
        case Apply(op="not", args=(inner,)):
            return f"~{python(inner)}"
    raise TypeError(f"no term of a template: {node}")


def lemmas(families: Sequence[Family], kept: Sequence[tuple[int, Cube]]) -> list[Lemma]:
    """Lemmas that exclude exactly the given cubes, as few as joining finds."""
    found: list[Lemma] = []
    taken: set[str] = set()
    for number, family in enumerate(families):
        blocks: dict[Block, tuple[Cube, ...]] = {}
        for place, cube in kept:
            if place == number:
                blocks[_block(family, cube)] = (cube,)
        for block, cubes in _joined(blocks).items():
            name = _name(block, taken)
            found.append(Lemma(name, family.group, block, cubes, number))
    return found


def _block(family: Family, cube: Cube) -> Block:
    return tuple((family.literals[p].feature, frozenset((family.literals[p].case,))) for p in cube)


def _joined(blocks: dict[Block, tuple[Cube, ...]]) -> dict[Block, tuple[Cube, ...]]:
    """Blocks that differ in the cases of one feature become one, until no two do."""
    while True:
        pairs = ((one, two, _join(one, two)) for one, two in itertools.combinations(blocks, 2))
        found = next(((one, two, both) for one, two, both in pairs if both is not None), None)
        if found is None:
            return blocks
        one, two, both = found
        cubes = blocks.pop(one) + blocks.pop(two)
        blocks[both] = blocks.get(both, ()) + cubes


def _join(one: Block, two: Block) -> Block | None:
    if [feature for feature, _ in one] != [feature for feature, _ in two]:
        return None
    differing = [at for at in range(len(one)) if one[at] != two[at]]
    if len(differing) != 1:
        return None
    at = differing[0]
    feature, union = one[at][0], one[at][1] | two[at][1]
    middle = () if len(union) == len(feature.cases()) else ((feature, union),)
    return (*one[:at], *middle, *one[at + 1 :]) or None


def _name(block: Block, taken: set[str]) -> str:
    words = [v.name.lower() for feature, _ in block for v in feature.variables()]
    base = "_".join(("suggested", *dict.fromkeys(words)))[:60]
    name, number = base, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    taken.add(name)
    return name
