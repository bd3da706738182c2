"""Results as one plain page: tables and sentences, no script, nothing loaded from elsewhere."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from heldout.report.claims import html_claims
from heldout.report.experiment import comparisons, result_rows, result_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.results import Results

__all__ = ["results_page"]

_STYLE = """
:root { color-scheme: light dark; --line: #9994; --soft: #8882; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; }
body { padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.4rem; }
.answer { font-size: 1.1rem; padding: .8rem 1rem; background: var(--soft); border-radius: .4rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
td { white-space: nowrap; } th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; } code { font-size: .85em; overflow-wrap: anywhere; }
footer { margin-top: 3rem; color: GrayText; font-size: .85rem; }
@media print { body { max-width: none; margin: 0; } }
"""


def results_page(title: str, answer: Sequence[str], parts: Sequence[tuple[str, Results]]) -> str:
    """One self-contained page.

    Parameters
    ----------
    title
        Of the page.
    answer
        What was found, in sentences: it stands on top.
    parts
        Heading and results of each experiment.
    """
    body = [f"<h1>{html.escape(title)}</h1>"]
    body += [f'<p class="answer">{html.escape(one)}</p>' for one in answer]
    for heading, results in parts:
        body.append(f"<h2>{html.escape(heading)}</h2>")
        body += [_table(result_rows(results, measure)) for measure in results.measures]
        body += [f"<p>{html.escape(line)}</p>" for line in result_sentences(results)]
        for one in comparisons(results):
            body.append(f"<h3>Compared on held-out {html.escape(one.scores.measure)}</h3>")
            body.append(f'<div class="wide">{html_claims(one)}</div>')
    body.append(_provenance([results for _, results in parts]))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{chr(10).join(body)}\n</body></html>\n"
    )


def _table(rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in rows[0])
    lines = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows[1:]
    )
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _provenance(results: Sequence[Results]) -> str:
    """Where every number came from."""
    first = results[0].manifest
    collection = first["settings"]["collection"]
    size = (
        f"Collection {collection['name']}: {collection['documents']:,} documents, "
        f"{collection['queries']:,} queries, {collection['judgements']:,} judgements."
    )
    lines = [
        size,
        "Versions: " + ", ".join(f"{name} {one}" for name, one in first["versions"].items()) + ".",
        "Policies: " + "; ".join(f"{name}: {one}" for name, one in first["policies"].items()) + ".",
    ]
    lines += [
        f"Fingerprints ({one.manifest['settings']['by']} plan): "
        + ", ".join(f"{name} {value[:16]}" for name, value in one.manifest["fingerprints"].items())
        + f"; seed {one.manifest['settings']['seed']}."
        for one in results
    ]
    return "<footer>" + "".join(f"<p>{html.escape(line)}</p>" for line in lines) + "</footer>"
