"""JSON files of a results folder, read with types; a folder that was edited by hand is refused.

The files are described once, as typed dictionaries beside the code that writes them (`manifest.py`,
`summary.py`). They are read with the same types, so that no table and no page gets an impossible
value.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, NoReturn, TypeVar, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from heldout.errors import InputError

__all__ = ["WRITTEN", "Count", "FiniteNumber", "Share", "Variance", "read_into", "refuse_edited"]

T = TypeVar("T")

FiniteNumber = Annotated[float, Field(gt=-1e300, lt=1e300, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]
Variance = Annotated[float, Field(ge=0, lt=1e300)]
Count = Annotated[int, Field(ge=0, lt=2**62)]

WRITTEN: Final = ConfigDict(strict=True, extra="allow")
"""Nothing is converted; there may be more values than a type names."""


def read_into(kind: type[T], content: object, place: str, file: str) -> T:
    """Return the content of a file with types; refuse what no experiment writes.

    Parameters
    ----------
    kind
        The type of the content.
    content
        The content of the file.
    place, file
        The folder and the name of the file, for messages.
    """
    try:
        TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        wrong = [".".join(map(str, one["loc"])) or "(not a table)" for one in error.errors()]
        refuse_edited(place, file, list(dict.fromkeys(wrong)))
    # Not the validated copy, which has another order of names: written again, bytes must be equal.
    return cast("T", content)


def refuse_edited(place: str, file: str, wrong: list[Any]) -> NoReturn:
    """Refuse a file of results in which these values are not as they were written."""
    raise InputError(
        f"{place}: {file} is not as an experiment writes it ({', '.join(wrong[:5])}): was it "
        "edited, or written by another version? Run the experiment again"
    )
