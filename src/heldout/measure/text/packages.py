"""The packages that compute measures of texts, and signatures that say which version did."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

from heldout import __version__
from heldout.errors import MissingExtraError
from heldout.measure.base import Measure, show_value


def import_extra(module: str, what: str) -> Any:
    """Import a package of the extra ``text``, or raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("_", "-")
        raise MissingExtraError(
            f"{what} needs {package}, which is not installed: pip install '.[text]' in a clone of "
            f"heldout (or pip install {package})"
        ) from None


def versions(*packages: str) -> str:
    """Return the installed versions of packages, as in signatures."""
    return ",".join(f"{package}-{version(package)}" for package in packages)


def needs_references(measure: Measure) -> bool:
    """Return whether a measure compares texts with references: all but perplexity."""
    return measure.family != "Perplexity"


def signature(measure: Measure, references: str = "1") -> str:
    """Return name, references per segment, every parameter, and the software with its version."""
    labels = {"nrefs": references} if needs_references(measure) else {}
    definition = measure.definition
    labels |= definition.labels(**measure.parameters, **definition.fixed)
    labels["version"] = labels.pop("version", f"heldout-{__version__}")  # the last one
    return "|".join([measure.family, *(f"{key}:{_plain(value)}" for key, value in labels.items())])


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else show_value(value)
