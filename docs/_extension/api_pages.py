"""The directive ``public-names``: the public names of a package, from their docstrings.

``.. public-names:: infer`` documents every name of ``heldout.__all__`` whose home is in
``heldout.infer``, then the other names of ``heldout.infer`` itself; ``:modules:`` lists public
modules whose other names are documented below.
"""  # noqa: INP001

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

import heldout
from heldout.shown import Reported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx


class PublicNames(SphinxDirective):
    """Documents the public names of a room, and those of its public modules."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"modules": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Write what autodoc reads, and have it parsed."""
        room = f"heldout.{self.arguments[0]}"
        lines = [*_lines("heldout", _names_of(room)), *_lines(room, _other_names(room))]
        for module in self.options.get("modules", "").split():
            lines += _module_lines(f"{room}.{module}")
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _names_of(room: str) -> list[str]:
    """The names of the package whose home is in a room, or in a module of that name."""
    things = {name: getattr(heldout, name) for name in heldout.__all__}
    homes = {name: one.__module__ for name, one in things.items() if not inspect.ismodule(one)}
    return [name for name, home in homes.items() if f"{home}.".startswith(f"{room}.")]


def _other_names(module: str) -> list[str]:
    """Classes and functions of a module that are not names of the package already."""
    found = import_module(module)
    top = {id(getattr(heldout, name)) for name in heldout.__all__}
    own = [name for name, thing in vars(found).items() if _is_own(name, thing, module)]
    things = {name: getattr(found, name) for name in getattr(found, "__all__", own)}
    return [
        name
        for name, thing in things.items()
        if id(thing) not in top and (inspect.isclass(thing) or inspect.isroutine(thing))
    ]


def _is_own(name: str, thing: object, module: str) -> bool:
    return not name.startswith("_") and getattr(thing, "__module__", "") == module


def _module_lines(module: str) -> Iterator[str]:
    summary = (import_module(module).__doc__ or "").partition("\n")[0]
    yield from ("", module, "-" * len(module), "", f".. module:: {module}", "", summary, "")
    yield from _lines(module, _other_names(module))


def _lines(module: str, names: list[str]) -> Iterator[str]:
    if not names:
        return
    yield from (f".. currentmodule:: {module}", "", ".. autosummary::", "")
    yield from (f"   {name}" for name in names)
    yield ""
    for name in names:
        thing = getattr(import_module(module), name)
        if inspect.isclass(thing):
            yield from (f".. autoclass:: {name}", "   :members:", "")
            if issubclass(thing, Reported):
                yield from (f"   .. automethod:: {name}.report", "")
        else:
            yield from (f".. autofunction:: {name}", "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
