"""Names of measures: one grammar for all tasks. No part of a name is evaluated as code.

    names     = name {(blank | ";") name}
    name      = stem ["(" argument {"," argument} ")"] ["@" cutoff | "@[" cutoff {"," cutoff} "]"]
    argument  = choice | parameter "=" value         F1(macro), AP(rel=2), nDCG(gains={1: 3, 2: 9})

A stem is a measure's name, an alias of it (of ir_measures, scikit-learn, sacrebleu, …), or either
with a choice behind it (``f1_macro``); case, ``-`` and ``_`` do not matter. Of several measures
with the same stem those are meant that can have (or lack) the cutoff, then those whose name it is,
letter by letter, then those whose name rather than alias it is: ``recall@10`` is of rankings,
``recall`` of classes. trec_eval's names are known, too: ``ndcg_cut_10``, ``P.5,10``, ``official``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import Argument, MeasureError
from heldout.measure.base import TASKS, Measure, definitions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.measure.base import Definition, Gains, Parameter, Task, Value

    Given = str | Measure
    Several = str | Measure | Iterable[str | Measure]

_NUMBER: Final = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NAME: Final = re.compile(
    rf"""\s* (?P<stem>(?:sklearn:)?[\w+²-]+)
         \s* (?: \( (?P<arguments> (?: [^()'"] | '[^']*' | "[^"]*" )* ) \) )?
         \s* (?: @ \s* (?: (?P<cutoff>{_NUMBER}) | \[ (?P<cutoffs>[^]]*) \] ) )?
         (?: \s* ; | \s+ | $ )""",
    re.VERBOSE,
)
_TREC: Final = re.compile(r"\s*([^\s;()@]+)(?:\s*;|\s+|$)")
_ARGUMENT: Final = re.compile(
    r"""\s* (?: (?P<key>\w+) \s* = \s* )?
        (?P<value> '[^']*' | "[^"]*" | \{[^}]*\} | [^,'"={}\s](?:[^,'"={}]*[^,'"={}\s])? )
        \s* (?: , | $ )""",
    re.VERBOSE,
)
_MOST_DIGITS: Final = 20  # Python limits their number, and no parameter needs more


def parse_measure(name: Given, task: str | None = None) -> Measure:
    """Parse the name of one measure.

    Parameters
    ----------
    name
        As for `parse_measures`.
    task
        Task of the measure, if its name is ambiguous.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10"), parse_measure("f1_macro"), parse_measure("chrF2")
    (Measure('nDCG@10'), Measure('F1(macro)'), Measure('chrF'))
    >>> parse_measure("P(rel=2)@5") == parse_measure("P@5")
    False
    """
    measures = parse_measures([name], task)
    if len(measures) != 1:
        raise MeasureError(f"{name!r} names {len(measures)} measures, expected one")
    return measures[0]


def parse_measures(names: Several, task: str | None = None, **defaults: Value) -> list[Measure]:
    """Parse names, some of which may denote several measures (``P@[5,10]``, ``official``).

    Parameters
    ----------
    names
        One or several; measures of ir_measures (``nDCG @ 10``) are accepted too.
    task
        Task of the measures: ``ranking``, ``classification``, ``regression`` or ``text``. Not
        needed for names that are known in one task only.
    defaults
        Parameters for all names that do not set them, e.g. ``rel=2``. A `Measure` is not changed:
        all its parameters are set.

    Examples
    --------
    >>> parse_measures("P@[1,5] BLEU RMSE")
    [Measure('P@1'), Measure('P@5'), Measure('BLEU'), Measure('RMSE')]
    """
    if task not in (None, *TASKS):
        raise MeasureError(f"expected one of {', '.join(TASKS)}", argument="task", value=task)
    measures: dict[Measure, None] = {}  # a set that keeps the order
    for given in listed_measures(names):
        if isinstance(given, Measure):
            if task not in (None, given.task):
                raise MeasureError(f"{given} is a measure of {given.task}, not of {task}")
            measures[given] = None
        elif is_function(given):
            from heldout.measure.custom import measure_of  # rarely needed

            measures[measure_of(given, task)] = None
        else:
            for measure in _parse(given, task, defaults):
                measures[measure] = None
    return list(measures)


def listed_measures(given: Any) -> list[Any]:
    """Return measures as a list, given one or several."""
    if is_one_measure(given):
        return [given]
    if not isinstance(given, Iterable):
        raise MeasureError(f"{given!r} is not a measure: give a name such as nDCG@10, or a list")
    return list(given)


def is_one_measure(given: object) -> bool:
    """Return whether this is a single measure or name, not several."""
    return isinstance(given, Measure) or _is_name(given) or callable(given)


def is_function(given: object) -> bool:
    """Return whether this is a function of a user: callable, and nothing else."""
    return callable(given) and not isinstance(given, Measure) and not _is_name(given)


def _is_name(given: object) -> bool:
    """Return whether this is a name: text, of `heldout.measures`, or an object of ir_measures."""
    modules = {kind.__module__.split(".measures")[0] for kind in type(given).__mro__}
    return isinstance(given, str) or bool(modules & {"heldout", "ir_measures"})


def _parse(given: object, task: str | None, defaults: Mapping[str, Value]) -> Iterator[Measure]:
    """Return the measures in a text of names."""
    for match, group in _tokens(given):
        if group:
            if task not in (None, "ranking"):
                raise MeasureError(_unknown(match[1], task))
            from heldout.measure.ranking.trec_names import parse_trec_name

            yield from parse_trec_name(match[1], defaults)
            continue
        cutoffs = _cutoffs(match)
        stem = match["stem"]
        known = meant(stem, (task,) if task else TASKS, has_cutoff=bool(cutoffs))
        if not known:
            raise MeasureError(_unknown(match[0].strip(), task))
        if len(known) > 1:
            tasks = " and of ".join(each.task for each in known)
            raise MeasureError(
                f"{stem} is a measure of {tasks}: choose one with ", Argument("task", "…")
            )
        try:
            params = _arguments(known[0], match["arguments"] or "")
        except MeasureError as error:
            raise MeasureError(f"{match[0].strip()!r}: {error}") from None
        params |= _choice_in(known[0], stem)
        several: list[float | None] = [*cutoffs] or [None]
        yield from (known[0].make(params, defaults, cutoff) for cutoff in several)


def _tokens(given: object) -> Iterator[tuple[re.Match[str], bool]]:
    """Split a text into names; each with whether it is one of trec_eval's."""
    from heldout.measure.ranking.trec_names import is_trec_name

    if not _is_name(given):
        raise MeasureError(f"{given!r} is not the name of a measure: give a string such as 'AP'")
    text, place = str(given), 0
    while place < len(text.rstrip()) or not place:
        match = _TREC.match(text, place)
        if match is not None and is_trec_name(match[1]) and not _needs_cutoff(match[1]):
            yield match, True
        else:
            match = _NAME.match(text, place)
            if match is None:
                raise MeasureError(_unreadable(text[place:].strip()))
            yield match, False
        place = match.end()


def _cutoffs(match: re.Match[str]) -> list[float]:
    listed = [part.strip() for part in (match["cutoffs"] or match["cutoff"] or "").split(",")]
    if listed == [""] and match["cutoffs"] is None:
        return []
    for part in listed:
        if not re.fullmatch(_NUMBER, part):
            raise MeasureError(f"{match[0].strip()!r}: the cutoff {part!r} is not a number")
    return list(map(float, listed))


def _needs_cutoff(stem: str) -> bool:
    """Return whether a stem is one of rankings only with a cutoff: P, recall."""
    return any(
        each.cutoff in {"rank", "recall"} for each in spelled(("ranking",)).get(plain(stem), ())
    )


# Arguments


def _arguments(definition: Definition, text: str) -> dict[str, Value]:
    """Read what is between the brackets."""
    parameters = {parameter.name: parameter for parameter in definition.parameters}
    choices = [(word, each.name) for each in definition.parameters for word in each.choices]
    # A word that fits two parameters (none: smooth and tokenize of BLEU) needs a name before it.
    every = [word for word, _ in choices]
    words = {word: name for word, name in choices if every.count(word) == 1}
    given: dict[str, Value] = {}
    place = 0
    while place < len(text.rstrip()):
        match = _ARGUMENT.match(text, place)
        key = None if match is None else match["key"]
        if match is None or not (key or words):
            raise MeasureError(f"cannot read {text[place:].strip()!r}, expected parameter=value, …")
        place, value = match.end(), match["value"]
        if key is None:
            key = words.get(value.strip("'\""))
        if key is None:
            raise MeasureError(f"{value!r} is not one of {', '.join(words)}")
        if key in given:
            raise MeasureError(f"{key} is given twice")
        given[key] = _value(parameters.get(key), value)
    return given


def _value(parameter: Parameter | None, text: str) -> Value:
    if text[0] in "'\"":
        return text[1:-1]
    if text[0] == "{":
        return _gains(text[1:-1])
    constants = {"True": True, "False": False, "None": None}
    is_text = parameter is not None and parameter.kind is str
    if is_text or not (text in constants or re.fullmatch(f"[+-]?{_NUMBER}", text)):
        return text  # also the name of a class that is a number, such as 05
    if text in constants:
        return constants[text]
    if len(text) > _MOST_DIGITS:
        raise MeasureError(f"the number {text[:20]}… is too large")
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _gains(text: str) -> Gains:
    gains: dict[int, float] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(rf"([+-]?\d{{1,9}})\s*[:=]\s*([+-]?{_NUMBER})", pair)
        if match is None:
            raise MeasureError(f"cannot read the gain {pair!r}, expected grade: gain")
        if int(match[1]) in gains:
            raise MeasureError(f"grade {match[1]} has two gains")
        gains[int(match[1])] = float(match[2])
    return tuple(sorted(gains.items()))


# Stems


@cache
def plain(spelling: str) -> str:
    """Return a spelling without what does not matter."""
    return re.sub("[-_]", "", spelling.strip().lower()).replace("²", "2")


def spelled(tasks: Sequence[str] = TASKS) -> dict[str, list[Definition]]:
    """Return every spelling, and the measures that it can mean."""
    table: dict[str, list[Definition]] = {}
    for task in tasks:
        for each in definitions(task).values():
            for spelling in {plain(name): None for name in (each.name, *each.aliases)}:
                table.setdefault(spelling, []).append(each)
    return table


def _choice_in(definition: Definition, stem: str) -> dict[str, Value]:
    """Return the choice behind a stem, as in ``f1_macro``; empty if there is none."""
    if plain(stem) in map(plain, (definition.name, *definition.aliases)):
        return {}
    choice = stem.rpartition("_")[2]
    return {each.name: choice for each in definition.parameters if choice in each.choices}


def meant(stem: str, tasks: Sequence[str] = TASKS, *, has_cutoff: bool) -> list[Definition]:
    """Return the measures that a stem means; several if only the task can tell."""
    if stem.startswith("sklearn:"):
        from heldout.measure.custom import sklearn_definition  # rarely needed

        able = [task for task in tasks if task in {"classification", "regression"}]
        return [sklearn_definition(task, stem) for task in able]
    table = spelled(tasks)
    front, _, choice = stem.rpartition("_")
    known = table.get(plain(stem)) or [
        each
        for each in table.get(plain(front), ())
        if any(choice in parameter.choices for parameter in each.parameters)
    ]
    refused = ("none",) if has_cutoff else ("rank", "recall")
    fitting = [each for each in known if each.cutoff not in refused] or known
    named = [each for each in fitting if plain(each.name) == plain(stem)]
    return [each for each in named if each.name == stem] or named or fitting


def likely_tasks(wanted: list[Any], among: Sequence[Task]) -> list[Task]:
    """Return the tasks, among some, in which all of the measures are known."""
    possible: set[str] = set(among)
    for given in wanted:
        if isinstance(given, Measure):
            possible &= {given.task}
        elif not is_function(given):
            for match, group in _tokens(given):
                if group:
                    possible &= {"ranking"}
                    continue
                tasks, has_cutoff = sorted(possible), bool(_cutoffs(match))
                possible = {
                    each.task for each in meant(match["stem"], tasks, has_cutoff=has_cutoff)
                }
                if not possible and not meant(match["stem"], TASKS, has_cutoff=has_cutoff):
                    raise MeasureError(_unknown(match[0].strip(), None))
    return [task for task in among if task in possible and wanted]


# Refusals


def _unreadable(text: str) -> str:
    stem = re.match(r"[\w+²-]+", text)
    if stem is None or not meant(stem[0], TASKS, has_cutoff=False):
        return _unknown(text, None)
    if re.match(r"[\w+²-]+(\([^()]*\))?(@[\d.]+)?\s*,", text):
        return f"cannot read {text!r}: separate measures with spaces, not commas"
    return f"cannot read {text!r}: a measure is written {stem[0]}(parameter=value)@cutoff"


def _unknown(name: str, task: str | None) -> str:
    """Say that there is no such measure, and which has a similar name."""
    import difflib  # only for errors

    from heldout.measure.ranking.trec_names import TREC_NAMES, refuse_unsupported

    refuse_unsupported(name)
    stem, mark, cutoff = re.split(r"[(.]", name)[0].partition("@")
    of = "" if task is None else f" of {task}"
    elsewhere = meant(stem, TASKS, has_cutoff=bool(mark)) if task and stem else []
    if elsewhere:
        return f"unknown measure {name!r}{of}: it is a measure of {elsewhere[0].task}"
    table = spelled([task] if task else TASKS)
    glued = re.fullmatch(r"([A-Za-z][A-Za-z-]*?)[_-]?(\d+)", stem)
    if glued and any(each.cutoff != "none" for each in table.get(plain(glued[1]), ())):
        return (
            f"unknown measure {name!r}: did you mean {table[plain(glued[1])][0].name}@{glued[2]}?"
        )
    near_names: dict[str, list[str]] = {}
    if task in {None, "ranking"} and not mark:
        near_names = {plain(known): [known] for known in TREC_NAMES}
    for spelling, known in spelled().items():
        fitting = [each for each in known if not mark or each.cutoff != "none"]
        own = [f"{each.name}{mark}{cutoff}" for each in fitting if task in {None, each.task}]
        near_names[spelling] = own or [f"{each.name} (of {each.task})" for each in fitting]
    near = difflib.get_close_matches(plain(stem), near_names, 4, 0.5)
    by_case = [sorted(near_names[each], key=lambda name: name[0] != stem[0]) for each in near]
    shown = list(dict.fromkeys(each for several in by_case for each in several))
    hint = f"did you mean {' or '.join(shown[:2])}?" if shown else "see heldout list measures"
    return f"unknown measure {name!r}{of}: {hint}"
