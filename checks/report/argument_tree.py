"""The argument of the suite to look at: a tree in the terminal, a graph in Graphviz's language."""

from __future__ import annotations

from rich.tree import Tree

from tidemark.checks.argument.graph import ENVIRONMENT, FOLLOWS, Argument, Reliance, Step


def argument_tree(argument: Argument, name: str) -> Tree:
    """What the protocol assumes, what supports it, and so on down to what rests on nothing.

    What a protocol rests on is shown once; further below only its name.
    """
    return _grow(Tree(_heading(argument, name), highlight=False), argument, name, shown={name})


def _heading(argument: Argument, name: str) -> str:
    rests = argument.reliances(name)
    return name if rests else f"{name}: no assumptions"


def _grow(tree: Tree, argument: Argument, name: str, *, shown: set[str]) -> Tree:
    for one in argument.reliances(name):
        branch = tree.add(_line(one))
        own = one.of_environment or one.of_variant
        owner = None if own or one.problem else argument.owner(one.claim)
        if owner in shown:
            branch.add(f"{owner}: as above")
        elif owner is not None:
            shown.add(owner)
            _grow(branch.add(_heading(argument, owner)), argument, owner, shown=shown)
    for step in argument.steps(name):
        tree.add(_reading(step))
    return tree


def _reading(step: Step) -> str:
    action, _, owner = step.claim.removeprefix(FOLLOWS).partition(".")
    if step.problem:
        return f"NOT SUPPORTED {action} relies on {owner}: {step.problem}"
    return f"{action} relies on {owner} as {step.reading.partition(':')[2]} reads it"


def _line(one: Reliance) -> str:
    if one.problem:
        return f"NOT SUPPORTED {one.claim} ({one.where}): {one.problem}"
    if one.of_environment:
        option = one.claim.removeprefix(ENVIRONMENT)
        return f"assumes {option}: {one.where.rstrip('.')}; without it a claim breaks in {one.support}"
    if one.of_variant:
        return (
            f"needs not assume: {one.where.rstrip('.')}; in finer steps proved for any size by {one.support}"
        )
    return f"relies on {one.claim} in {one.where}; proved for any size by {one.support}"


def argument_dot(argument: Argument) -> str:
    """Protocols as boxes, assumptions about the environment as notes, an arrow for each thing relied on."""
    lines = ["digraph argument {", '  rankdir=BT; node [shape=box, fontname="sans-serif"];']
    for name in argument.manifests:
        lines.append(f'  "{name}";')
        for one in argument.reliances(name):
            if one.of_variant:
                continue
            colour = ", color=red" if one.problem else ""
            if one.of_environment:
                lines.append(f'  "{name}.{one.claim}" [shape=note, label="{one.where}"{colour}];')
                lines.append(f'  "{name}.{one.claim}" -> "{name}" [style=dashed];')
            else:
                owner = argument.owner(one.claim) or "nobody"
                lines.append(f'  "{owner}" -> "{name}" [label="{one.claim}"{colour}];')
    return "\n".join([*lines, "}"]) + "\n"
