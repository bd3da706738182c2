"""Random small inputs with arguments and the exact output of trec_eval 10.0, all equal."""

from __future__ import annotations

import json

import pytest

from heldout.cli import main


def test_command_gives_the_bytes_of_trec_eval_on_random_cases(shared_data, tmp_path, capsys):
    path = shared_data / "trec_eval_cases" / "cases.jsonl"
    if not path.is_file():
        pytest.skip("trec_eval_cases/cases.jsonl is not among the shared data")
    files = [tmp_path / "qrels", tmp_path / "run"]
    different, cases = [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for file, content in zip(files, (case["qrels"], case["run"]), strict=True):
            file.write_bytes(content.encode())
        main(["eval", "--format", "trec", *case["arguments"], *map(str, files)])
        if capsys.readouterr().out != case["output"]:
            different.append((cases, case["arguments"]))
        cases += 1
    assert cases == 800
    assert different == []
