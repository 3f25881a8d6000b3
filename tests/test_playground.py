"""web/: the page in a real browser, built anew, served as any static server would."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import TARGETS

from lego_emit import generate
from lego_emit.project.loading import subject, subjects, user_file

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("playground")]  # one start for all

WEB = Path(__file__).parent.parent / "web"
EXAMPLES = [
    WEB / "gallery" / f"{name}.py" for name in json.loads((WEB / "gallery.json").read_text())
]
SHOWN = "body[data-state=shown]"
PATIENCE = 600_000  # ms; a page that has failed is not waited for without end
TURNS = 15_000  # that a file is waited for: one that is lost ends the test


class Server(SimpleHTTPRequestHandler):
    extensions_map = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript",
                      ".css": "text/css", ".wasm": "application/wasm", "": "application/octet-stream"}  # fmt: skip

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The address of the built page."""
    for program, package in (("node", "nodejs"), ("npm", "npm"), ("chromium", "chromium")):
        if shutil.which(program) is None:
            reason = f"needs {program}, which is not on PATH; on Debian: apt-get install {package}"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
    folder = tmp_path_factory.mktemp("playground")
    built = subprocess.run(
        ["node", WEB / "build.mjs", folder], env={**os.environ, "PYTHON": sys.executable},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr[-2000:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(site, browser):
    """The page, when it shows its first example; nothing was fetched from elsewhere, and nothing
    was said on the console."""
    page = browser.new_context().new_page()
    page.set_default_timeout(PATIENCE)
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(site)
    page.wait_for_selector(SHOWN)
    yield page
    assert not [url for url in asked if not url.startswith((site, f"blob:{site}", "data:"))]
    assert not said


def type_in(page, text):
    page.locator("#editor .cm-content").fill(text)
    page.wait_for_selector(SHOWN)


def message(page):
    return page.locator("#message").inner_text()


def downloaded(page, count=1):
    """The files that the button gives, by name."""
    found = []

    def take(download):
        found.append(download)

    page.on("download", take)
    page.click("#download")
    for _ in range(TURNS):
        if len(found) >= count:
            break
        page.wait_for_timeout(20)
    assert len(found) >= count, f"{len(found)} of {count} files in {TURNS} turns: one was lost"
    page.remove_listener("download", take)
    return {one.suggested_filename: Path(one.path()).read_text() for one in found}


def expected(path, target):
    with user_file(path) as names:
        name = subjects(names)[-1]
        unit = generate(subject(names, name, path), target, name=name)
        return {
            str(p): t for p, t in unit.files(unit.program.name + unit.printer.extension).items()
        }


def choose(page, example, target):
    page.select_option("#gallery", example.stem)
    page.wait_for_selector(SHOWN)
    page.click(f"#tab-{target}")
    page.wait_for_selector(SHOWN)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gives_the_bytes_that_cpython_gives(page, example):
    for target in TARGETS if example == EXAMPLES[0] else ["cuda", "javascript"]:
        choose(page, example, target)
        assert message(page) == ""
        wanted = expected(example, target)
        assert downloaded(page, len(wanted)) == wanted


def test_a_syntax_error_points_at_its_line(page):
    type_in(page, "from lego_emit import Row\n\nlayout = Row(3,\n")
    assert message(page) == "Line 3: '(' was never closed"
    mark = page.locator("#editor .cm-line", has=page.locator(".cm-lintRange-error"))
    assert mark.inner_text() == "layout = Row(3,"
    assert "stale" in page.locator(".take").get_attribute("class")


def test_an_error_of_a_layout_points_at_its_line(page):
    type_in(page, "from lego_emit import Row\n\nname = 'é'; layout = Row(3, 'a')\n")
    assert message(page).startswith("Line 3: Row(3, 'a'): size 1 is 'a', a str")
    assert page.locator("#editor .cm-lintRange-error").inner_text() == "Row(3, 'a')"


def test_an_endless_program_is_stopped_and_the_next_one_runs(page):
    page.locator("#editor .cm-content").fill("while True:\n    pass\n")
    page.click("#stop")  # it appears when something takes long
    page.wait_for_selector(SHOWN)
    assert message(page) == "stopped"
    type_in(page, "from lego_emit import Row\n\nlayout = Row(3, 5)\n")
    assert message(page) == ""
    assert "5 * i + j" in page.locator("#code .cm-content").inner_text()


def test_an_endless_program_is_stopped_by_itself_and_what_was_typed_since_runs(page):
    type_in(page, "def layout(i):\n    while True:\n        pass\n")
    assert message(page).startswith("Line 1: layout has not ended after ")
    type_in(page, "import itertools\n\nlayout = sum(itertools.count())\n")
    assert message(page) == "stopped after 10 seconds"
    page.locator("#editor .cm-content").fill("while True:\n    pass\n")
    page.wait_for_timeout(500)
    type_in(page, "from lego_emit import Row\n\nlayout = Row(3, 5)\n")
    assert message(page) == ""
    choose(page, EXAMPLES[0], "cuda")
    assert message(page) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = y\n", "Line 1: NameError: name 'y' is not defined"),
        ("assert False\n", "Line 1: AssertionError"),
        ("", "the text defines no layout and no function"),
        ("def f(i):\n    return f(i)\n", "Line 1: f calls itself without end on symbols"),
        ("import os\nos._exit(1)\n", "Exit: Program terminated with exit(1)"),
    ],
)
def test_what_goes_wrong_is_said(page, text, said):
    type_in(page, text)
    assert message(page) == said


def test_what_needs_z3_loads_it(page):
    path = WEB.parent / "golden" / "nw" / "layout.py"
    type_in(page, path.read_text())
    page.select_option("#subject", "nw")
    page.wait_for_selector(SHOWN)
    page.click("#tab-cuda")
    page.wait_for_selector(SHOWN)
    assert message(page) == ""
    assert downloaded(page) == {"nw.cuh": (path.parent / "nw.cuh").read_text()}


def test_a_package_that_is_not_there_is_named(page):
    type_in(page, "import numpy\n")
    assert message(page) == "Line 1: numpy is not in this page; in a Python of your own it works"


def test_pointing_at_a_cell_tells_of_it_and_marks_it_in_every_picture(page):
    choose(page, EXAMPLES[4], "cuda")
    assert page.locator("#subject").input_value() == "columns"
    page.check("#memory")
    page.wait_for_selector(SHOWN)
    figures = page.locator("figure")
    assert figures.count() == 4
    page.locator("figure").nth(0).locator("g rect").nth(8).hover(force=True)  # row 1, column 2
    assert page.locator("#cell").inner_text() == "[1,2] is at 9"
    places = [f.locator(".mark").count() for f in figures.all()]
    assert places == [1, 1, 1, 1]
    page.locator("figure svg").nth(0).focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#cell").inner_text() == "[1,1] is at 5"
    page.uncheck("#memory")
    page.wait_for_selector(SHOWN)


def test_a_picture_is_that_of_the_package(page):
    from lego_emit import Row, TileBy
    from lego_emit.show.pictures import svg
    from lego_emit.show.sheet import sheet

    choose(page, EXAMPLES[0], "cuda")
    drawn = svg(sheet(TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))))
    assert page.locator("figure rect").count() == drawn.count("<rect")
    assert page.locator("figure text").all_text_contents() == re.findall("<text.*?>(.*?)<", drawn)


def test_a_layout_that_cannot_be_drawn_is_emitted_all_the_same(page):
    type_in(
        page,
        "from lego_emit import Row\n\n\ndef f(n):\n    return Row(n, 0)\n\n\nsizes = {'n': 3}\n",
    )
    assert "size 1 is 0" in message(page)
    type_in(
        page,
        "from lego_emit import Row\n\n\ndef f(n):\n    return Row(n, 7 // n)\n\n\nsizes = {'n': 8}\n",
    )
    assert "size 1 is 0" in page.locator("figcaption").inner_text()


def test_a_function_of_indices_is_drawn(page):
    type_in(page, "def f(n, i):\n    return 2 * i % n\n\n\nsizes = {'n': 3}\n")
    assert "domain = {..}" in page.locator("figure").inner_text()
    type_in(page, "def f(n, i):\n    return 2 * i % n\n\n\nsizes = {'n': 3}\ndomain = {'i': 4}\n")
    assert page.locator("figure g rect").count() == 4
    page.check("#order")
    page.wait_for_selector(SHOWN)
    assert "no order" in page.locator("figure").inner_text()
    page.uncheck("#order")
    page.wait_for_selector(SHOWN)


def test_colors_and_animations(page):
    choose(page, EXAMPLES[0], "cuda")
    colors = page.locator("#color option").all_inner_texts()
    assert colors == ["tile", "bank", "position"]
    before = page.locator("figure").inner_html()
    page.select_option("#color", "position")
    page.check("#animate")
    page.wait_for_selector(SHOWN)
    assert page.locator("figure").inner_html() != before
    assert page.locator("figure animate").count() == 2
    choose(page, WEB / "gallery" / "fragment.py", "cuda")
    colors = page.locator("#color option").all_inner_texts()
    assert colors == ["lane", "register", "bank", "position"]


def test_every_example_is_listed():
    assert sorted(EXAMPLES) == sorted((WEB / "gallery").glob("*.py"))


def test_a_slider_rewrites_the_text(page):
    choose(page, EXAMPLES[0], "cuda")
    page.get_by_label("M", exact=True).first.fill("12")
    page.wait_for_selector(SHOWN)
    assert "M, N = 12, 8  # the matrix" in page.locator("#editor .cm-content").inner_text()
    assert "Row(12, 8)" in page.locator("#code .cm-content").inner_text()
    type_in(page, "nothing like that(\n")
    page.get_by_label("M", exact=True).first.fill("10")
    assert page.locator("#editor .cm-line").first.inner_text() == "nothing like that("


def test_the_address_holds_the_state(page, browser):
    choose(page, EXAMPLES[1], "rust")
    copy = browser.new_context().new_page()
    copy.set_default_timeout(PATIENCE)
    copy.goto(page.url)
    copy.wait_for_selector(SHOWN)
    assert copy.locator("#code .cm-content").inner_text().startswith("// Code generated")
    assert downloaded(copy) == expected(EXAMPLES[1], "rust")
    copy.close()


def test_an_address_may_name_an_example(page):
    page.evaluate("location.hash = 'example=morton'")
    page.wait_for_timeout(100)
    page.wait_for_selector(SHOWN)
    assert page.locator("#subject").input_value() == "morton"


def test_the_licences_of_what_it_carries_are_there(page, site):
    text = page.request.get(f"{site}licences.txt").text()
    for name in ("@codemirror/view", "pyodide", "jinja2", "markupsafe", "z3_solver"):
        assert name in text.lower()


def test_a_name_of_the_package_is_completed(page):
    type_in(page, "")
    page.locator("#editor .cm-content").press_sequentially("from lego_emit import TileB")
    page.get_by_role("option", name="TileBy").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector(SHOWN)


def test_the_form_writes_a_layout(page):
    page.click("#build")
    page.select_option("#builder [name=order]", "tiles")
    page.select_option("#builder [name=index]", "tile")
    page.wait_for_selector(SHOWN)
    text = page.locator("#editor .cm-content").inner_text()
    assert "TileBy([M // BM, N // BN], [BM, BN]).OrderBy(" in text
    assert message(page) == ""
    page.fill("#builder [name=BM]", "4")
    assert "do not divide" in page.locator("#builder p").inner_text()
    page.fill("#builder [name=M]", "8")
    for order in ("row", "col", "morton", "xor"):
        page.select_option("#builder [name=order]", order)
        page.wait_for_selector(SHOWN)
        assert message(page) == ""
        assert page.locator("figure g rect").count() == 64
    page.click("#build")


def test_what_is_explained(page):
    choose(page, EXAMPLES[0], "cuda")
    assert "tiles_apply: 6 operations, not 22" in page.locator("#counts").inner_text()
    page.click("#explanation summary")
    page.get_by_text("by Figs. 4 and 5 alone").wait_for()
    page.click("#explanation summary")
