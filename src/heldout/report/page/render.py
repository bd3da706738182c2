"""The whole page: one file that loads nothing from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout import __version__
from heldout.data.atomic import write_atomically
from heldout.report.page.citations import bibliography
from heldout.report.page.drawn import chart_themes, drawn
from heldout.report.page.markup import esc, json_block
from heldout.report.page.runtime import asset, chart_runtime, content_policy
from heldout.report.page.sections import Section, answer_box, last_sections, part_sections

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from heldout.report.page.parts import Part

__all__ = ["render_page", "write_page"]


def render_page(title: str, parts: Sequence[Part], *, made: Sequence[tuple[str, str]] = ()) -> str:
    """One self-contained page.

    Parameters
    ----------
    title
        The question.
    parts
        Experiments and comparisons, in order.
    made
        Names and values about the page itself, such as its command.
    """
    names = [f"part-{at}" for at in range(1, len(parts) + 1)]
    charts = {name: drawn(part.charts) for name, part in zip(names, parts, strict=True)}
    style, script = asset("page.css"), _script()
    runtime = chart_runtime() if any(charts.values()) else ""
    scripts = [one for one in (runtime, script) if one]
    bibtex = bibliography([key for part in parts for key in _methods(part)])
    last = last_sections(parts, made, bibtex)
    sections = [part_sections(part, name) for part, name in zip(parts, names, strict=True)]
    body = [
        _top(title, parts, names, sections),
        *map(_part, parts, names, sections, [len(parts) == 1] * len(parts)),
        *(_section(one, 2) for one in last),
        "</main>",
        _data(charts),
        *(f"<script>{one}</script>" for one in scripts),
    ]
    policy = content_policy(scripts, [style])
    head = (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="heldout {__version__}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{esc(title)}</title>\n<style>{style}</style>"
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n'
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _methods(part: Part) -> list[str]:
    """The methods of a part, with the corrections of its ledger."""
    return [*part.methods, *([] if part.looks is None else ["holm"])]


def _script() -> str:
    return "".join(asset(name) for name in ("page.js", "explorer.js", "panel.js"))


def _data(charts: dict[str, list[dict[str, Any]]]) -> str:
    if not any(charts.values()):
        return ""
    return json_block("charts", {"themes": chart_themes(), "parts": charts})


def _top(
    title: str,
    parts: Sequence[Part],
    names: Sequence[str],
    sections: Sequence[Sequence[Section]],
) -> str:
    """The title, the links and the headlines of all parts."""
    answers, links = [], []
    for part, name, own in zip(parts, names, sections, strict=True):
        label = f"<h2>{esc(part.heading)}</h2>\n" if len(parts) > 1 else ""
        answers.append(f"<section>{label}{answer_box(part, name)}</section>\n")
        inner = "".join(_link(one.name, one.heading) for one in own)
        if len(parts) > 1:
            inner = f'<li><a href="#{name}">{esc(part.heading)}</a><ul>{inner}</ul></li>'
        links.append(inner)
    links += [_link("provenance", "Provenance"), _link("cite", "Cite this")]
    theme = '<button type="button" id="theme" hidden>Dark mode</button>'
    return (
        '<a class="skip" href="#answer">Skip to the answer</a>\n'
        f"<header><h1>{esc(title)}</h1>{theme}</header>\n"
        f'<nav aria-label="Sections"><ul>{"".join(links)}</ul></nav>\n'
        f'<main>\n<div id="answer" tabindex="-1">\n{"".join(answers)}</div>'
    )


def _link(name: str, words: str) -> str:
    return f'<li><a href="#{name}">{esc(words)}</a></li>'


def _part(part: Part, name: str, sections: Sequence[Section], alone: bool) -> str:
    inner = [_section(one, 2 if alone else 3) for one in sections]
    if alone:
        return "".join(inner)
    return (
        f'<section id="{name}" class="part" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{esc(part.heading)}</h2>\n{"".join(inner)}</section>\n'
    )


def _section(section: Section, level: int) -> str:
    return (
        f'<section id="{section.name}" aria-labelledby="{section.name}-title">'
        f'<h{level} id="{section.name}-title">{esc(section.heading)}</h{level}>\n'
        f"{section.body}</section>\n"
    )


def write_page(path: str | os.PathLike[str], page: str) -> None:
    """Write a page; an existing file is replaced once everything is written."""
    with write_atomically(path) as aside:
        # Names of files in other encodings may hold half a character: replace it.
        aside.write_text(page, encoding="utf-8", errors="replace", newline="\n")
