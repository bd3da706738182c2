"""A browser for all pages and charts."""

import shutil

import pytest


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
