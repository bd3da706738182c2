"""A page as one file that loads nothing: a template, scripts, and a policy that names them."""

from __future__ import annotations

import base64
import hashlib
import re
from contextlib import suppress
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from heldout import __version__
from heldout.compiled import cache_folder
from heldout.data.atomic import write_atomically
from heldout.errors import InputError
from heldout.report.table import printable

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from heldout.report.charts.draw import Chart
    from heldout.report.page.content import Part
    from heldout.report.table import Table

SCRIPTS: Final = ("page.js", "explorer.js", "panel.js")


def asset(name: str) -> str:
    """A template, script or style of this folder."""
    return files("heldout.report.page").joinpath(name).read_text(encoding="utf-8")


def render(
    title: str,
    parts: Sequence[Part],
    *,
    made: Sequence[tuple[str, str]] = (),
    bibtex: str = "",
    dark: bool = False,
) -> str:
    """The page of some parts; `made` are names and values about the page itself."""
    charts: dict[str, Any] = {}
    style, scripts = asset("page.css"), ["".join(map(asset, SCRIPTS))]
    if any(part.charts for part in parts):
        from heldout.report.charts.draw import theme

        themes = {name: theme(dark=name == "dark", transparent=True) for name in ("light", "dark")}
        specifications = [[chart.specification() for chart in part.charts] for part in parts]
        charts = {"themes": themes, "parts": specifications}
        scripts.insert(0, chart_runtime())
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return fill(
        "page.html.j2",
        title=title,
        parts=parts,
        made=made,
        bibtex=bibtex,
        dark=dark,
        version=__version__,
        style=style,
        scripts=scripts,
        # Run these scripts, use this style, load nothing.
        policy=f"default-src 'none'; script-src {allowed}; style-src 'sha256-{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'",
        charts=charts,
        picture=picture,
    )


def fill(template: str, **fields: Any) -> str:
    """A template with its fields; every text is escaped, and freed of control characters."""
    import jinja2  # slow to import

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,  # a misspelt field is an error, not a blank
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    as_json = {"allow_nan": False, "ensure_ascii": False, "separators": (",", ":")}
    environment.policies["json.dumps_kwargs"] = as_json
    return str(environment.get_template(template).render(fields))


def chart_page(drawing: Any) -> str:
    """A page with nothing but a drawing of Altair; it starts dark if the drawing is."""
    import altair as alt
    import polars as pl

    from heldout.report.charts.draw import Chart, theme
    from heldout.report.page.content import Part

    spec, bare = drawing.to_dict(), drawing.copy(deep=True)
    words = spec.get("title", "Chart")
    words = words if isinstance(words, dict) else {"text": words}
    title, caption = str(words["text"]), " ".join(words.get("subtitle", []))
    bare.title = alt.Undefined
    themes = [alt.Config.from_dict(theme(dark=dark)) for dark in (False, True)]
    if drawing.config in themes:  # else it is not a theme of the page, and kept
        bare.config = alt.Undefined
    chart = Chart("chart", title, caption, pl.DataFrame(), bare)
    return render(title, [Part(title, charts=[chart])], dark=drawing.config == themes[1])


def tables_page(title: str, tables: Sequence[Table]) -> str:
    """A page with nothing but tables."""
    from heldout.report.page.content import Block, Part

    return render(title, [Part(title, tables=[Block(table) for table in tables])])


def write_page(path: str | os.PathLike[str], page: str) -> None:
    """Write a page; an existing file is replaced once everything is written."""
    with write_atomically(path) as aside:
        # Names of files in other encodings may hold half a character: replace it.
        aside.write_text(page, encoding="utf-8", errors="replace", newline="\n")


def picture(chart: Chart, name: str) -> str:
    """A chart as SVG, for print and until it is drawn; `name` is unique in the page."""
    plain = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", chart.picture)  # its place has the words
    return re.sub(r'( id="|url\(#)', rf"\g<1>{name}-", plain)


def chart_runtime() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, cached: bundling takes a second."""
    kept = cache_folder() / f"vega-{version('vl-convert-python')}-v3.js"
    with suppress(OSError, ValueError):
        head, _, text = kept.read_text(encoding="utf-8").partition("\n")
        if head == f"// {_digest(text)}":  # it is as it was written
            return text
    import vl_convert  # slow to import

    text = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("\r\n", "\n")
    # Only these words would end or hide a script within a page.
    text = text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with suppress(OSError, InputError):  # else the next page bundles again
        kept.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(kept) as aside:
            aside.write_text(f"// {_digest(text)}\n{text}", encoding="utf-8", newline="\n")
    return text


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
