"""Reading packed words: fields at known and computed places, keys outside the instance, constants."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tidemark.models.instance import Domain, Instance
from tidemark.models.native.codec import Codec, Field
from tidemark.models.native.codegen import scalars
from tidemark.models.native.codegen.emitter import Emitter
from tidemark.models.native.codegen.scalars import FALSE, Val
from tidemark.models.native.codegen.shape import Shape
from tidemark.spec.language.expr import Expr, Value, Variable
from tidemark.spec.language.types import BoolType, EnumType, MapType, Type

MemoKey = tuple[object, ...]
Tables = dict[str, tuple[str, int, int]]
"""Map constants that are read at computed places: name in the text, least and greatest value."""


def literal(kind: Type, value: Value) -> Val:
    """A constant of the language: truth values as ``i1``, members by index."""
    if isinstance(kind, BoolType):
        return scalars.boolean(bool(value))
    if isinstance(kind, EnumType):
        return scalars.number(kind.index(str(value)))
    return scalars.number(int(value))


def span(domain: Domain) -> tuple[int, int]:
    """Least and greatest value of a domain as numbers."""
    return domain.low, domain.low + domain.size - 1


class StateAccess:
    """Writes reads of packed words at the present place of a function. ``before`` and ``after`` name the
    words of the two states. Values written once are used again where they dominate.
    """

    def __init__(
        self,
        instance: Instance,
        codec: Codec,
        out: Emitter,
        *,
        shape: Shape,
        tables: Tables,
    ) -> None:
        self.instance, self.codec, self.out, self.shape = instance, codec, out, shape
        self.tables = tables
        self.before: Sequence[str] = ()
        self.after: Sequence[str] | None = None
        self.locals: dict[str, Val] = {}
        self._memo: list[dict[MemoKey, Val]] = [{}]
        self.kept: list[Expr] = []  # keeps ids of derived expressions unique

    @contextmanager
    def region(self, bindings: Mapping[str, Val] | None = None) -> Iterator[None]:
        """Text that is not always executed, or with other locals: its values are forgotten afterwards."""
        saved = self.locals
        self.locals = {**saved, **(bindings or {})}
        self._memo.append({})
        try:
            yield
        finally:
            self._memo.pop()
            self.locals = saved

    def once(self, key: MemoKey, make: Callable[[], Val]) -> Val:
        """The value under a key, written now unless a text that dominates this place has it already."""
        for layer in reversed(self._memo):
            if key in layer:
                return layer[key]
        found = make()
        self._memo[-1][key] = found
        return found

    def words(self, *, primed: bool) -> Sequence[str]:
        """The words of the state before or after."""
        if not primed:
            return self.before
        if self.after is None:
            raise TypeError("a primed read where there is one state")
        return self.after

    def entry(self, field: Field, number: int, *, primed: bool = False) -> Val:
        """An entry of a field at a known place."""
        low, high = span(field.value)
        if not field.bits:
            return (
                scalars.number(low)
                if not isinstance(field.value.type, BoolType)
                else scalars.boolean(bool(low))
            )
        word, shift = field.places()[number]
        refs = self.words(primed=primed)
        return self.once(
            ("entry", refs[word], shift, field.bits, low),
            lambda: self._extract(refs[word], str(shift), field, low, high),
        )

    def _extract(self, word: str, shift: str, field: Field, low: int, high: int) -> Val:
        out = self.out
        moved = word if shift == "0" else out.op(f"lshr i64 {word}, {shift}")
        if isinstance(field.value.type, BoolType):
            return scalars.unknown(out.op(f"trunc i64 {moved} to i1"))
        masked = out.op(f"and i64 {moved}, {(1 << field.bits) - 1}")
        return scalars.ranged(out.op(f"add i64 {masked}, {low}") if low else masked, low, high)

    def place(self, keys: Sequence[Val], domains: Sequence[Domain]) -> tuple[Val, Val]:
        """Is the key inside the instance, and its flat index (meaningless outside)."""
        out = self.out
        in_bounds = scalars.join(
            out,
            "and",
            [scalars.within(out, key, d.low, d.size) for key, d in zip(keys, domains, strict=True)],
        )
        flat = scalars.number(0)
        for key, domain in zip(keys, domains, strict=True):
            wide = Val(scalars.widen(out, key), key.low, key.high)
            index = scalars.arithmetic(out, "sub", wide, scalars.number(domain.low))
            scaled = scalars.arithmetic(out, "mul", flat, scalars.number(domain.size))
            flat = scalars.arithmetic(out, "add", scaled, index)
        return in_bounds, flat

    def looked_up(self, variable: Variable, keys: Sequence[Val], *, primed: bool) -> Val:
        """The value of a map at any keys."""
        kind = variable.type
        assert isinstance(kind, MapType)
        domains = self.instance.domains(kind.keys)
        in_bounds, flat = self.place(keys, domains)
        out_of_bounds = literal(kind.value, self.instance.out_of_bounds_value(variable))
        if in_bounds == FALSE:
            return out_of_bounds
        found = (
            self._constant(variable, flat) if variable.constant else self.at(variable, flat, primed=primed)
        )
        return scalars.choose(self.out, in_bounds, found, out_of_bounds)

    def at(self, variable: Variable, flat: Val, *, primed: bool = False) -> Val:
        """The entry of a map at a flat index inside the instance."""
        field, out = self.codec.by_name[variable.name], self.out
        if flat.fixed or not field.bits:
            return self.entry(field, flat.low if flat.fixed else 0, primed=primed)
        low, high = span(field.value)
        refs, result = self.words(primed=primed), None
        for run in field.runs:
            index = flat.ref if run.first == 0 else out.op(f"sub i64 {flat.ref}, {run.first}")
            scaled = index if field.bits == 1 else out.op(f"mul i64 {index}, {field.bits}")
            shift = scaled if run.shift == 0 else out.op(f"add i64 {scaled}, {run.shift}")
            found = self._extract(refs[run.word], shift, field, low, high)
            here = scalars.less(out, scalars.number(run.first - 1), flat, strict=True)
            result = found if result is None else scalars.choose(out, here, found, result)
        assert result is not None
        return result

    def _constant(self, variable: Variable, flat: Val) -> Val:
        kind = variable.type
        assert isinstance(kind, MapType)
        values = [literal(kind.value, value) for value in self.instance.map_constants[variable.name]]
        if flat.fixed:
            return values[flat.low]
        name, low, high = self.tables.setdefault(
            variable.name,
            (f"@constant.{len(self.tables)}", min(v.low for v in values), max(v.high for v in values)),
        )
        # An index outside the instance must not be read; the value is then not used.
        safe = self.out.op(f"call i64 @llvm.umin.i64(i64 {flat.ref}, i64 {len(values) - 1})")
        found = self.out.load(name, safe)
        if isinstance(kind.value, BoolType):
            return scalars.unknown(self.out.op(f"trunc i64 {found} to i1"))
        return scalars.ranged(found, low, high)
