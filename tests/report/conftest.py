"""A small experiment with names and texts as bad as can be, and a browser to look at its page."""

import json
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

import heldout
from heldout.report.page import page
from heldout.report.page.render import write_page

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
WORDS = ["red", "green", "blue", "old", "new", "big"]


class Page(HTMLParser):
    """What a page has: data, tables (caption to rows), names with values, figures, texts."""

    def __init__(self, text):
        super().__init__()
        self.blocks, self.tables, self.pairs, self.figures, self.texts = {}, {}, {}, [], []
        self.titles, self.tags, self._open = {}, [], []
        self.feed(text)

    def data(self, name):
        return json.loads(self.blocks[name])

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        assert not [name for name in given if name.startswith("on")]
        self.tags.append(tag)
        self._open.append((tag, given))
        if tag == "tr":
            self._row = []
        if tag == "figure":
            self.figures.append(given["id"])

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag == "tr" and self._row:
            self.tables[self._caption].append(self._row)

    def handle_data(self, text):
        tag, given = self._open[-1] if self._open else ("", {})
        self.texts.append(text)
        if given.get("type") == "application/json":
            self.blocks[given["id"]] = text
        inside = [name for name, _ in self._open]
        if tag == "caption":
            self._caption = text
            self.tables[text] = []
        elif "tr" in inside and text.strip() and tag != "sup":
            self._row.append(text)
            if "title" in given:
                self.titles[text] = given["title"]
        elif tag == "dt":
            self._name = text
        elif tag == "dd":
            self.pairs[self._name] = text


@pytest.fixture(scope="session")
def read():
    return Page


@pytest.fixture(scope="session")
def evil_collection():
    documents = {
        f"d{n}": " ".join(WORDS[(n * k) % 6] for k in range(1, 5)) + f" w{n % 7}" for n in range(60)
    }
    documents["d3"] += f" </script>{SCRIPT}"
    queries = {f"q{n}": f"{WORDS[n % 6]} w{n % 7}" for n in range(40)}
    queries["q5"] = f"{SCRIPT} w5 \u2028 new"
    qrels = {f"q{n}": {f"d{n}": 2, f"d{n + 14}": 1, f"d{(n + 3) % 60}": 0} for n in range(40)}
    return heldout.Collection(documents, queries, qrels, name=f"{IMAGE}small")


@pytest.fixture(scope="session")
def results(evil_collection):
    return heldout.Experiment(
        collection=evil_collection,
        systems={IMAGE: "bm25(k1=0.5:3:3)", "B & co": "ql-jm(lambda=0.1:0.9:3)", "C": "tf-idf"},
        measures=["nDCG@10", "AP"],
        plan={"folds": 4, "repeats": 2},
    ).run()


@pytest.fixture(scope="session")
def page_text(results, evil_collection):
    several = [results, results.compare("AP")]
    made = [("command", f"{SCRIPT}\ud800")]
    return page(several, title=f"{SCRIPT}{IMAGE}", collection=evil_collection, made=made)


@pytest.fixture(scope="session")
def shown(page_text):
    return Page(page_text)


@pytest.fixture(scope="session")
def classified():
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(5)
    x = rng.normal(size=(80, 3))
    return heldout.Experiment(
        task="classification",
        data=(x, np.where(x[:, 0] + rng.normal(scale=0.7, size=80) > 0, "<b>yes</b>", "no")),
        systems={
            "k-NN": (KNeighborsClassifier(), {"n_neighbors": [1, 9]}),
            "logistic": LogisticRegression(),
        },
        measures=["accuracy", "AUC"],
        plan={"folds": 4, "repeats": 2},
    ).run()


@pytest.fixture(scope="session")
def classified_page(classified):
    return page(classified)


# A browser


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no Chromium here")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def page_file(page_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(path, page_text)
    return path


class Visit:
    """A page that is looked at without a network, and all that went wrong on it."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(offline=True, **options)
        self.page, self.wrong = self.context.new_page(), []
        said = self.wrong.append
        self.page.on("console", lambda one: said(f"{one.type}: {one.text}"))
        self.page.on("pageerror", lambda error: said(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)

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
        """All charts come into view, and are drawn."""
        for figure in self.page.locator(".chart").all():
            figure.scroll_into_view_if_needed()
        # Not wait_for_function, whose polling is evaluated, which the policy forbids.
        others = self.page.locator(f".drawing:not([data-drawn={theme}])")
        others.first.wait_for(state="detached", timeout=60_000)
        self.page.evaluate("scrollTo(0, 0)")


@pytest.fixture
def visit(chromium):
    """Visits; at the end nothing may have gone wrong on them."""
    visits = []

    def begin(*, careless=False, **options):
        one = Visit(chromium, **options)
        visits.append((one, careless))
        return one

    yield begin
    for one, _ in visits:
        one.context.close()
    assert [wrong for one, careless in visits if not careless for wrong in one.wrong] == []
