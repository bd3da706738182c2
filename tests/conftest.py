"""What holds in every test."""

import pytest

from heldout.report import codes


@pytest.fixture(autouse=True)
def every_warning_has_a_code(monkeypatch):
    """Whatever is printed as a warning has a code, and by it a paragraph in docs/warnings.md."""
    known = codes.code_of

    def code_of(sentence):
        code = known(sentence)
        assert code, f"no code in heldout.report.codes for the warning: {sentence}"
        return code

    monkeypatch.setattr(codes, "code_of", code_of)
