"""Four runs of TREC ad hoc 5, whose differences vary unequally."""

from __future__ import annotations

import numpy as np
import pytest

from heldout import compare
from heldout.data.scores import Scores


def test_four_runs_of_adhoc_5(shared_data):
    """Tukey claims run3 > run1 by an error term that is not theirs; the default does not."""
    path = shared_data / "trec_matrices" / "adhoc5_ap.csv"
    if not path.is_file():
        pytest.skip("the folder trec_matrices is not among the shared data")
    values = np.genfromtxt(path, delimiter=",", skip_header=1)[:, :4]
    scores = Scores.of({f"run{at + 1}": values[:, at].tolist() for at in range(4)}, "AP")
    result = compare(scores)
    p = {(claim.first, claim.second): claim.adjusted for claim in result.claims}
    assert result.analysis.correction == "romano-wolf"
    assert p["run3", "run1"] > 0.05
    by_tukey = compare(scores, correction="tukey")
    p = {(claim.first, claim.second): claim.adjusted for claim in by_tukey.claims}
    assert p["run3", "run1"] <= 0.05 < p["run4", "run3"]
    assert any(note.code == "unequal-variances" for note in by_tukey.warnings)
