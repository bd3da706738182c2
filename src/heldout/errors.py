"""The errors of heldout.

* `HeldoutError`: all errors that a user can correct; the command line prints them and exits with 2.

  * `InputError`: a file or an object is not as expected.

    * `FormatError`: a line of a file cannot be read; names file and line.

      * `DuplicateError`: a document appears twice for one query.

  * `MeasureError`: the name or the parameters of a measure are wrong.
  * `MissingExtraError`: an optional package is not installed.
"""

from __future__ import annotations

__all__ = [
    "DuplicateError",
    "FormatError",
    "HeldoutError",
    "InputError",
    "MeasureError",
    "MissingExtraError",
    "cause_of",
    "failure",
]


class HeldoutError(Exception):
    """Base class of all errors; the message says what is wrong, where, and what to do."""


class InputError(HeldoutError):
    """A file or an object is not as expected."""


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


class DuplicateError(FormatError):
    """A document appears twice for one query.

    Parameters
    ----------
    where
        The place, as ``file:line``, or the run or qrels.
    query, doc
        Their ids.
    detail
        Added to the message: what differs, and where the document appeared first.
    """

    def __init__(self, where: str, query: str, doc: str, detail: str) -> None:
        what = f"document {doc} appears twice for query {query}{detail}: keep one of them"
        super().__init__(where, what)
        self.query = query
        self.doc = doc


class MeasureError(HeldoutError):
    """The name or the parameters of a measure are wrong."""


class MissingExtraError(HeldoutError):
    """An optional package is not installed."""


def cause_of(error: BaseException) -> str:
    """Return why code of a user failed, on one line.

    Examples
    --------
    >>> cause_of(ValueError("too short"))
    'ValueError: too short'
    >>> cause_of(SystemExit(0))
    'sys.exit(0) was called'
    """
    from pathlib import Path  # slow to import, not needed when a command starts

    trace, where, modules = error.__traceback__, "", set()
    while trace is not None:  # the last frame is the one that called it
        code = trace.tb_frame.f_code
        where = f" in {Path(code.co_filename).name}, line {trace.tb_lineno}"
        modules.add(str(trace.tb_frame.f_globals.get("__name__")))
        trace = trace.tb_next
    if not isinstance(error, SystemExit):
        said = str(error)
        cause = f"{type(error).__name__}: {said}" if said else type(error).__name__
        if not isinstance(error, Exception):
            return f"{cause} was raised{where}"
        if any(one.startswith("pyterrier.java") for one in modules):
            return (
                "it needs Java and the files of Terrier, which PyTerrier could not start or "
                f"download ({cause})"
            )
        return cause
    shown = "" if error.code is None else repr(error.code)
    return f"sys.exit({shown}) was called{where}"


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
