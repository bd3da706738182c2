"""The errors that a user can correct; the command line prints them and exits with 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

_NOT_GIVEN: Final = object()


class Argument(NamedTuple):
    """A named argument in a message: ``depth=0`` in Python, ``--depth 0`` on the command line.

    `shown` is its value as Python code: ``0``, ``'zero'``, ``True``, or a word such as ``NAME``.
    """

    name: str
    shown: str

    def __str__(self) -> str:
        return f"{self.name}={self.shown}"


class HeldoutError(Exception):
    """Base class of all errors; the message says what is wrong, where, and what to do.

    `argument` and its `value` are what is wrong, and begin the message. Arguments that would help
    are parts of it: ``HeldoutError("replace it with ", Argument("force", "True"))``.
    """

    def __init__(self, *parts: str | Argument, argument: str = "", value: Any = _NOT_GIVEN) -> None:
        if argument and value is not _NOT_GIVEN:
            shown = repr(value) if isinstance(value, str) else str(value)
            parts = (Argument(argument, shown), ": ", *parts)
        elif argument:
            parts = (f"{argument}: ", *parts)
        super().__init__(*parts)  # which pickles keep

    def __str__(self) -> str:
        return self.in_words(str)

    def in_words(self, spell: Callable[[Argument], str]) -> str:
        """The message, with its arguments spelled in another way."""
        return "".join(spell(part) if isinstance(part, Argument) else part for part in self.args)


class InputError(HeldoutError):
    """A file or an object is not as expected."""


class FormatError(InputError):
    """A line of a file cannot be read: `where` (``file:line``) and what was found there."""

    def __init__(self, where: str, *what: str | Argument) -> None:
        super().__init__(f"{where}: ", *what)

    def __reduce__(self) -> Any:
        return InputError, self.args


class MeasureError(HeldoutError):
    """The name or the parameters of a measure are wrong."""


class MissingExtraError(HeldoutError):
    """An optional package is not installed."""


def cause_of(error: BaseException) -> str:
    """Return why code of a user failed, on one line."""
    import traceback  # slow to import, not needed when a command starts
    from pathlib import Path

    where, modules = "", []
    for frame, line in traceback.walk_tb(error.__traceback__):  # the last is the place
        where = f" in {Path(frame.f_code.co_filename).name}, line {line}"
        modules.append(str(frame.f_globals.get("__name__")))
    if isinstance(error, SystemExit):
        return f"sys.exit({'' if error.code is None else repr(error.code)}) was called{where}"
    said = str(error)
    cause = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if not isinstance(error, Exception):
        return f"{cause} was raised{where}"
    if any(one.startswith("pyterrier.java") for one in modules):
        lacking = "it needs Java and the files of Terrier, which PyTerrier could not start or"
        return f"{lacking} download ({cause})"
    return cause


def failure(what: str, error: BaseException) -> str:
    """Return that code of a user failed and why, then the last places in it, one per line."""
    said = f"{what} failed: {cause_of(error)}"
    if not isinstance(error, Exception):  # `cause_of` has its place
        return said
    import traceback  # only for errors

    ours = __file__.removesuffix("errors.py")
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if not one.filename.startswith(ours)][-2:]
    return "\n".join([said, *(f"  {one.filename}:{one.lineno} in {one.name}" for one in own)])
