"""One browser for all tests, and the built site served in two ways."""

import shutil

import pytest
import serving
from playwright.sync_api import sync_playwright
from watching import Watch

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
             f"--host-resolver-rules=MAP {serving.OTHER_NAME} 127.0.0.1"]

FIGURE = ('<!doctype html><html lang="en" data-theme="{theme}"><head><title>Figure</title>'
          '<meta name="viewport" content="width=device-width"><style>body{{background:'
          "var(--ab-paper);color:var(--ab-text);font:17px system-ui;margin:0 auto;max-width:600px}}"
          "</style></head><body><main><h1>Figure</h1>{figure}</main></body></html>")


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def port():
    """Serve the site as ``make serve`` does."""
    with serving.by_the_book() as port:
        yield port


@pytest.fixture(scope="session")
def plain_site():
    """Serve the site from a plain file server, below a prefix."""
    with serving.plainly() as address:
        yield address


@pytest.fixture
def visit(browser):
    """Return a function that makes a fresh visitor: a page, and the watch on what it does."""
    contexts = []

    def make(host, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900},
                                      color_scheme="light", **options)
        contexts.append(context)
        return context.new_page(), Watch(context, host)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def open_figure(browser):
    """Return a function that opens a moving figure alone, on a page without Python."""
    context = browser.new_context()
    page, watch = context.new_page(), Watch(context, host="")

    def open_page(figure, width=1280, theme="light"):
        page.set_viewport_size({"width": width, "height": 900})
        page.set_content(FIGURE.format(theme=theme, figure=figure.page()))
        page.wait_for_selector(".ab-stage .ab-state:not(:empty)")
        return page

    yield open_page
    assert watch.complaints == []
    context.close()
