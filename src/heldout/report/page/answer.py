"""The headline of a page: what was found, in one sentence, with its uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.report.page.board import bracket
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from heldout.report.page.board import Board, Gap, Row

__all__ = ["board_answer", "question"]

SHOWN: Final = 8
"""Systems that are named in one sentence; the table has them all."""


def question(systems: tuple[str, ...], data: str) -> str:
    """The title of a page: what was asked.

    Examples
    --------
    >>> question(("A", "B"), "cran"), question(("A",), "cran")
    ('Which is better on cran: A or B?', 'How good is A on cran?')
    >>> question(("A", "B", "C"), "cran")
    'Which of 3 systems is best on cran?'
    """
    where = f" on {data}" if data else ""
    if len(systems) == 1:
        return f"How good is {systems[0]}{where}?"
    if len(systems) == 2:
        return f"Which is better{where}: {systems[0]} or {systems[1]}?"
    return f"Which of {len(systems)} systems is best{where}?"


def board_answer(board: Board, where: str) -> tuple[str, ...]:
    """The headline, then who else is to be named.

    Parameters
    ----------
    board
        The systems, sorted.
    where
        What the scores are for, such as ``on new documents``.
    """
    if len(board.rows) == 1 or not board.gaps:
        return (_alone(board, where),)
    if len(board.gaps) == 1:
        return (_pair(board, board.ordered()[0], where),)
    if board.baseline is not None:
        return _against(board, where)
    return _best(board, where)


def _alone(board: Board, where: str) -> str:
    """The first row by itself: other systems, if there are any, were not compared with it."""
    row = board.rows[0]
    measure = plain_text(board.measure)
    if row.value is None:
        return f"{measure} of {plain_text(row.name)} is undefined{_after(where)}."
    if len(board.rows) > 1:
        return (
            f"{plain_text(row.name)} has the best {measure} of {len(board.rows)} systems"
            f"{_after(where)}: {_score(row)}; the systems were not compared with a test."
        )
    return f"{plain_text(row.name)} reaches {measure} {_score(row)}{_after(where)}."


def _after(where: str) -> str:
    return f" {where}" if where else ""


def _score(row: Row) -> str:
    if row.value is None:
        return "undefined"
    interval = "" if row.low is None else f" {bracket(row.low, row.high)}"
    return f"{row.value:z.4f}{interval}"


def _pair(board: Board, better: Gap, where: str) -> str:
    """Two systems: which is better, both scores and the difference."""
    gap = board.gaps[0] if board.one_sided else better
    first, second = plain_text(gap.first), plain_text(gap.second)
    measure = plain_text(board.measure)
    if gap.counts is not None and gap.counts[0] + gap.counts[2] == 0:
        return f"{first} and {second} have identical {measure} scores{_after(where)}."
    means = [board.row(name).value for name in (gap.first, gap.second)]
    scores = " vs ".join("undefined" if one is None else f"{one:.4f}" for one in means)
    numbers = f"{measure} {scores}, {_difference(gap)}{_direction(board)}"
    return f"{_verdict(board, gap, first, second)}{_after(where)}: {numbers}."


def _verdict(board: Board, gap: Gap, first: str, second: str) -> str:
    if gap.mixed:
        return f"{first} and {second} differ, but wins and means point in different directions,"
    if gap.significant:
        better = (gap.estimate > 0) == board.up
        return f"{first} is {'better' if better else 'worse'} than {second}"
    if board.one_sided:
        return f"{first} is not significantly {board.one_sided} than {second}"
    return f"No significant difference between {first} and {second}"


def _difference(gap: Gap) -> str:
    return f"{gap.estimate:+z.4f} {bracket(gap.low, gap.high)}"


def _direction(board: Board) -> str:
    return "" if board.up else " (lower is better)"


def _best(board: Board, where: str) -> tuple[str, ...]:
    """Of many systems the best, and which of the others it beats."""
    best = board.row(board.reference or board.rows[0].name)
    others = board.differences()
    open_ = [name for name, gap in others.items() if not gap.significant or gap.mixed]
    open_.sort(key=[row.name for row in board.rows].index)
    beaten, count = len(others) - len(open_), len(others)
    place = "highest" if board.up else "lowest"
    lead = (
        f"{plain_text(best.name)} has the {place} {plain_text(board.measure)} of {count + 1} "
        f"systems{_after(where)}, {_score(best)}"
    )
    if not open_:
        return (f"{lead}, and is significantly better than all others.",)
    if not beaten:
        return (f"{lead}, but no difference to the others is significant.",)
    than = "1 other" if beaten == 1 else f"{beaten} of the other {count}"
    return (
        f"{lead}, and is significantly better than {than}.",
        f"Not significantly different from {plain_text(best.name)}: {_few(open_)}.",
    )


def _against(board: Board, where: str) -> tuple[str, ...]:
    """How many systems are better and worse than the baseline, and which."""
    base = plain_text(board.baseline or "")
    found: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for name, gap in board.differences().items():
        kind = "better" if (gap.estimate > 0) == board.up else "worse"
        found[kind if gap.significant and not gap.mixed else "open"].append(name)
    count = sum(map(len, found.values()))
    parts = [
        f"{len(names)} {'is' if len(names) == 1 else 'are'} {words}"
        for kind, words in (
            ("better", "better"),
            ("worse", "worse"),
            ("open", "not significantly different"),
        )
        if (names := found[kind])
    ]
    score = _score(board.row(board.baseline or ""))
    lead = (
        f"Of {count} systems compared with {base} ({plain_text(board.measure)} {score})"
        f"{_after(where)}, {_joined(parts)}."
    )
    named = [
        f"{words}: {_few(_with_gaps(board, found[kind]))}."
        for kind, words in (("better", "Better"), ("worse", "Worse"))
        if found[kind]
    ]
    return (lead, *named)


def _with_gaps(board: Board, names: list[str]) -> list[str]:
    gaps = board.differences()
    return [f"{name} ({gaps[name].estimate:+z.4f})" for name in names]


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(plain_text, names[:SHOWN])) + more
