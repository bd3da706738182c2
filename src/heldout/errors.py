"""The errors of heldout.

* `HeldoutError`: all errors that a user can correct; the command line prints them and exits with 2.

  * `InputError`: a file or an object is not as expected.

    * `FormatError`: a line of a file cannot be read; names file and line.

  * `MeasureError`: the name or the parameters of a measure are wrong.
  * `MissingExtraError`: an optional package is not installed.
"""

from __future__ import annotations


class HeldoutError(Exception):
    """Base class of all errors; the message says what is wrong, where, and what to do."""


class InputError(HeldoutError):
    """A file or an object is not as expected."""


class FormatError(InputError):
    """A line of a file cannot be read: `where` (``file:line``) and what was found there."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")


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
