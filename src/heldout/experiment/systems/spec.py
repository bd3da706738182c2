"""The text form of a system, ``NAME=HEAD(parts, parameter=values)``, and what is given with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError
from heldout.tune.search import Search
from heldout.tune.space import Axis, Space, parse_axis, parse_value
from heldout.tune.space import given as axis_of

if TYPE_CHECKING:
    from pathlib import Path

    from heldout.tune.search import How

_PARAMETER: Final = re.compile(r"\s*([^\W\d]\w*)\s*=")


@dataclass(frozen=True, eq=False)
class Given:
    """What is given with a system, as by `System.of`, and the folder where relative paths start."""

    name: str | None = None
    parts: tuple[Any, ...] = ()
    parameters: tuple[Axis, ...] = ()  # a fixed one has one value
    search: How | None = None
    trials: int | None = None
    comparable: bool | None = None
    learns: bool | None = None
    first: Any = None
    kind: str | None = None
    folder: Path | None = None

    def only(self, called: str, *taken: str) -> None:
        """Refuse options that would have no effect."""
        options = {field.name for field in fields(self)} - {"name", "folder", *taken}
        unused = [name for name in sorted(options) if getattr(self, name) not in (None, ())]
        if unused:
            use = f"; it takes {', '.join(taken)}" if taken else ""
            raise InputError(f"{called}: {', '.join(unused)} would have no effect on it{use}")

    def searched(self) -> Search:
        """Return the points to try; fixed parameters come first."""
        axes = sorted(self.parameters, key=lambda axis: len(axis.values) > 1)
        return Search(Space(tuple(axes)), self.search or "grid", self.trials)

    def written(self, head: str, named: Mapping[str, str]) -> Given:
        """Return it together with the parameters that are written in brackets."""
        axes, said = list[Axis](), dict[str, Any]()
        for name, text in named.items():
            if not text:
                raise not_a_parameter(head, f"{name}=")
            if name in {"comparable", "learns"}:  # about the system, and not a parameter of it
                said[name] = parse_value(text)
                if not isinstance(said[name], bool):
                    raise InputError(f"{head}: {name}={text}: expected true or false")
            elif ":" in text or "," in text:
                axes.append(parse_axis(f"{name}={text}"))
            else:
                axes.append(axis_of(name, [parse_value(text)]))
        return replace(self, parameters=(*axes, *self.parameters), **said)


def axes_of(parameters: Any, space: Any) -> tuple[Axis, ...]:
    """Return fixed parameters and a space such as ``{"k1": "0.5:3:6", "b": [0.3, 0.75]}``."""
    axes = list[Axis]()
    for what, named in (("parameters", parameters), ("space", space)):
        if isinstance(named, Space):
            axes += named.axes
        elif isinstance(named, Mapping):
            axes += [_axis(str(name), values, what) for name, values in named.items()]
        elif named is not None:
            raise InputError(f"{what}: expected names with values, not {named!r}")
    return tuple(axes)


def _axis(name: str, values: Any, what: str) -> Axis:
    if isinstance(values, Axis):
        return values
    if what == "space" and isinstance(values, str):
        return parse_axis(f"{name}={values}")
    listed = values.tolist() if hasattr(values, "tolist") else values
    several = what == "space" and isinstance(listed, Sequence)
    return axis_of(name, listed if several else [listed])


def parse(text: str) -> tuple[str | None, str, str]:
    """Return label, head, and what is in brackets; the label of a path is a part of it.

    Examples
    --------
    >>> parse("dense = wsum(a.run, b.run, w=0:1:11)")
    ('dense', 'wsum', 'a.run, b.run, w=0:1:11')
    """
    whole, _, inside = text.strip().partition("(")
    if not inside.endswith(")"):  # a path may have brackets
        whole, inside = text.strip(), ""
    label, _, head = (part.strip() for part in whole.partition("="))
    is_path = re.fullmatch(r"[\w-]+", head) is None and not {*"/{}"}.isdisjoint(label)
    if not label or not head or is_path:
        return None, whole.strip(), inside[:-1]
    return label, head, inside[:-1]


def arguments(head: str, inside: str) -> tuple[list[str], dict[str, str]]:
    """Return the parts in brackets, and the parameters behind them as they are written.

    A comma in a list of values, or inside other brackets, does not end a parameter.

    Examples
    --------
    >>> arguments("wsum", "bm25.run, dense, norm=minmax, w=0,0.5,1")
    (['bm25.run', 'dense'], {'norm': 'minmax', 'w': '0,0.5,1'})
    """
    parts, named = list[str](), dict[str, str]()
    if not inside.strip():
        return parts, named
    depth = begin = 0
    for end, letter in enumerate(f"{inside},"):
        depth += (letter == "(") - (letter == ")")
        if letter != "," or depth > 0:
            continue
        match = _PARAMETER.match(inside, begin, end)
        if match is not None and not (end == len(inside) or _PARAMETER.match(inside, end + 1)):
            continue  # a list of values goes on
        if match is None:
            parts.append(inside[begin:end].strip())
        elif match[1] in named:
            raise InputError(f"{head}: {match[1]} is given twice")
        else:
            named[match[1]] = inside[match.end() : end].strip()
        begin = end + 1
    return parts, named


def not_a_parameter(head: str, part: str) -> InputError:
    """Return the error about something in brackets that is not a parameter."""
    return InputError(
        f"{head}: {part!r} is not a parameter: write k1=0.9, k1=0.5:3:6 (from:to:count) or "
        "b=0.3,0.75"
    )
