"""One LLVM function per action (all rows of a block, all parameters), and one for state conditions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tidemark.models.native.codegen import scalars
from tidemark.models.native.codegen.emitter import Emitter
from tidemark.models.native.codegen.expressions import Translator
from tidemark.models.native.codegen.scalars import FALSE, TRUE, Val
from tidemark.models.native.codegen.updates import Updater
from tidemark.spec.language.expr import TRUE as TRUE_EXPR
from tidemark.spec.language.expr import Apply, Const, Expr, Quantified, Read, substitute
from tidemark.spec.language.fold import fold, negation
from tidemark.spec.language.spec import Action, Property
from tidemark.spec.language.types import BOOL

EXPAND_ARGS = (
    "ptr noalias readonly %rows, i64 %n, ptr noalias %succ, ptr noalias %parent, ptr noalias %step, "
    "ptr noalias %cursor, ptr noalias %enabled, ptr noalias %stats, ptr noalias %flags, ptr noalias %seen, "
    "ptr noalias %where"
)
CHECK_ARGS = "ptr noalias readonly %rows, i64 %n, ptr noalias %out"


@dataclass(frozen=True)
class Claim:
    """A condition on steps, reported when first true: a broken transition invariant, a witness."""

    index: int
    prop: Property

    def condition(self, action: Action) -> Expr:
        """The condition in the steps of an action; FALSE if it cannot occur there."""
        prop = self.prop
        if prop.kind == "reachable":
            return _specialised(prop.expr, _written(action)) if prop.after == action.name else _NEVER
        body = _specialised(prop.expr, _written(action))
        if isinstance(body, Const):
            return negation(body)
        return negation(Quantified(BOOL, "forall", prop.params, body) if prop.params else body)


_NEVER = negation(TRUE_EXPR)


def _written(action: Action) -> frozenset[str]:
    return frozenset(variable.name for variable in action.writes)


@lru_cache(maxsize=1 << 12)
def _specialised(expr: Expr, written: frozenset[str]) -> Expr:
    """A variable that an action does not write is the same before and after, so claims are shared."""

    def read(node: Read) -> Expr:
        if node.primed and node.variable.name not in written:
            return Read(node.type, node.variable)
        return node

    return fold(substitute(expr, reads=read))


def _parts(expr: Expr) -> tuple[Expr, ...]:
    return expr.args if isinstance(expr, Apply) and expr.op == "and" else (expr,)


ACTION = "@action"
"""Name of an action's function in its text; its place in a kernel gives it another one."""


class ActionWriter:
    """Writes the function of one action, which does not depend on its place: counters and marks are behind
    pointers, and ``%first`` is the number of its first step.
    """

    def __init__(
        self,
        action: Action,
        claims: Sequence[Claim],
        translator: Translator,
        words: int,
    ) -> None:
        self.action, self.claims = action, claims
        self.tr, self.out, self.words = translator, translator.out, words
        self.domains = [translator.instance.domain(param.type) for param in action.params]
        self.levels = self._levels()

    def _levels(self) -> list[list[tuple[Expr, int]]]:
        """Conjuncts with their guard's number, by the parameter after whose binding they can be decided."""
        names = [param.name for param in self.action.params]
        levels: list[list[tuple[Expr, int]]] = [[] for _ in range(len(names) + 1)]
        for number, guard in enumerate(self.action.guards):
            for part in _parts(guard.expr):
                used = [names.index(name) + 1 for name in self.tr.shape.free(part)]
                levels[max(used, default=0)].append((part, number))
        return [sorted(level, key=lambda item: self.tr.shape.cost(item[0])) for level in levels]

    def write(self) -> str:
        """The text of the function."""
        out = self.out
        head, done, following = out.label(), out.label(), out.label()
        self.cursor = out.cell(start=out.op("load i64, ptr %cursor"))
        self.fired, self.lost, self.fell = out.cell(start="0"), out.cell(start="0"), out.cell(start="0")
        row = out.cell(start="0")
        out.branch(out.op("icmp sgt i64 %n, 0"), head, done)
        out.place(head)
        self.row = out.get(row)
        with self.tr.region():
            self.tr.before = load_words(out, self.row, self.words)
            self._level(0, scalars.number(0), following)
        out.jump(following)
        out.place(following)
        after = out.op(f"add i64 {out.get(row)}, 1")
        out.put(row, after)
        out.branch(out.op(f"icmp slt i64 {after}, %n"), head, done)
        out.place(done)
        out.do(f"store i64 {out.get(self.cursor)}, ptr %cursor")
        for cell, offset in ((self.fired, 0), (self.lost, 1), (self.fell, 2)):
            at = str(offset)
            out.store(out.op(f"add i64 {out.load('%stats', at)}, {out.get(cell)}"), "%stats", at)
        out.do("ret void")
        return out.function(f"define void {ACTION}({EXPAND_ARGS}, i64 %first)")

    def _level(self, depth: int, flat: Val, fail: str) -> None:
        """Guards that can be decided now, then the next parameter. ``fail``: label of a disabled step."""
        last = {number: at for at, level in enumerate(self.levels) for _, number in level}
        waiting = [number for _, number in self.levels[depth]]
        for position, (part, number) in enumerate(self.levels[depth]):
            test = self.tr.scalar(part)
            if test == FALSE:
                self.out.jump(fail)
                self.out.place(self.out.label())
                return
            if test != TRUE:
                passed = self.out.label()
                self.out.branch(test.ref, passed, fail)
                self.out.place(passed)
            if last[number] == depth and number not in waiting[position + 1 :]:
                self.out.store("1", "%flags", str(number), "i8")
        if depth == len(self.domains):
            self._fire(flat)
            return
        domain, param = self.domains[depth], self.action.params[depth]
        done = self.out.label()
        with self.tr.loop(param, domain, done) as step:
            value = self.tr.locals[param.name]
            wide = Val(scalars.widen(self.out, value), value.low, value.high)
            index = scalars.arithmetic(self.out, "sub", wide, scalars.number(domain.low))
            scaled = scalars.arithmetic(self.out, "mul", flat, scalars.number(domain.size))
            self._level(depth + 1, scalars.arithmetic(self.out, "add", scaled, index), step)
            self.out.jump(step)
        self.out.place(done)

    def _fire(self, flat: Val) -> None:
        out = self.out
        with self.tr.region():
            updater = Updater(self.tr)
            for variable, expr in self.action.updates:
                updater.update(variable, expr)
            out.store("1", "%enabled", self.row, "i8")
            out.put(self.fired, out.op(f"add i64 {out.get(self.fired)}, 1"))
            end = out.label()
            left = updater.out_of_bounds()
            if left != FALSE:
                beyond, in_bounds = out.label(), out.label()
                out.branch(left.ref, beyond, in_bounds)
                out.place(beyond)
                out.put(self.lost, out.op(f"add i64 {out.get(self.lost)}, 1"))
                fell = updater.below_zero()
                if fell != FALSE:
                    out.put(self.fell, out.op(f"add i64 {out.get(self.fell)}, {scalars.widen(out, fell)}"))
                out.jump(end)
                out.place(in_bounds)
            self.tr.after = updater.words()
            self._claims()
            self._emit(flat)
            self.tr.after = None
            out.jump(end)
            out.place(end)

    def _emit(self, flat: Val) -> None:
        out, place = self.out, self.out.get(self.cursor)
        first = out.op(f"mul i64 {place}, {self.words}")
        assert self.tr.after is not None
        for number, word in enumerate(self.tr.after):
            out.store(word, "%succ", out.op(f"add i64 {first}, {number}") if number else first)
        out.store(self.row, "%parent", place)
        narrow = out.op(f"trunc i64 {out.op(f'add i64 {flat.ref}, %first')} to i32")
        out.store(narrow, "%step", place, "i32")
        out.put(self.cursor, out.op(f"add i64 {place}, 1"))

    def _claims(self) -> None:
        out = self.out
        for claim in self.claims:
            condition = claim.condition(self.action)
            if condition == negation(TRUE_EXPR):
                continue
            look, hit, skip = out.label(), out.label(), out.label()
            known = out.op(f"icmp ne i8 {out.load('%seen', str(claim.index), 'i8')}, 0")
            out.branch(known, skip, look)
            out.place(look)
            with self.tr.region():
                found = self.tr.derived(condition)
                out.branch(found.ref, hit, skip)
                out.place(hit)
                out.store("1", "%seen", str(claim.index), "i8")
                out.store(out.get(self.cursor), "%where", str(claim.index))
                out.jump(skip)
            out.place(skip)


def load_words(out: Emitter, row: str, words: int) -> list[str]:
    """The words of a row of the block."""
    first = out.op(f"mul i64 {row}, {words}")
    return [out.load("%rows", out.op(f"add i64 {first}, {k}") if k else first) for k in range(words)]


def write_conditions(name: str, conditions: Sequence[Expr], translator: Translator, words: int) -> str:
    """A function that sets bit i of group i // 64 where condition i holds; gives the union of the bits."""
    out = translator.out
    groups = max(1, -(-len(conditions) // 64))
    head, done = out.label(), out.label()
    row, union = out.cell(start="0"), out.cell(start="0")
    out.branch(out.op("icmp sgt i64 %n, 0"), head, done)
    out.place(head)
    at = out.get(row)
    with translator.region():
        translator.before = load_words(out, at, words)
        for group in range(groups):
            bits = "0"
            for number, condition in enumerate(conditions[64 * group : 64 * group + 64]):
                wide = scalars.widen(out, translator.scalar(condition))
                moved = wide if number == 0 else out.op(f"shl i64 {wide}, {number}")
                bits = moved if bits == "0" else out.op(f"or i64 {bits}, {moved}")
            place = out.op(f"add i64 {out.op(f'mul i64 {at}, {groups}')}, {group}")
            out.store(bits, "%out", place)
            out.put(union, out.op(f"or i64 {out.get(union)}, {bits}"))
    after = out.op(f"add i64 {at}, 1")
    out.put(row, after)
    out.branch(out.op(f"icmp slt i64 {after}, %n"), head, done)
    out.place(done)
    out.do(f"ret i64 {out.get(union)}")
    return out.function(f"define i64 @{name}({CHECK_ARGS})")
