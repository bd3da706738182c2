"""A chart as one page that needs no network; all texts are escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.report.page.markup import esc, json_block
from heldout.report.page.runtime import chart_runtime, content_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["chart_page"]

_DRAW: Final = """
const read = (name) => JSON.parse(document.getElementById(name).textContent);
vegaEmbed("#drawing", read("chart"), {
  actions: false,
  ast: true,
  defaultStyle: false,
  mode: "vega-lite",
  renderer: "svg",
  tooltip: { disableDefaultStyle: true },
}).catch((error) => { document.getElementById("drawing").textContent = String(error); });
"""

_STYLE: Final = """
html { background: PAPER; color-scheme: SCHEME; }
body { margin: 1rem; font: 14px/1.4 system-ui, sans-serif; }
#vg-tooltip-element { position: fixed; visibility: hidden; padding: .4rem .5rem; z-index: 9;
  max-width: 30rem; color: CanvasText; background: Canvas; border: 1px solid GrayText; }
#vg-tooltip-element.visible { visibility: visible; }
#vg-tooltip-element td { padding: 0 .4rem 0 0; vertical-align: top; }
#vg-tooltip-element td.key { color: GrayText; }
"""


def chart_page(spec: Mapping[str, Any]) -> str:
    """One page with a chart in it.

    Parameters
    ----------
    spec
        Vega-Lite, with its configuration.
    """
    paper = str(spec.get("config", {}).get("background", "#ffffff"))
    dark = paper.lower() < "#8"
    style = _STYLE.replace("PAPER", paper).replace("SCHEME", "dark" if dark else "light")
    title = spec.get("title") or "Chart"
    shown = title.get("text", "Chart") if isinstance(title, dict) else title
    runtime = chart_runtime()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{esc(_policy(runtime, style))}">\n'
        f"<title>{esc(str(shown))}</title>\n<style>{style}</style></head>\n"
        '<body><main id="drawing"></main>\n'
        f"{json_block('chart', dict(spec))}\n"
        f"<script>{runtime}</script>\n<script>{_DRAW}</script>\n</body></html>\n"
    )


def _policy(runtime: str, style: str) -> str:
    # Vega sets styles of elements by script, which the policy does not touch.
    return content_policy([runtime, _DRAW], [style])
