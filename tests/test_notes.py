"""Notes are data: the code comes from the object, and the text can be reworded freely."""

import pickle
from dataclasses import replace

from heldout import Note, Scores, compare
from heldout.notes import distinct
from heldout.report import tables, text
from heldout.report.page import page
from heldout.report.page.render import tables_page

FEW = Note("few-units", "only 5 units: little can be shown")
SPLIT = Note("split", "the split is test", "info", 2)


def comparison(measure="AP", notes=()):
    values = {"A": {str(n): n / 10 for n in range(6)}, "B": {str(n): n % 3 / 3 for n in range(6)}}
    return compare(Scores.of(values, measure, notes=notes), alternative="greater")


def copied(value):
    """What another process gets."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - made a moment ago


def test_notes_are_plain_values():
    assert copied(FEW) == FEW
    assert len({FEW, Note("few-units", FEW.text)}) == 1
    assert distinct([FEW, SPLIT, FEW]) == (FEW, SPLIT)
    assert str(FEW) == FEW.text
    assert FEW.of("A").text == f"A: {FEW.text}"
    own = comparison(notes=[Note("", "the moon is full")])  # of the user's, without a code
    assert own.warnings[0] == Note("", "the moon is full")
    assert "Warning: the moon is full.\n" in text(own)


def test_rewording_changes_no_code():
    found = comparison()
    codes = [one.code for one in found.warnings]
    assert codes[:2] == ["few-units", "one-tail"]
    notes = [replace(one, text=f"sentence number {at}") for at, one in enumerate(found.warnings)]
    other = replace(found, warnings=tuple(notes))
    assert [(one["code"], one["text"]) for one in other.to_dict()["warnings"]] == [
        (code, f"sentence number {at}") for at, code in enumerate(codes)
    ]
    lines = [f"Warning: sentence number {at}. [{code}]" for at, code in enumerate(codes)]
    for shown in (str(other), tables_page("tables", tables(other))):
        assert all(line in shown for line in lines)
    shown = page([other])
    assert all(f". <code>[{code}]</code></li>" in shown for code in codes)
    assert f">{len(codes)} warnings</a>" in shown
