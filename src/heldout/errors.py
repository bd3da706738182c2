"""What can go wrong, as one small tree.

* `HeldoutError`: everything a user can mend; the command line prints its text and exits with 2.

  * `InputError`: a file or an object that was brought in is not what it must be.

    * `FormatError`: a line of a file cannot be read; names file and line.
    * `DuplicateError`: a document stands twice for one query.

  * `MeasureError`: a measure's name or parameters are not known or do not fit.
  * `MissingExtraError`: an optional package is needed and is not installed.
"""

from __future__ import annotations

__all__ = [
    "DuplicateError",
    "FormatError",
    "HeldoutError",
    "InputError",
    "MeasureError",
    "MissingExtraError",
]


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
