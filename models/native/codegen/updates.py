"""Updates: the words of the state after a step, and whether the step leaves the instance's bounds."""

import itertools
from collections.abc import Callable, Iterable, Sequence

from tidemark.models.instance import Domain
from tidemark.models.native.codec import Field
from tidemark.models.native.codegen import scalars
from tidemark.models.native.codegen.expressions import Translator
from tidemark.models.native.codegen.scalars import FALSE, TRUE, Val
from tidemark.spec.language.expr import Apply, Expr, Local, MapComprehension, Read, Store, Variable, map_type
from tidemark.spec.language.fold import select
from tidemark.spec.language.types import least_of

EACH_COST = 600
Later = tuple[tuple[Val, Val], ...]
"""Entries that are written again: whether the key is inside, and its flat index."""


def naturals(pairs: Iterable[tuple[Val, Domain]]) -> list[Val]:
    """The values that are natural numbers by their type."""
    return [value for value, domain in pairs if least_of(domain.type) is not None]


class Updater:
    """Writes the updates of one fired step into cells that hold the new words."""

    def __init__(self, translator: Translator) -> None:
        self.translator, self.out = translator, translator.out
        self.cells = [self.out.cell(start=word) for word in translator.before]
        self._outside = self.out.cell("i1", "false")
        self._below = self.out.cell("i1", "false")
        self._touched: set[int] = set()
        self.may_leave = False
        self.may_fall = False

    def words(self) -> list[str]:
        """The new words; the old ones where no update wrote."""
        return [
            self.out.get(cell) if number in self._touched else old
            for number, (cell, old) in enumerate(zip(self.cells, self.translator.before, strict=True))
        ]

    def out_of_bounds(self) -> Val:
        """Does the step leave the bounds?"""
        return scalars.unknown(self.out.get(self._outside, "i1")) if self.may_leave else FALSE

    def below_zero(self) -> Val:
        """Does the step leave the bounds because it makes a natural number negative?"""
        return scalars.unknown(self.out.get(self._below, "i1")) if self.may_fall else FALSE

    def _leave_if(self, condition: Val, *negative: Val) -> None:
        """``negative``: values of which one is then negative, and cannot be."""
        if condition == FALSE:
            return
        self.may_leave = True
        self._mark(self._outside, condition)
        signs = [scalars.less(self.out, value, scalars.number(0), strict=True) for value in negative]
        falls = scalars.join(self.out, "and", [condition, scalars.join(self.out, "or", signs)])
        if falls != FALSE:
            self.may_fall = True
            self._mark(self._below, falls)

    def _mark(self, cell: str, condition: Val) -> None:
        before = self.out.get(cell, "i1")
        self.out.put(cell, self.out.op(f"or i1 {before}, {condition.ref}"), "i1")

    def update(self, variable: Variable, expr: Expr) -> None:
        """Set a variable to the value of an expression over the state before."""
        field = self.translator.codec.by_name[variable.name]
        if field.is_map:
            self._table(field, expr, ())
        else:
            value = self.translator.scalar(expr)
            self._put(field, 0, self._index(field, value, scalars.number(0), ()))

    def _index(self, field: Field, value: Val, flat: Val, later: Later) -> str:
        """The bits of a value for an entry; an unfit value is noted and not written."""
        domain, out = field.value, self.out
        fits = scalars.within(out, value, domain.low, domain.size)
        if fits != TRUE:
            again = [
                scalars.join(out, "and", [in_bounds, scalars.equal(out, flat, place)])
                for in_bounds, place in later
            ]
            replaced = scalars.join(out, "or", again)
            lost = scalars.join(out, "and", [scalars.negate(out, fits), scalars.negate(out, replaced)])
            self._leave_if(lost, *naturals([(value, domain)]))
        wide, ones = scalars.widen(out, value), (1 << field.bits) - 1
        if value.fixed:
            return str((value.low - domain.low) & ones)
        index = out.op(f"sub i64 {wide}, {domain.low}") if domain.low else wide
        return index if fits == TRUE else out.op(f"and i64 {index}, {ones}")

    def _put(self, field: Field, number: int, index: str) -> None:
        if not field.bits:
            return
        word, shift = field.places()[number]
        mask = ((1 << field.bits) - 1) << shift
        self._merge(word, str(mask), self._shifted(index, shift))

    def _shifted(self, index: str, shift: int) -> str:
        if shift == 0 or index == "0":
            return index
        if index.isdigit():
            return str(int(index) << shift)
        return self.out.op(f"shl i64 {index}, {shift}")

    def _merge(self, word: int, mask: str, bits: str) -> None:
        """Replace the masked bits of a new word by bits that lie within the mask."""
        out, cell = self.out, self.cells[word]
        self._touched.add(word)
        keep = str(((1 << 64) - 1) ^ int(mask)) if mask.isdigit() else out.op(f"xor i64 {mask}, -1")
        kept = out.op(f"and i64 {out.get(cell)}, {keep}")
        out.put(cell, kept if bits == "0" else out.op(f"or i64 {kept}, {bits}"))

    def _table(self, field: Field, expr: Expr, later: Later) -> None:
        """Write a whole map; ``later`` are the entries that will be written again afterwards."""
        match expr:
            case Read(variable=variable) if variable == field.variable:
                return
            case Read():
                self._copied(field, expr, later)
            case Store(map=source, keys=keys, value=value):
                at = [self.translator.scalar(key) for key in keys]
                place = self.translator.place(at, field.keys)
                self._table(field, source, (*later, place))
                new = self.translator.scalar(value)
                self._either(
                    place[0],
                    lambda: self._write_at(field, place[1], new, later),
                    lambda: self._lost(expr, new, naturals(zip(at, field.keys, strict=True))),
                )
            case MapComprehension(binders=binders, body=body):
                self._each(field, binders, body, later)
            case Apply(op="ite", args=(condition, then, other)):
                test = self.translator.scalar(condition)
                self._either(
                    test, lambda: self._table(field, then, later), lambda: self._table(field, other, later)
                )
            case _:
                raise TypeError(f"not a map: {expr}")

    def _either(self, test: Val, yes: Callable[[], None], no: Callable[[], None]) -> None:
        if test.fixed:
            (yes if test.high else no)()
            return
        out = self.out
        one, two, end = out.label(), out.label(), out.label()
        out.branch(test.ref, one, two)
        for label, write in ((one, yes), (two, no)):
            out.place(label)
            with self.translator.region():
                write()
            out.jump(end)
        out.place(end)

    def _copied(self, field: Field, source: Expr, later: Later) -> None:
        for number, keys in enumerate(self.translator.instance.keys(map_type(source))):
            value = self.translator.derived(select(source, keys))
            self._put(field, number, self._index(field, value, scalars.number(number), later))

    def _lost(self, store: Store, new: Val, naturals: Sequence[Val]) -> None:
        """A new value at a key outside the instance leaves the bounds. ``naturals``: its natural numbers."""
        old = self.translator.derived(select(store.map, store.keys))
        self._leave_if(scalars.negate(self.out, scalars.equal(self.out, new, old)), *naturals)

    def _write_at(self, field: Field, flat: Val, value: Val, later: Later) -> None:
        index = self._index(field, value, flat, later)
        if not field.bits:
            return
        if flat.fixed:
            self._put(field, flat.low, index)
            return
        out, ones = self.out, (1 << field.bits) - 1
        for run in field.runs:
            offset = flat.ref if run.first == 0 else out.op(f"sub i64 {flat.ref}, {run.first}")
            scaled = offset if field.bits == 1 else out.op(f"mul i64 {offset}, {field.bits}")
            shift = scaled if run.shift == 0 else out.op(f"add i64 {scaled}, {run.shift}")
            unit, bits = str(ones), index
            if len(field.runs) > 1:  # only the run that holds the entry changes
                here = out.op(f"icmp ult i64 {offset}, {run.count}")
                shift = out.op(f"select i1 {here}, i64 {shift}, i64 0")
                unit = out.op(f"select i1 {here}, i64 {ones}, i64 0")
                bits = out.op(f"select i1 {here}, i64 {index}, i64 0")
            moved = bits if bits == "0" else out.op(f"shl i64 {bits}, {shift}")
            self._merge(run.word, out.op(f"shl i64 {unit}, {shift}"), moved)

    def _each(self, field: Field, binders: Sequence[Local], body: Expr, later: Later) -> None:
        if field.entries * self.translator.shape.cost(body) <= EACH_COST:
            self._each_unrolled(field, binders, body, later)
        else:
            self._each_loop(field, binders, body, later)

    def _each_unrolled(self, field: Field, binders: Sequence[Local], body: Expr, later: Later) -> None:
        """All entries at once: the new bits of each run are put together before the word is changed."""
        tr = self.translator
        indices = []
        for number, values in enumerate(itertools.product(*(tr.values(domain) for domain in field.keys))):
            with tr.bind(binders, values):
                indices.append(self._index(field, tr.scalar(body), scalars.number(number), later))
        for run in field.runs:
            bits, known = "0", 0
            for number in range(run.count):
                moved = self._shifted(indices[run.first + number], run.shift + number * field.bits)
                if moved.isdigit():
                    known |= int(moved)
                else:
                    bits = moved if bits == "0" else self.out.op(f"or i64 {bits}, {moved}")
            if known:
                bits = str(known) if bits == "0" else self.out.op(f"or i64 {bits}, {known}")
            mask = ((1 << (run.count * field.bits)) - 1) << run.shift
            self._merge(run.word, str(mask), bits)

    def _each_loop(self, field: Field, binders: Sequence[Local], body: Expr, later: Later) -> None:
        tr, out = self.translator, self.out

        def nest(depth: int, keys: list[Val]) -> None:
            if depth == len(binders):
                _, flat = tr.place(keys, field.keys)
                self._write_at(field, flat, tr.scalar(body), later)
                return
            done = out.label()
            with tr.loop(binders[depth], field.keys[depth], done) as step:
                nest(depth + 1, [*keys, tr.locals[binders[depth].name]])
                out.jump(step)
            out.place(done)

        nest(0, [])
