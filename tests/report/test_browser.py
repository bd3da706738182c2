"""The page in a real browser, from a file, without a network: what each visitor does and sees."""

import re

import numpy as np
import pytest

from heldout import Scores, compare
from heldout.report.answers import answer
from heldout.report.page import page as page_of
from heldout.report.page.render import write_page
from heldout.report.standing import standing

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
DARK, LIGHT = "rgb(20, 23, 27)", "rgb(255, 255, 255)"
PAPER = "getComputedStyle(document.body).backgroundColor"


def shown_units(page):
    return page.locator("#part-1-units .open").all_inner_texts()


def numbers(page, column):
    cells = page.locator(f"#part-1-units tbody tr[data-at] td:nth-child({column})")
    return [float(one.replace("−", "-").split()[0]) for one in cells.all_inner_texts()]


def sort_by_name(page):
    page.locator('#part-1-units th[data-key="unit"] button').click()


def serious_of(page):
    """What is seriously wrong with the page, with all its details and with a query opened."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    closed = "document.querySelectorAll('details:not([open])')"
    page.evaluate(
        f"window.folded = [...{closed}]; window.folded.forEach(x => {{ x.open = true; }})"
    )
    reports = [axe.Axe().run(page)]
    page.locator("#part-1-units .open").first.click()
    reports.append(axe.Axe().run(page))
    page.keyboard.press("Escape")
    page.evaluate("window.folded.forEach(x => { x.open = false; })")
    return [
        (one["id"], one["nodes"][0]["html"][:200])
        for report in reports
        for one in report.response["violations"]
        if one["impact"] in {"serious", "critical"}
    ]


def test_a_reader_sees_charts_dark_and_light_and_prints_them(visit, page_file):
    """The system decides about dark mode until somebody does; both are accessible."""
    one = visit(color_scheme="dark")
    page = one.open(page_file)
    assert page.locator("#part-2-heatmap .picture svg").is_visible()
    assert page.locator("#part-2-heatmap.drawn").count() == 0  # until it comes into view
    one.charts("dark")
    figures = page.locator(".drawing").count()
    assert figures >= 9
    assert page.locator(".drawing svg").count() == figures
    assert page.evaluate(PAPER) == DARK
    assert serious_of(page) == []
    ink = page.locator("#part-1-forest .drawing .role-axis-label text").first
    before = ink.get_attribute("fill")
    page.get_by_role("button", name="Light mode").click()
    assert page.evaluate(PAPER) == LIGHT
    one.charts("light")
    assert ink.get_attribute("fill") != before
    assert serious_of(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    # Names and texts are text.
    assert page.locator("h1").inner_text() == SCRIPT + IMAGE
    assert page.locator("img").count() == 0
    assert page.locator("script:not([type])").count() == 2  # the runtime and the page's own
    page.locator("#part-1-forest .drawing .mark-symbol path").first.hover()
    page.locator("#vg-tooltip-element.visible").wait_for()
    assert page.locator("#vg-tooltip-element img").count() == 0
    page.mouse.move(0, 0)
    # Printing shows pictures and what was folded, and less of what is long.
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    text = page.locator("main").inner_text()
    assert "Selected parameters (tuned on all data)" in text
    assert "The first 25 of 40 queries in this order" in text
    assert not page.locator(".controls").first.is_visible()
    for figure in page.locator(".chart").all():
        assert figure.locator(".picture svg").is_visible()
        assert not figure.locator(".drawing").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[data-print][open]").count() == 0
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Dark mode").click()
    assert page.evaluate(PAPER) == DARK
    assert page.get_by_role("button", name="Light mode").is_visible()


def test_a_broken_page_is_noticed(visit, page_file, tmp_path):
    """The other tests mean something: what must not happen is seen when it does."""
    broken = page_file.read_text(encoding="utf-8").replace(
        "</main>", '<img src="https://example.org/x.png"><script>alert(2)</script></main>'
    )
    (tmp_path / "broken.html").write_text(broken, encoding="utf-8")
    one = visit(careless=True)
    with one.page.expect_event("requestfailed"):
        one.open(tmp_path / "broken.html")
    # The policy kept both off: nothing was sent, whether there is a network or not, nor run.
    assert any("Content Security Policy" in wrong for wrong in one.wrong)
    assert not any(wrong.startswith("dialog") for wrong in one.wrong)


def test_queries_are_sorted_filtered_and_compared(visit, page_file, results):
    page = visit().open(page_file)
    part = page.locator("#part-1-units")
    gaps = numbers(page, 2)
    assert gaps == sorted(gaps, reverse=True)
    head = part.locator('th[data-key="gap"]')
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers(page, 2) == sorted(numbers(page, 2))
    name = part.locator('th[data-key="unit"] button')
    name.press("Enter")
    assert shown_units(page)[:11] == [f"q{n}" for n in range(11)]  # as numbers, not as letters
    name.press("Enter")
    assert shown_units(page)[0] == "q39"
    # How many are left is said.
    a, b = (
        results.scores("nDCG@10").column(
            part.get_by_label(side, exact=True).locator("option:checked").inner_text()
        )
        for side in "AB"
    )
    status = part.get_by_role("status")
    for choice, count in (
        ("B better", int((b - a > 1e-6).sum())),
        ("A better", int((a - b > 1e-6).sum())),
        ("all", len(a)),
    ):
        part.get_by_label("Show").select_option(choice)
        assert status.inner_text().startswith(f"{count} of {len(a)} queries")
        signs = {gap > 0 for gap in numbers(page, 2)}
        assert choice == "all" or signs == {choice == "B better"}
    part.get_by_label("Minimum difference").fill("0.2")
    assert status.inner_text().startswith(f"{int((abs(b - a) >= 0.2).sum())} of {len(a)} queries")
    part.get_by_label("Minimum difference").fill("")
    part.get_by_role("searchbox").fill("script")
    assert shown_units(page) == ["q5"]
    part.locator(".open").click()
    dialog = page.get_by_role("dialog")
    assert SCRIPT in dialog.inner_text()
    assert IMAGE in dialog.inner_text()
    page.keyboard.press("Escape")
    part.get_by_role("searchbox").fill("")
    # Other measures and systems.
    part.get_by_label("Measure").select_option("AP")
    part.get_by_label("A", exact=True).select_option("C")
    part.get_by_label("B", exact=True).select_option("B & co")
    scores = results.scores("AP")
    place = scores.units.index(shown_units(page)[0])
    for column, system in ((3, "C"), (4, "B & co")):
        assert numbers(page, column)[0] == pytest.approx(scores.column(system)[place], abs=5e-5)
    part.get_by_label("all systems").check()
    assert part.locator("thead th").count() == 5


def test_a_query_is_opened_by_mouse(visit, page_file, shown):
    page = visit().open(page_file)
    sort_by_name(page)
    page.locator("#part-1-units .open").first.click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("heading", name="query q0").is_visible()
    lists = dialog.locator("ol.ranked")
    assert lists.count() == 2
    units, rankings = shown.data("part-1-data"), shown.data("part-1-rankings")
    at = units["units"].index("q0")
    for ranked, system in zip(lists.all(), (units["first"], units["second"]), strict=True):
        wanted = [rankings["documents"][n] for n in rankings["lists"][system][at]]
        assert ranked.locator(".id").all_inner_texts() == wanted
    assert "relevant, grade 2" in dialog.inner_text()
    assert "not judged" in dialog.inner_text()
    assert re.search("red|green|blue|old|new|big", dialog.locator(".line").first.inner_text())
    dialog.get_by_role("button", name="Next →").click()
    assert dialog.get_by_role("heading", name="query q1", exact=True).is_visible()
    dialog.get_by_role("button", name="Close").click()
    page.locator(".open:focus", has_text="q1").wait_for()  # where the reader was


def test_a_query_is_opened_by_keyboard(visit, page_file):
    page = visit().open(page_file)
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the answer"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "answer"
    page.locator('#part-1-units th[data-key="unit"] button').focus()
    page.keyboard.press("Enter")
    focus = page.locator(".open:focus")
    for _ in range(10):  # the other heads, then the one row that tabs stop at
        page.keyboard.press("Tab")
        if focus.count():
            break
    for keys, place in (("", "q0"), ("ArrowDown ArrowDown", "q2"), ("End", "q39")):
        for key in keys.split():
            page.keyboard.press(key)
        assert focus.inner_text() == place
    page.keyboard.press("Enter")
    assert page.get_by_role("dialog").get_by_role("heading", name="query q39").is_visible()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("dialog").get_by_role("heading", name="query q38").wait_for()
    page.keyboard.press("Escape")
    # The browser gives the focus back to q39 first, and tells that the dialog was closed later.
    page.locator(".open:focus", has_text="q38").wait_for()


def test_without_scripts_answer_tables_and_pictures_are_there(visit, page_file, results):
    page = visit(java_script_enabled=False).page
    page.goto(page_file.as_uri())
    text = page.locator("main").inner_text()
    assert answer(standing(results, "nDCG@10", results.compare("nDCG@10"))) in text
    assert page.locator("#part-1-forest .picture svg").is_visible()
    assert page.locator("#part-1-table table").first.is_visible()
    assert "needs JavaScript, which is off" in text
    assert not page.get_by_role("button", name="Dark mode").is_visible()


@pytest.mark.long
def test_nothing_is_wider_than_the_screen(visit, page_file):
    for width in (360, 768, 1280):
        one = visit(viewport={"width": width, "height": 800})
        page = one.open(page_file)
        one.charts()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.long
def test_thousands_of_rows_leave_a_small_table(visit, tmp_path):
    """The table holds what is in sight, and the keyboard reaches all of it."""
    units = [f"u{n}" for n in range(12_000)]
    values = np.random.default_rng(0).uniform(0, 1, (12_000, 3))
    made = compare(Scores("AP", ["A", "B", "C"], units, values), tests="t")
    write_page(tmp_path / "large.html", page_of(made))
    page = visit().open(tmp_path / "large.html")
    assert page.locator("#part-1-units tbody tr").count() < 60
    sort_by_name(page)
    page.locator("#part-1-units .open").first.focus()
    page.keyboard.press("End")
    assert page.locator(".open:focus").inner_text() == "u11999"


def test_rows_of_predictions_open_with_their_truth(classified_page, visit, tmp_path):
    write_page(tmp_path / "rows.html", classified_page)
    page = visit().open(tmp_path / "rows.html")
    page.get_by_role("searchbox").fill("7")
    page.locator(".open", has_text="7").first.click()
    dialog = page.get_by_role("dialog")
    assert "True value:" in dialog.inner_text()
    assert dialog.locator("b").count() == 0
    assert dialog.locator("ol").count() == 0
