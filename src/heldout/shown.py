"""How results are shown; `heldout.report` reads them and is imported when one is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os


class Shown:
    """A result that can be printed, and looks well in a notebook."""

    __slots__ = ()

    def __str__(self) -> str:
        from heldout.report import text

        return text(self).rstrip()

    def _repr_html_(self) -> str:
        from heldout.notebook import html

        return html(self)


class Reported(Shown):
    """A result that can be written as a page."""

    __slots__ = ()

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        collection: Any = None,
        ledger: str | None = None,
    ) -> None:
        """Write a self-contained HTML page in which every number can be traced to its source.

        Parameters
        ----------
        path
            The file to write.
        title
            By default the question that the page answers.
        collection
            Where the texts of queries and documents are, to show them.
        ledger
            The file of a ledger, to show its evaluations on these data.
        """
        from heldout.report.page import page
        from heldout.report.page.render import write_page

        write_page(path, page([self], title=title, collection=collection, ledger=ledger))
