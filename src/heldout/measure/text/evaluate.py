"""Evaluate texts of systems: statistics of every segment, for every measure and system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.scores import Scores, fingerprint
from heldout.data.segments import Segments, Texts, pair_segments
from heldout.errors import InputError, MeasureError
from heldout.measure.base import Means, Order, Sums, Undefined, as_sums
from heldout.measure.evaluation import Evaluation
from heldout.measure.names import parse_measures
from heldout.measure.text.packages import needs_references, signature
from heldout.notes import Note, distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from heldout.data.words import Floats
    from heldout.measure.base import Measure, Number, Task, UnitScores

    Given = Segments | Sequence[str | Sequence[str]]

__all__ = ["DEFAULT_TEXT_MEASURES", "TextEvaluation", "evaluate_text"]

DEFAULT_TEXT_MEASURES: Final = ("BLEU", "chrF")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextEvaluation(Evaluation):
    """Statistics of systems on the same segments.

    Parameters
    ----------
    references
        The references; without texts if there are none.
    systems
        The systems, in the order of the references.
    measures
        The measures.
    scored
        For each measure and system, the scores of segments.
    """

    references: Segments
    systems: tuple[Segments, ...]
    measures: tuple[Measure, ...]
    scored: tuple[tuple[UnitScores, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(one.name for one in self.systems)

    @property
    def task(self) -> Task:
        """Text."""
        return "text"

    def units(self, system: str | int = 0) -> tuple[str, ...]:
        """Return the ids of the segments."""
        del system
        return self.references.ids

    def sums(self, measure: str | Measure | int) -> tuple[Sums, ...]:
        """Return the sums that the score of each system is computed from."""
        scored = self.scored[self._measure(measure)]
        if any(isinstance(one, Order) for one in scored):
            raise MeasureError(f"{measure} is a function of texts, not of sums over segments")
        return tuple(as_sums(one) for one in scored if not isinstance(one, Order))

    def score(self, system: str | int, measure: str | Measure | int) -> float:
        """Return the score of a system on all segments; NaN where undefined."""
        return self.scored[self._measure(measure)][self._system(system)].value()

    def _value(self, system: int, measure: int) -> Number:
        units = self.scored[measure][system]
        score = units.value()
        return Undefined(units.why()) if math.isnan(score) else score

    def _per_unit(self, system: int, measure: int) -> Floats:
        return self.scored[measure][system].per_unit()

    def _rows(self, system: int, measure: int) -> tuple[list[str | None], Any]:
        if self.measures[measure].aggregate == "order":
            return Evaluation._rows(self, system, measure)  # noqa: SLF001 - super() needs no slots
        return list(self.references.ids), self._per_unit(system, measure)

    def signature(self, measure: str | Measure | int) -> str:
        """Return the signature of a measure with the number of references here."""
        found = self.measures[self._measure(measure)]
        return signature(found, self.references.reference_count)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Warnings about the scores."""
        return distinct(
            note
            for measure, scored in zip(self.measures, self.scored, strict=True)
            for note in _notes(measure, scored[0], self.systems)
        )

    def scores(self, measure: str | Measure | int = 0) -> Scores:
        """Return scores per segment for `heldout.compare`.

        The measure must be a mean over segments. Corpus BLEU, chrF, TER and perplexity are not:
        pass the evaluation itself to `heldout.compare`.
        """
        place = self._measure(measure)
        wanted = self.measures[place]
        if wanted.aggregate != "mean":
            raise MeasureError(
                f"{wanted} of a corpus is not a mean over segments: compare the evaluation itself"
            )
        columns = np.column_stack([self._per_unit(at, place) for at in range(len(self.systems))])
        defined = ~np.isnan(columns).any(axis=1)
        ids = np.array(self.references.ids)
        return Scores(
            str(wanted),
            self.names,
            tuple(ids[defined].tolist()),
            columns[defined],
            higher_is_better=wanted.higher_is_better is not False,
            dropped=tuple(ids[~defined].tolist()),
            data=fingerprint([text for texts in self.references.texts for text in texts]),
            unit="segment",
            range=wanted.range,
        )


def evaluate_text(
    references: Given | None,
    systems: Mapping[str, Given] | Iterable[Segments],
    measures: Iterable[str | Measure] = DEFAULT_TEXT_MEASURES,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> TextEvaluation:
    """Evaluate texts of systems against references.

    Parameters
    ----------
    references
        One or more texts per segment (a list of texts, or of lists of texts; or `Segments`); None
        if no measure needs them, as for perplexity.
    systems
        The texts of each system, by name.
    measures
        Names, see `heldout.parse_measure`.
    progress
        Called with the number of measures done and the number of all.

    Returns
    -------
    TextEvaluation
        Statistics of every segment, from which tests and intervals are computed.

    Examples
    --------
    >>> references = ["the cat sat on the mat", "two dogs"]
    >>> found = evaluate_text(references, {"A": ["the cat sat", "dogs"]}, ["ROUGE-1", "TokenF1"])
    >>> round(found.value("A", "ROUGE-1"), 4), found.per_unit("A", "TokenF1").round(4).tolist()
    (0.6667, [0.6667, 0.6667])
    """
    wanted = tuple(parse_measures(measures, "text"))
    if not wanted:
        raise MeasureError("no measures given")
    found = _systems(systems)
    if references is None:
        for one in wanted:
            if needs_references(one):
                raise InputError(f"{one} needs references, but there are none")
        base = found[0]
    else:
        made = references if isinstance(references, Segments) else Segments.of(references)
        base = _checked(made)
    paired = tuple(pair_segments(base, one) for one in found)
    counted: dict[Any, Any] = {}
    given = [Texts(base, system, paired, counted) for system in paired]
    scored = []
    for one in wanted:
        scored.append(tuple(one.units(texts) for texts in given))
        if progress:
            progress(len(scored), len(wanted))
    return TextEvaluation(base, paired, wanted, tuple(scored))


def _notes(measure: Measure, units: UnitScores, systems: tuple[Segments, ...]) -> Iterator[Note]:
    """Yield warnings about the scores of systems, of which the first has these."""
    if isinstance(units, Means):
        undefined = np.count_nonzero(np.isnan(units.values))
        if undefined:
            where = f"{undefined:,} of {units.size:,} segments"
            yield Note("no-vectors", f"{measure}: {where}: {units.reason}; they are left out")
    counts = {one.name: sum(map(len, one.log_probs)) for one in systems}
    if not needs_references(measure) and len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        text = (
            f"the systems split the texts into different tokens ({shown}): perplexities per token "
            "are not comparable"
        )
        yield Note("different-tokens", text)


def _systems(systems: Mapping[str, Given] | Iterable[Segments]) -> list[Segments]:
    if not hasattr(systems, "items"):
        found = list(systems)
    else:
        found = [
            one if isinstance(one, Segments) else Segments.of(one, name)
            for name, one in systems.items()
        ]
    if not found:
        raise InputError("no systems given")
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise InputError(f"duplicate system name: {again}")
    for one in found:
        wrong = next((at for at, texts in enumerate(one.texts) if len(texts) != 1), None)
        if wrong is not None:
            raise InputError(
                f"{one.name}, segment {one.ids[wrong]}: {len(one.texts[wrong])} texts, expected one"
            )
    return found


def _checked(references: Segments) -> Segments:
    for one, texts in zip(references.ids, references.texts, strict=True):
        if not texts:
            raise InputError(f"segment {one} has no reference")
    if not references.ids:
        raise InputError("no segments given")
    return references
