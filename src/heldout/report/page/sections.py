"""The sections of a part: results, charts, units, tuning, folds, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.as_json import json_text
from heldout.notes import count_of
from heldout.report.page.markup import (
    copied,
    definitions,
    esc,
    folded,
    json_block,
    paragraphs,
    table_markup,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.notes import Note
    from heldout.report.page.parts import PageTable, Part

# Charts that are shown beside the tables of the same section; the others share one section.
_HOME: Final = {"tuning": "tuning", "optimism": "tuning"}

__all__ = ["Section", "answer_box", "last_sections", "part_sections"]


class Section(NamedTuple):
    """A section: its anchor, its heading, its markup."""

    name: str
    heading: str
    body: str


def answer_box(part: Part, name: str) -> str:
    """The headline, further sentences, and the number of warnings."""
    first, *more = part.answer or ("There is no result to report.",)
    parts = [f'<p class="claim">{esc(first)}</p>', paragraphs(more)]
    warnings = sum(note.severity == "warning" for note in part.checks)
    count = f'<a href="#{name}-checks">{count_of(warnings, "warning")}</a>'
    parts.append(f"<p>{count if warnings else 'No warnings.'}</p>" if part.answer else "")
    return f'<div class="answer">{"".join(parts)}</div>\n'


def part_sections(part: Part, name: str) -> list[Section]:
    """All sections of a part, except those at the end of the page."""
    made = [
        ("table", "Results", _tables(part.tables, f"{name}-table") + _about(part)),
        ("charts", "Charts", _charts(part, name)),
        ("units", _explorer_title(part), _explorer(part, name)),
        ("tuning", "Tuning", _tuning(part, name)),
        ("splits", "Folds", _splits(part, name)),
        ("checks", "Warnings", _checks(part)),
        ("ledger", "Ledger", _ledger(part, name)),
    ]
    return [Section(f"{name}-{key}", title, body) for key, title, body in made if body]


def _tables(tables: Sequence[PageTable], name: str) -> str:
    return "".join(table_markup(one, f"{name}-{at}") for at, one in enumerate(tables))


def _about(part: Part) -> str:
    if not part.about:
        return ""
    return folded("What these numbers mean", paragraphs(part.about), printed=True)


def _charts(part: Part, name: str, section: str = "") -> str:
    """Places for the charts of a section; the script draws them there."""
    figures = "".join(
        f'<figure id="{name}-{esc(one.key)}" class="chart"><p class="title">{esc(one.title)}</p>'
        f'<div class="drawing" tabindex="0" role="group" aria-label="{esc(one.title)}" '
        f'data-chart="{at}" data-part="{name}"></div>'
        f"<figcaption>{esc(one.caption)} "
        f'<span class="tools" hidden><button type="button" data-saves="svg">Save SVG</button> '
        f'<button type="button" data-saves="csv">Save data (CSV)</button></span>'
        "</figcaption></figure>\n"
        for at, one in enumerate(part.charts)
        if _HOME.get(one.key.partition("-")[0], "") == section
    )
    if not figures:
        return ""
    off = '<noscript><p class="hint">Charts need JavaScript, which is off.</p></noscript>'
    return f'<div class="charts">{figures}</div>\n{off}\n'


def _explorer_title(part: Part) -> str:
    noun = part.units["noun"][0] if part.units else "unit"
    return f"{noun.capitalize()} by {noun}"


def _explorer(part: Part, name: str) -> str:
    """A place for the table that the script makes, and its data."""
    if part.units is None:
        return ""
    many = part.units["noun"][1]
    blocks = json_block(f"{name}-data", part.units)
    if part.rankings is not None:
        blocks += json_block(f"{name}-rankings", part.rankings)
    return (
        f'<div class="explorer" data-explorer="{name}"></div>\n'
        f'<noscript><p class="hint">The table of {len(part.units["units"]):,} {esc(many)} needs '
        f"JavaScript, which is off. Source of the values: {esc(part.units['source'])}.</p>"
        f"</noscript>\n{blocks}\n"
    )


def _tuning(part: Part, name: str) -> str:
    return _tables(part.tuning, f"{name}-tuning") + _charts(part, name, "tuning")


def _splits(part: Part, name: str) -> str:
    return paragraphs(part.splits_about) + _tables(part.splits, f"{name}-splits")


def _ledger(part: Part, name: str) -> str:
    return "" if part.looks is None else table_markup(part.looks, f"{name}-looks")


def _checks(part: Part) -> str:
    if not part.checks:
        return "<p>No warnings.</p>\n"
    items = "".join(
        f"<li>{one.label.capitalize()}: {esc(one.text)}.{_code(one)}</li>\n" for one in part.checks
    )
    return f'<ul class="checks">\n{items}</ul>\n'


def _code(note: Note) -> str:
    """The code under which the documentation explains a note."""
    return f" <code>[{esc(note.code)}]</code>" if note.code else ""


def last_sections(
    parts: Sequence[Part], made: Sequence[tuple[str, str]], bibtex: str
) -> list[Section]:
    """Provenance and citations."""
    return [
        Section("provenance", "Provenance", _provenance(parts, made)),
        Section("cite", "Cite this", _cite(bibtex)),
    ]


def _provenance(parts: Sequence[Part], made: Sequence[tuple[str, str]]) -> str:
    found = [definitions(made)] if made else []
    for at, part in enumerate(parts):
        body = definitions(part.provenance)
        if part.record:
            text = json_text(part.record)
            body += folded("All settings (manifest.json)", copied(f"record-{at}", text))
        found.append(f"<h3>{esc(part.heading)}</h3>\n{body}" if len(parts) > 1 else body)
    return "".join(found)


def _cite(bibtex: str) -> str:
    return "<p>The software and the methods behind these numbers:</p>\n" + copied("bibtex", bibtex)
