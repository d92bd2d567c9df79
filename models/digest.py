"""The digest of what a verdict rests on: a traced protocol and an instance of it; equal in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.spec.language.expr import Expr
from tidemark.spec.language.spec import Spec

if TYPE_CHECKING:
    from tidemark.models.instance import Instance

LENGTH = 16
"""Hexadecimal digits of a digest."""


def digest_of(*parts: object) -> str:
    """Digest of values by their text. They hold no set and no object whose text is its address."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:LENGTH]


def spec_digest(spec: Spec) -> str:
    """Digest of what decides the meaning of a traced protocol: neither words about it nor places."""
    return digest_of(
        spec.constants,
        spec.variables,
        sorted(spec.initial.items()),
        sorted(spec.options.items()),
        [(a.name, a.params, [guard.expr for guard in a.guards], a.updates, a.fairness) for a in spec.actions],
        [(p.id, p.kind, p.expr, p.params, p.premise, p.after, p.without) for p in spec.properties],
        [(p.expr, p.params) for p in spec.assumptions],
        spec.initially,
    )


def instance_digest(instance: Instance) -> str:
    """Digest of what decides the states and the properties of an instance. Raises BadInstance, SpecError."""
    return digest_of(spec_digest(instance.spec), instance.bounds, instance.constants)


def content_digest(value: object) -> str:
    """Digest of data classes, tuples, mappings and plain values; a shared expression is read once. Raises
    TypeError for anything else, whose text might not say all of it.
    """
    return _of_expr(value) if isinstance(value, Expr) else _of_value(value)


@lru_cache(maxsize=1 << 18)
def _of_expr(node: Expr) -> str:
    return _of_value(node)


def _of_value(value: object) -> str:
    if value is None or isinstance(value, bool | int | float | str):
        text = f"{type(value).__name__} {value!r}"
    elif isinstance(value, tuple):
        text = f"tuple {' '.join(map(content_digest, value))}"
    elif isinstance(value, Mapping):
        items = sorted((content_digest(key), content_digest(item)) for key, item in value.items())
        text = f"mapping {items}"
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [content_digest(getattr(value, item.name)) for item in fields(value)]
        text = f"{type(value).__qualname__} {' '.join(parts)}"
    else:
        raise TypeError(f"no digest for {value!r}")
    return hashlib.sha256(text.encode()).hexdigest()[:32]
