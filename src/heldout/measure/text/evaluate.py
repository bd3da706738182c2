"""Evaluate texts of systems against references, paired by segment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.scores import Scores, fingerprint
from heldout.data.segments import Segments, Texts, pair_segments
from heldout.errors import InputError, MeasureError
from heldout.measure.base import Means, Order, as_sums
from heldout.measure.evaluation import Evaluation
from heldout.measure.names import parse_measures
from heldout.measure.text.packages import needs_references, signature
from heldout.notes import Note, distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from heldout.data.words import Floats
    from heldout.measure.base import Measure, Sums

DEFAULT_TEXT_MEASURES: Final = ("BLEU", "chrF")


def evaluate_texts(
    references: Segments | None,
    systems: Sequence[Segments],
    measures: Iterable[str | Measure] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Evaluate texts against references; None if no measure needs them, as for perplexity."""
    wanted = tuple(parse_measures(measures or DEFAULT_TEXT_MEASURES, "text"))
    _check_systems(systems)
    if references is None:
        for measure in wanted:
            if needs_references(measure):
                raise InputError(f"{measure} needs references, but there are none")
        references = systems[0]
    for segment, texts in zip(references.ids, references.texts, strict=True):
        if not texts:
            raise InputError(f"segment {segment} has no reference")
    if not references.ids:
        raise InputError("no segments given")
    paired = tuple(pair_segments(references, system) for system in systems)
    counted: dict[Any, Any] = {}  # what the measures count in the references, once for all systems
    data = {system.name: Texts(references, system, paired, counted) for system in paired}
    evaluation = Evaluation("text", wanted, data, truth=references).compute(progress)
    notes = distinct(note for measure in wanted for note in _notes(evaluation, measure))
    about = tuple(signature(measure, references.reference_count) for measure in wanted)
    return replace(evaluation, notes=notes, about=about)


def _notes(evaluation: Evaluation, measure: Measure) -> Iterator[Note]:
    """Yield warnings about segments without a value, and about different tokens."""
    units = evaluation.unit_scores(evaluation.names[0], measure)
    if isinstance(units, Means) and (undefined := np.count_nonzero(np.isnan(units.values))):
        where = f"{undefined:,} of {units.size:,} segments"
        yield Note("no-vectors", f"{measure}: {where}: {units.reason}; they are left out")
    systems = [texts.system for texts in evaluation.data.values()]
    counts = {system.name: sum(map(len, system.log_probs)) for system in systems}
    if not needs_references(measure) and len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        text = (
            f"the systems split the texts into different tokens ({shown}): perplexities per token "
            "are not comparable"
        )
        yield Note("different-tokens", text)


def _check_systems(systems: Sequence[Segments]) -> None:
    if not systems:
        raise InputError("no systems given")
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise InputError(f"duplicate system name: {again}")
    for system in systems:
        for segment, texts in zip(system.ids, system.texts, strict=True):
            if len(texts) != 1:
                problem = f"{len(texts)} texts, expected one"
                raise InputError(f"{system.name}, segment {segment}: {problem}")


def segment_sums(evaluation: Evaluation, measure: Measure) -> list[Sums]:
    """Return for each system the sums over segments that its score is computed from."""
    several = [evaluation.unit_scores(name, measure) for name in evaluation.names]
    if any(isinstance(units, Order) for units in several):
        raise MeasureError(f"{measure} is a function of texts, not of sums over segments")
    return [as_sums(units) for units in several if not isinstance(units, Order)]


def segment_scores(
    evaluation: Evaluation, measure: Measure, values: Floats | None = None
) -> Scores:
    """Return scores per segment, or other `values` of the segments, for comparisons."""
    names = evaluation.names
    if values is None:
        if measure.aggregate != "mean":
            raise MeasureError(
                f"{measure} of a corpus is not a mean over segments: compare the evaluation itself"
            )
        values = np.column_stack([evaluation.per_unit(name, measure) for name in names])
    defined = ~np.isnan(values).any(axis=1)
    ids, references = np.array(evaluation.units(), object), evaluation.truth
    parts = references.ids
    if needs_references(measure):
        parts = tuple(text for texts in references.texts for text in texts)
    systems = [evaluation.data[name].system for name in names]
    return Scores(
        str(measure),
        names,
        tuple(ids[defined].tolist()),
        values[defined],
        higher_is_better=measure.higher_is_better is not False,
        dropped=tuple(ids[~defined].tolist()),
        data=fingerprint(list(parts)),
        unit="segment",
        range=measure.range,
        outputs=tuple(hash((system.ids, system.texts, system.log_probs)) for system in systems),
    )
