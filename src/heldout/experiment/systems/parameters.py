"""Parameters of systems as they are written: those that are fixed, and those to tune."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.errors import InputError
from heldout.tune.space import Axis, Space, given, parse_axis, parse_value

if TYPE_CHECKING:
    from heldout.tune.space import Value

__all__ = ["SystemOptions", "fixed_parameters", "given_space", "with_written", "written_parameters"]

_NEXT_PARAMETER: Final = re.compile(r",\s*(?=[^\W\d]\w*\s*=)")


class SystemOptions(NamedTuple):
    """Options of a system; see `System.of`."""

    parameters: Any = None
    space: Any = None
    comparable: bool | None = None
    search: str | None = None
    trials: int | None = None
    first: Any = None
    learns: bool | None = None


def written_parameters(called: str, text: str) -> tuple[dict[str, Value], list[Axis]]:
    """Return the parameters in brackets: the fixed ones, and those to tune."""
    fixed: dict[str, Value] = {}
    axes: list[Axis] = []
    for part in filter(str.strip, _NEXT_PARAMETER.split(text)):
        key, equals, value = (one.strip() for one in part.partition("="))
        if not equals or not value:
            raise InputError(
                f"{called}: {part.strip()!r} is not a parameter: write k1=0.9, k1=0.5:3:6 "
                "(from:to:count) or b=0.3,0.75"
            )
        if ":" in value or "," in value:
            axes.append(parse_axis(f"{key}={value}"))
        else:
            fixed[key] = parse_value(value)
    return fixed, axes


def with_written(called: str, written: str, options: SystemOptions) -> SystemOptions:
    """Return options with the parameters written in brackets."""
    fixed, axes = written_parameters(called, written)
    # These are about the system, not parameters of it.
    said: dict[str, bool | None] = {"comparable": options.comparable, "learns": options.learns}
    for name, given_value in said.items():
        value = fixed.pop(name, given_value)
        if not isinstance(value, bool | None):
            raise InputError(f"{called}: {name}={value}: expected true or false")
        said[name] = value
    options = options._replace(comparable=said["comparable"], learns=said["learns"])
    both = {**{axis.name: axis for axis in axes}, **(options.space or {})}
    parameters = {**fixed_parameters(options.parameters), **fixed}
    return options._replace(parameters=parameters or None, space=both or None)


def fixed_parameters(given_parameters: Any) -> Mapping[str, Any]:
    """Return names with values, checked."""
    if given_parameters is None:
        return {}
    if not isinstance(given_parameters, Mapping):
        raise InputError(f"parameters: expected names with values, not {given_parameters!r}")
    for key, value in given_parameters.items():
        if not isinstance(value, int | float | str):
            raise InputError(f"{key} = {value!r}: expected a number, a text, true or false")
    return given_parameters


def given_space(described: Any) -> Space | None:
    """Return a space from ``{"k1": "0.5:3:6", "b": [0.3, 0.75]}``; a space stays as it is."""
    if described is None or isinstance(described, Space):
        return described
    if not isinstance(described, Mapping) or not described:
        raise InputError(
            f'space: expected names with values such as {{k1 = "0.5:3:6", b = [0.3, 0.75]}}, not '
            f"{described!r}"
        )
    return Space(tuple(_axis(str(key), value) for key, value in described.items()))


def _axis(name: str, value: Any) -> Axis:
    if isinstance(value, Axis):
        return value
    if isinstance(value, str):
        return parse_axis(f"{name}={value}")
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return given(name, value.tolist() if hasattr(value, "tolist") else value)
    return given(name, [value])
