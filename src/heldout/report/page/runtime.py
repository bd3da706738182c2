"""The style and the scripts of a page, and the runtime that draws its charts."""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from heldout.compiled import cache_folder
from heldout.data.atomic import write_atomically
from heldout.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["asset", "chart_runtime", "content_policy"]

_SNIPPET: Final = "window.vegaEmbed = vegaEmbed;"


def asset(name: str) -> str:
    """A file of this package, with the line ends that a browser normalizes to."""
    text = files("heldout.report.page").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def chart_runtime() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; cached, because bundling takes seconds.

    Its source is the installed vl-convert-python: nothing is loaded from elsewhere.
    """
    kept = cache_folder() / f"vega-{version('vl-convert-python')}-v3.js"
    found = _kept(kept)
    if found is not None:
        return found
    import vl_convert  # slow to import

    made = _in_script(vl_convert.javascript_bundle(_SNIPPET))
    _keep(kept, made)
    return made


def _in_script(source: str) -> str:
    """A script that can be embedded in a page: only this word would end it."""
    return source.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _kept(path: Path) -> str | None:
    """The cached script, if it is unchanged: its hash is in the first line."""
    try:
        head, _, text = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, ValueError):
        return None
    return text if head == f"// {_digest(text)}" else None


def _keep(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as aside:
            aside.write_text(f"// {_digest(text)}\n{text}", encoding="utf-8", newline="\n")
    except (OSError, InputError):
        return  # the next page bundles again


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def content_policy(scripts: list[str], styles: list[str]) -> str:
    """What a browser may do with the page: run these scripts, use these styles, load nothing."""
    run = " ".join(f"'sha256-{_digest(one)}'" for one in scripts)
    look = " ".join(f"'sha256-{_digest(one)}'" for one in styles)
    return (
        f"default-src 'none'; script-src {run}; style-src {look}; base-uri 'none'; "
        "form-action 'none'"
    )
