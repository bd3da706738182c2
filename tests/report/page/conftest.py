"""A small experiment with names and texts as bad as can be, and a browser to look at it."""

from dataclasses import replace

import pytest

from heldout.data.collection import Collection
from heldout.experiment.experiment import Experiment
from heldout.report.page.of_results import part_of_results
from heldout.report.page.render import render_page, write_page

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
WORDS = ["red", "green", "blue", "old", "new", "big"]


def small_collection():
    documents = {
        f"d{n}": " ".join(WORDS[(n * k) % 6] for k in range(1, 5)) + f" w{n % 7}" for n in range(60)
    }
    documents["d3"] += f" </script>{SCRIPT}"
    queries = {f"q{n}": f"{WORDS[n % 6]} w{n % 7}" for n in range(40)}
    queries["q5"] = f"{SCRIPT} w5 \u2028 new"
    qrels = {f"q{n}": {f"d{n}": 2, f"d{n + 14}": 1, f"d{(n + 3) % 60}": 0} for n in range(40)}
    return Collection(documents, queries, qrels, name=f"{IMAGE}small")


@pytest.fixture(scope="session")
def collection():
    return small_collection()


@pytest.fixture(scope="session")
def results(collection):
    return Experiment(
        collection=collection,
        systems={IMAGE: "bm25(k1=0.5:3:3)", "B & co": "ql-jm(lambda=0.1:0.9:3)", "C": "tf-idf"},
        measures=["nDCG@10", "AP"],
        plan={"folds": 4},
    ).run()


@pytest.fixture(scope="session")
def part(results, collection):
    return part_of_results(results, collection=collection)


@pytest.fixture(scope="session")
def page_text(part):
    again = replace(part, charts=part.charts[:2])  # browsers take seconds to draw all of them
    return render_page(f"{SCRIPT}{IMAGE}", [part, again], made=[("command", SCRIPT)])


@pytest.fixture(scope="session")
def page_file(page_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(path, page_text)
    return path


@pytest.fixture(scope="session")
def table_file(part, tmp_path_factory):
    """A page without charts, which take most of the time: for what is done in its table."""
    path = tmp_path_factory.mktemp("page") / "table.html"
    write_page(path, render_page("table", [replace(part, charts=())]))
    return path


class Visit:
    """A page that is looked at, and all that went wrong on it."""

    def __init__(self, page):
        self.page, self.wrong = page, []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _console(self, message):
        self.wrong.append(f"{message.type}: {message.text}")

    def _dialog(self, dialog):
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.wrong.append(f"request: {request.url}")

    def open(self, path):
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]")
        return self.page

    def charts(self, theme="light"):
        self.page.wait_for_selector(f'html[data-charts="{theme}"]', timeout=60_000)


@pytest.fixture
def visit(chromium):
    """Visits without a network; at the end nothing may have gone wrong."""
    contexts, visits = [], []

    def begin(*, careless=False, **options):
        context = chromium.new_context(offline=True, **options)
        contexts.append(context)
        one = Visit(context.new_page())
        if not careless:
            visits.append(one)
        return one

    yield begin
    for context in contexts:
        context.close()
    assert [one for each in visits for one in each.wrong] == []


@pytest.fixture(scope="module")
def drawn(chromium, page_file):
    """The page with all its charts on a light ground, which are drawn once for all tests."""
    context = chromium.new_context(offline=True)
    one = Visit(context.new_page())
    one.open(page_file)
    one.charts()
    yield one
    context.close()


@pytest.fixture
def light(drawn):
    """The page that is drawn: tests leave it as it was, and nothing may have gone wrong."""
    yield drawn.page
    assert drawn.wrong == []
