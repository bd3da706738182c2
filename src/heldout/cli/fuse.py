"""heldout fuse: one run from several."""

from heldout.cli.inputs import refuse_same_file
from heldout.cli.options import Parser, complete
from heldout.cli.output import note, run_format, write_run
from heldout.notes import count_of


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "fuse",
        "Fuse the ranked lists of several runs.",
        {"runs+ RUN": "run files, two or more (- is standard input)"},
        examples="""\
  heldout fuse bm25.run dense.run -o hybrid.run
  heldout fuse bm25.run dense.run --how wsum --norm minmax --weights 0.3,0.7 -o hybrid.run
  heldout fuse bm25.run dense.run splade.run --how combmnz --norm zscore --depth 1000 > hybrid.run
""",
        notes="""\
Weights and k are taken as given. To tune them without overstating the score, let an experiment
choose them on training queries and measure them on held-out ones:
  heldout run qrels.txt --system 'hybrid=wsum(bm25.run, dense.run, w=0:1:11)' --system dense.run
""",
    )


def run(arguments: list[str]) -> int:
    """Fuse the runs, write the result, and say by which policies it was made."""
    options = complete(parser().read(arguments), "fuse")
    from heldout.data.run import read_run  # NumPy comes with it
    from heldout.report.table import printable
    from heldout.retrieve.fuse import Fusion, fuse_runs

    run_format(options)  # a wrong one is refused before anything is read
    refuse_same_file(options.runs)
    fusion = Fusion(options.how, options.norm, options.weights, options.k)
    fusion.check_runs(len(options.runs))  # before minutes of reading
    runs = [read_run(path) for path in options.runs]
    fused = fuse_runs(runs, fusion, depth=options.depth, name=options.name)
    write_run(fused, options)
    queries = set(fused.queries)
    size = f"{count_of(len(queries), 'query', 'queries')}, {count_of(len(fused), 'row')}"
    lines = [
        f"{fusion} of {len(runs)} runs: {size}",
        f"documents missing from a run: {fusion.method.policy}",
    ]
    for given in runs:
        if lacking := len(queries - set(given.queries)):
            lacks = count_of(lacking, "query", "queries")
            lines.append(f"{given.name}: lacks {lacks} of {len(queries):,}")
    note(map(printable, lines), options)
    return 0
