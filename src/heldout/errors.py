"""What can go wrong, as one small tree.

* `HeldoutError`: everything a user can mend; the command line prints its text and exits with 2.

  * `InputError`: a file or an object that was brought in is not what it must be.

    * `FormatError`: a line of a file cannot be read; names file and line.
    * `DuplicateError`: a document stands twice for one query.

  * `MeasureError`: a measure's name or parameters are not known or do not fit.
  * `MissingExtraError`: an optional package is needed and is not installed.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "USER_FAULTS",
    "DuplicateError",
    "FormatError",
    "HeldoutError",
    "InputError",
    "MeasureError",
    "MissingExtraError",
    "cause_of",
]

USER_FAULTS: Final = (Exception, SystemExit)
"""How code of a user can fail: `sys.exit()` in it must not end a command as if all were done."""


class HeldoutError(Exception):
    """Base of all errors that say what was wrong, what came in and what to do."""


class InputError(HeldoutError):
    """A file or an object that was brought in is not what it must be."""


class FormatError(InputError):
    """A line of a file cannot be read.

    Parameters
    ----------
    where
        The place, as ``file:line``.
    what
        What was found there and what was expected.
    """

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what


class DuplicateError(InputError):
    """A document stands twice for one query.

    Parameters
    ----------
    what
        The run or the qrels.
    query, doc
        Which.
    detail
        More about the two.
    """

    def __init__(self, what: str, query: str, doc: str, detail: str) -> None:
        super().__init__(
            f"{what}: document {doc} stands twice for query {query}{detail}: keep one of them"
        )
        self.query = query
        self.doc = doc


class MeasureError(HeldoutError):
    """A measure's name or parameters are not known or do not fit."""


class MissingExtraError(HeldoutError):
    """An optional package is needed and is not installed."""


def cause_of(error: BaseException) -> str:
    """Return why code of a user failed, on one line.

    Examples
    --------
    >>> cause_of(ValueError("too short"))
    'ValueError: too short'
    >>> cause_of(SystemExit(0))
    'sys.exit(0) was called'
    """
    if not isinstance(error, SystemExit):
        return f"{type(error).__name__}: {error}"
    from pathlib import Path  # not when a command starts

    trace, where = error.__traceback__, ""
    while trace is not None:  # the last frame is the one that called it
        code = trace.tb_frame.f_code
        where = f" in {Path(code.co_filename).name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    shown = "" if error.code is None else repr(error.code)
    return f"sys.exit({shown}) was called{where}"
