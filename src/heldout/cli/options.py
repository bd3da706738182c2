"""Every option, once: as the help shows it, with the commands and the inputs that it is for.

Parsers, help and refusals are made from this table.
"""

from __future__ import annotations

import argparse
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from heldout.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# `commands | title in the help | inputs`, then options: `VALUE...` may be repeated, `VALUE+` takes
# several values, `a|b` are choices, `=` precedes the default, without a value it is a switch. What
# values must be is in `KINDS`. Options of `run` without help are fields of `Experiment`.
TABLE: Final = """\
eval compare power agree | options
  -m --measure NAME...  measure (repeat for more)
eval | options | ranking
  -q --per-unit         print the value of every query
  -n --no-summary       with -q: print no means
  -l --rel GRADE=1      lowest grade that counts as relevant
  -J --judged-only      ignore documents without a judgement
  -M --depth N          use the first N documents per query
  -N --docs GRADE=0     documents in all, for utility
  -c --complete         count judged queries missing from a run as 0, also with --format trec
  --ties docid-desc|docid-asc|input=docid-desc  order of documents with equal scores
eval compare power | options | ranking
  --intersection        use the queries that all runs have (default: a missing query counts 0)
compare | options
  -b --baseline NAME    compare all other systems with this one
  --test NAME...        test (repeat; the first decides)
  --correction NAME     correction for several comparisons
  --gate better|non-inferior|equivalent  exit with code 1 unless shown (one-sided at 1 - level)
  --margin X            margin of --gate (default for better: 0)
  --ledger FILE         count this evaluation of held-out data in FILE (default: $HELDOUT_LEDGER)
  --data NAME           name of the held-out data in the ledger (default: a fingerprint)
run | options | systems
  --system SYSTEM...    system (repeat for more)
  --against RUN+        run files to compare with, not tuned
  -m --measure NAME...  measure (repeat for more; default: nDCG@10)
  --by
  --tune-for NAME
  --inner K
  --method NAME
  --target-size N
  --depth N
  -b --baseline NAME
report | options
  --title TEXT          title (default: the question)
  --ledger FILE         show the evaluations of these data in a ledger
report chart list | options
  --unverified          use results even if their files were changed after the experiment
chart | options | results scores study
  -m --measure NAME     measure of the results or the table
chart | options
  --dark                light text on a dark background
split | options
  --by query|document|both=query  what is held out
  --assignments FILE    write the fold of each unit, as --folds-file reads it (.tsv, .csv; - prints)
  --sample N            draw N random units: print ids of queries, or write a collection with -o
index | options | index
  --verify              compare every byte of an index with its checksums
search | options | collection index
  --model MODEL=bm25    model, such as bm25(k1=0.9, b=0.4); see heldout list models
  --query WORDS         show the best documents for these words
search | options | vectors
  --metric cosine|ip=cosine  how vectors are compared
search | options
  -k --depth N          documents per query (default: 1000; with --query 10)
fuse | options
  --how NAME=rrf        method: see heldout list methods
  --norm NAME           normalisation: minmax (default, not for rrf), max, sum, zscore, rank, none
  --weights X,Y         for wsum: one weight per run, separated by commas
  --k X                 for rrf (default: 60)
  --depth N             documents per query (default: all)
  --name NAME           name of the run (default: the method)
agree | options
  --runs RUN+           runs to rank under both judgements
  -l --rel N=1          lowest grade that counts as relevant
power | options
  --difference X+       differences to detect
  --queries --units N+  amounts of data: queries or units
  --half-width X+       half-widths of the interval of the difference
  --power X=0.8         power
  --sd X                standard deviation of the differences, if known
  --simulate            also compute the power by simulation
study | options
  --system SYSTEM=bm25  model, with ranges that are tuned: bm25(k1=0.5:3:6, b=0.3,0.75)
  -m --measure NAME=nDCG@10  measure
  --draws N=200         repetitions
  --fraction X=0.5      fraction of the documents used as training data
  --sets N=1            disjoint samples of that size per repetition
  --folds K=5           document folds
  --pre-split           tune once before splitting (leaks)
  --replicates GRADE=100  random half-samples per interval
demo | options
  --files               write small example files (judgements, two runs) instead
eval compare power | predictions | ranking classification regression text
  --task ranking|classification|regression|text  what files hold (default: recognised by content)
eval compare power chart | predictions | classification
  --positive CLASS      positive class of two (default: the last)
eval | predictions | classification
  --threshold X         predict the positive class from this score on
  --per-class           precision, recall, … of each class
  --confusion           confusion matrices
  --hull                ROC convex hull of all systems (two classes)
compare power | predictions | classification regression
  --by-unit             compare or plan over units even if there are folds
eval compare | texts | text
  -r --references FILE...  references (repeat for more)
compare power | input
  --scores FILE         table of scores, such as heldout eval -q writes, or a results folder
compare power | input | results
  --unverified          use results even if their files were changed after the experiment
compare power | input | scores
  --unit NAME           with --scores: column of unit ids
compare power chart | input | scores
  --lower-is-better     table of scores: errors, times
run search | input | systems collection
  --index FOLDER
run split collection study search | input | systems collection index vectors
  --queries FILE        queries, if the collection has none
run split collection study | input | systems
  --qrels FILE          judgements (separate several files with commas)
collection search | input | collection index
  --query-field NAME=title  title, description, narrative, or several joined by +
collection index | input | collection
  --fields NAMES        document fields to read, separated by commas
  --encoding NAME=utf-8  text encoding
collection | input
  --split NAME          split of a BEIR folder (default: test)
compare report | input
  --collection NAME     collection, for texts and judgements in a report
chart | input | results
  --collection NAME     collection, for texts of queries
eval compare run | machine judgements | ranking systems
  --machine FILE        judgements of a machine for these and further queries
  --assume-random       the queries with human judgements are a random sample of all
run split | plan (what is held out) | systems
  --folds K             K folds, each held out once (default: 10 for queries, 5 for documents)
  --hold-out SHARE      a random fraction, or number, of units
  --leave-one-out       every unit alone
  --bootstrap N         N bootstrap samples; units that are not drawn are held out
  --folds-file FILE     folds from a table of id and fold, or from JSON
  --test-ids FILE       the ids in a file, one per line
  --later FILE          the latest fifth, by a table of id and time
  --repeats N           repeat folds or hold-out N times (default: 1)
  --validation SHARE    with --hold-out: a validation part of this size, to tune on
  --stratify NAME       balance relevance (relevant documents), length, or a field of the queries
run split study | plan (what is held out) | systems
  --groups WHAT         keep units together: near-duplicates (almost the same text), duplicates (the
                        same text; default for documents), none, or a table of id and group
eval compare agree power | analysis
  --level X=0.95        confidence level of intervals and tests
compare power | analysis
  --alternative two-sided|greater|less=two-sided  alternative hypothesis (greater: new is better)
compare power | analysis | ranking scores
  --test-share X        units are folds: n_test / n_train, 0.1111 for 10 folds
run | analysis | systems
  --level X
run index search study | text analysis | systems collection
  --stemmer NAME        Snowball stemmer, such as english or german
  --stop LIST           stop words: english, or a file of words
index | text analysis | collection
  --keep-case           keep upper and lower case
eval compare agree study search fuse chart | output
  -o --output FILE      write to FILE, in the format of its suffix
eval | output
  -f --format table|tsv|csv|md|latex|html|json|parquet|trec  format (default: the suffix of -o, else
                        table on a terminal, tsv elsewhere)
compare | output
  -f --format table|tsv|csv|md|latex|html|json|parquet|junit  format (default: the suffix of -o)
report | output
  -o --output FILE=report.html  file to write
chart | output
  --data FILE           write the numbers of the chart as CSV (- prints them)
run split collection index | output | collection systems experiment
  -o --output FOLDER    folder to write
  --force               overwrite what is there
split collection | output
  --to beir|trec|lines  format of collections (default: beir)
study | output
  --figures FOLDER      write the data of the figures as CSV
eval compare run split collection index search fuse agree power ledger study list | output
  --json                print JSON at full precision
compare run agree | output
  --full                print everything: all columns and pairs, and what they mean
eval compare run report chart split collection index search fuse agree power study demo | output
  --quiet               print the result only, no notes
eval compare agree power split study | execution
  --seed SEED=0         random seed
run | execution | systems
  --seed SEED
run | execution
  --resume              continue an interrupted run
  --dry-run             check everything and show what would be run
  --jobs N=1            processes for functions and estimators; results are the same
  --dask CLUSTER        run on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file
index | execution | collection
  --jobs N              threads (default: one per core)
  --max-memory SIZE     memory of the process (default: 1GB), unless ids and vocabulary need more
"""
# All text is English, and looking for translations of argparse's takes time at every start.
setattr(argparse, "_", lambda text: text)  # noqa: B010 - a name that its types do not have

INPUTS: Final = {
    "ranking": "runs",
    "classification": "predicted classes",
    "regression": "predicted numbers",
    "text": "texts",
    "scores": "tables of scores",
    "results": "results of heldout run",
    "study": "the output of heldout study or agree",
    "sd": "a standard deviation (--sd)",
    "systems": "systems (--system)",
    "experiment": "an experiment file, in which it is a field",
    "collection": "collections",
    "index": "an index",
    "vectors": "vectors",
}
"""What a command can be given, as messages call it."""
ONE_OF: Final = (
    ("folds", "hold_out", "leave_one_out", "bootstrap", "folds_file", "test_ids", "later"),
    ("complete", "intersection"),
)
"""Options of which one can be given."""
NEEDS: Final = {
    "no_summary": "per_unit",
    "margin": "gate",
    "assume_random": "machine",
    "validation": "hold_out",
}
"""Options that mean nothing without another."""


def _whole(text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise ValueError
    return int(text)


def _size(text: str) -> int:
    parts = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:([KMGT])I?B?|B)?\s*", text.upper())
    size = float(parts[1]) * 1024 ** " KMGT".index(parts[2] or " ") if parts else 1 << 60
    if size >= 1 << 60:
        raise ValueError
    return int(size)


KINDS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "N": (lambda text: _whole(text, 1), "a positive integer"),
    "K": (int, "an integer"),
    "GRADE": (_whole, "0 or a positive integer"),
    "SEED": (int, "an integer"),
    "X": (float, "a number"),
    "X,Y": (lambda text: tuple(map(float, text.split(","))), "numbers such as 0.3,0.7"),
    "SHARE": (lambda text: int(text) if text.isdigit() else float(text), "a fraction or a number"),
    "SIZE": (_size, "a size such as 500MB or 1.5GB"),
}
"""What values must be, by what the help calls them; all others are texts."""


class Option(NamedTuple):
    """An option of some commands; one without `metavar` is a switch."""

    flags: list[str]  # the long one last
    name: str  # of its value in the parsed options
    metavar: str
    repeat: str  # "...": may be given again; "+": takes several values
    choices: Sequence[str]
    default: str
    help: str
    group: str
    inputs: list[str]

    def value(self, text: str) -> Any:
        """Its value; a wrong one is refused."""
        convert, expected = KINDS.get(self.metavar, (str, ""))
        try:
            if not self.choices or text in self.choices:
                return convert(text)
        except ValueError:
            raise InputError(f"expected {expected}", argument=self.name, value=text) from None
        raise InputError(meant(text, self.choices), argument=self.name, value=text)


@cache
def options_of(command: str) -> Sequence[Option]:
    """The options of a command, in the order of its help."""
    options: list[Option] = []
    commands, group, inputs = "", "", [""]
    for line in re.sub(r"\n {20,}", " ", TABLE).splitlines():
        if not line.startswith(" "):
            commands, group, *inputs = line.split(" | ")
        elif command in commands.split():
            options.append(_option(line.strip(), group, " ".join(inputs).split()))
    return options


def _option(line: str, group: str, inputs: list[str]) -> Option:
    written, _, words = line.partition("  ")
    flags = re.findall(r"(?<!\S)-\S+", written)
    value, _, default = written.removeprefix(" ".join(flags)).strip().partition("=")
    name = flags[-1][2:].replace("-", "_")
    choices = tuple(value.split("|")) if "|" in value else ()
    shown: Any = default
    if not words:
        from heldout.experiment.fields import FIELDS

        words, shown, choices = FIELDS[name]
    words, parenthesis, more = words.strip().partition(" (")
    words += (f": {', '.join(choices)}" if choices else "") + parenthesis + more
    words += f" (default: {shown})" if shown else ""
    metavar = value.rstrip(".+")
    repeat = value[len(metavar) :]
    metavar, name = "NAME" if choices else metavar, "format" if name == "json" else name
    return Option(flags, name, metavar, repeat, choices, default, words, group, inputs)


class Parser(NamedTuple):
    """The parser of a command.

    `arguments` are what follows the options, with help: ``{"files+ FILE": "runs"}``. `usage` has a
    line per way to call the command, `examples` are command lines, `notes` are below the options.
    """

    command: str
    summary: str
    arguments: Mapping[str, str]
    usage: str = ""
    examples: str = ""
    notes: str = ""

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """What was given, and nothing else; files and options may come in any order."""
        # argparse would format its own usage, for the width of the terminal, at every start.
        reader = _Reader(f"heldout {self.command}", usage="", add_help=False, allow_abbrev=False)
        reader.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=80)
        for words in self.arguments:
            name, metavar = words.split(" ", 1)
            count = name[-1] if name[-1] in "?*+" else None
            reader.add_argument(name.rstrip("?*+"), nargs=count, metavar=metavar)
        for option in options_of(self.command):
            # What is not given is absent: whoever asks "was it given?" needs no list of defaults.
            settings: dict[str, Any] = {"dest": option.name, "default": argparse.SUPPRESS}
            if option.metavar:
                action = {"": "store", "...": "append", "+": "extend"}[option.repeat]
                count = "+" if option.repeat == "+" else None
                settings |= {"action": action, "nargs": count, "type": option.value}
            else:
                const = "json" if option.name == "format" else True
                settings |= {"action": "store_const", "const": const}
            reader.add_argument(*option.flags, **settings)
        given, unknown = reader.parse_known_intermixed_args(list(arguments))
        if unknown:
            raise InputError(_unknown(unknown[0], self.command))
        for names in ONE_OF:
            flags = [_flag(name) for name in names if hasattr(given, name)]
            if len(flags) > 1:
                raise InputError(f"{flags[0]} and {flags[1]} exclude each other: give one of them")
        for name, needed in NEEDS.items():
            if hasattr(given, name) and not hasattr(given, needed):
                raise InputError(f"{_flag(name)} goes with {_flag(needed)}")
        return given


class _Reader(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise the message instead of exiting."""
        raise InputError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


def complete(given: argparse.Namespace, command: str, kind: str = "") -> argparse.Namespace:
    """Refuse what has no effect for this kind of input; fill in the defaults of all others."""
    for option in options_of(command):
        if not hasattr(given, option.name):
            usual = option.value(option.default) if option.default else None
            setattr(given, option.name, usual if option.metavar else False)
        elif kind and option.inputs and kind not in option.inputs:
            own = [name for name in option.inputs if (name == "systems") == (command == "run")]
            named = " and ".join(INPUTS[name] for name in own)
            raise InputError(f"{option.flags[-1]} is for {named}, not for {INPUTS[kind]}")
    return given


def _with_flag(flag: str, command: str) -> list[Option]:
    return [option for option in options_of(command) if flag in option.flags]


def meant(given: str, known: Sequence[str], otherwise: str = "") -> str:
    """What may have been meant by a word that is not known."""
    from difflib import get_close_matches  # only for a mistake

    close = get_close_matches(given, known, 1, 0.7)
    close = close or [name for name in known if name.startswith(given)]
    usual = otherwise or f"expected one of {', '.join(known)}"
    return f"did you mean {close[0]}?" if close else usual


def _unknown(given: str, command: str) -> str:
    """What to do about an option that this command does not have."""
    flag, see = given.partition("=")[0], f"see heldout {command} --help"
    if not flag.startswith("-"):
        return f"unexpected {given!r} ({see})"
    from heldout.cli.main import COMMANDS

    homes = [name for name in COMMANDS if _with_flag(flag, name)]
    if homes:
        return f"{flag} is an option of heldout {', '.join(homes)}, not of heldout {command}"
    known = [name for option in options_of(command) for name in option.flags]
    return f"unknown option {flag}: {meant(flag, known, see)}"


# Python's names as options

SPELLED: Final = {
    "by='unit'": "--by-unit",
    "verify=False": "--unverified",
    "missing='skip'": "--intersection",
    "differences": "--difference",
    "tests": "--test",
    "workers": "--jobs",
    "memory": "--max-memory",
}
"""What options call differently."""


def spelled(argument: Argument, command: str) -> str:
    """A Python argument as an option of a command, if it has such an option."""
    flag = SPELLED.get(str(argument)) or SPELLED.get(argument.name) or _flag(argument.name)
    if not (options := _with_flag(flag, command)):
        return str(argument)
    return f"{flag} {argument.shown}".replace("'", "") if options[0].metavar else flag


def option_of(field: str) -> str:
    """A field of an experiment, such as ``systems[0].model``, as an option."""
    if field in {"plan", "plan.queries", "plan.documents", "analyzer"}:
        return ""  # several options
    if field == "collection":
        return field
    entry = re.match("(system|measure)s", field)
    return _flag(entry[1] if entry else field.rpartition(".")[2])


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
