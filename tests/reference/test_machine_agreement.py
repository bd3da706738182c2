"""Agreement of six machines with human judgements (LLMJudge), published pairs of grades."""

import pytest

from heldout import agree

# kappa, quadratic kappa, and kappa of grades 2 and 3 against 0 and 1, by scikit-learn.
KAPPAS = {
    "willia-umbrela1": (0.286272, 0.504356, 0.398530),
    "h2oloo-fewself": (0.277434, 0.504593, 0.427999),
    "Olz-gpt4o": (0.262472, 0.506917, 0.365683),
}


def test_kappa_and_mean_grades(shared_data):
    folder = shared_data / "llmjudge"
    if not folder.is_dir():
        pytest.skip("the judgements of LLMJudge are not here")
    names = [*KAPPAS, "TREMA-4prompts"]
    files = [folder / "machine" / f"{name}.qrels" for name in names]
    found = agree(folder / "human.qrels", files, rel=2)
    for name, expected in KAPPAS.items():
        values = found.judge(name).statistics
        kappas = (values.kappa, values.kappa_quadratic, values.kappa_binary)
        assert [one.estimate for one in kappas] == pytest.approx(expected, abs=5e-7)
    judge = found.judge("TREMA-4prompts")
    assert (judge.pairs, judge.queries) == (4423, 25)
    assert (judge.mean_human, judge.mean_machine) == pytest.approx((0.8998, 1.4635), abs=5e-5)
    assert judge.statistics.difference.low > 0  # it overrates
