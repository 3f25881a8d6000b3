"""web/: the page in a real browser, built anew, served as any static server would."""

import functools
import importlib.util
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
TILES, COLUMNS, SWIZZLE = (
    WEB / "gallery" / f"{name}.py" for name in ("tiles", "columns", "swizzle")
)
SHOWN = "body[data-state=shown]"
PATIENCE = 600_000  # ms; a page that has failed is not waited for without end
TURNS = 15_000  # that a file is waited for: one that is lost ends the test


# While Python starts: how far the bar is, and whether anything can be used.
PROGRESS = """
window.progress = [];
window.usable = [];
const clock = setInterval(() => {
  if (!document.body) return;
  const bar = document.querySelector("#working progress");
  if (["idle", "busy", "failed"].includes(document.body.dataset.working)) return clearInterval(clock);
  if (bar?.hasAttribute("value")) window.progress.push(bar.value);
  const parts = document.querySelectorAll("button, select, input, [contenteditable=true]");
  window.usable.push([...parts].filter((part) => !part.closest("[inert]") && part.id !== "stop").length);
}, 10);
"""

FAINT = """() => {
  const numbers = (color) => [...color.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
  const over = (top, back) => back.map((c, k) => top[k] * top[3] + c * (1 - top[3]));
  const light = (color) => {
    const [r, g, b] = color.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const part = texts.currentNode.parentElement;
    const shown = part.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!texts.currentNode.data.trim() || !shown || part.closest("svg, script, style")) continue;
    let [behind, opacity] = [[], 1];
    for (let box = part; box; box = box.parentElement) {
      behind.unshift(numbers(getComputedStyle(box).backgroundColor));
      opacity *= getComputedStyle(box).opacity;
    }
    const back = behind.reduce((under, top) => over(top, under), [255, 255, 255]);
    const color = numbers(getComputedStyle(part).color);
    const text = over([...color.slice(0, 3), color[3] * opacity], back);
    const [low, high] = [light(text), light(back)].sort((a, b) => a - b);
    if (high / low < 4.495) found.add(`${part.outerHTML.slice(0, 80)}: ${(high / low).toFixed(2)}`);
  }
  return [...found];
}"""


class Server(SimpleHTTPRequestHandler):
    extensions_map = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript",
                      ".css": "text/css", ".wasm": "application/wasm", "": "application/octet-stream"}  # fmt: skip

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def programs():
    """Whatever builds the page and shows it is here."""
    for program, package in (("node", "nodejs"), ("npm", "npm"), ("chromium", "chromium")):
        if shutil.which(program) is None:
            reason = f"needs {program}, which is not on PATH; on Debian: apt-get install {package}"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)


@pytest.fixture(scope="session")
def site(programs, tmp_path_factory):
    """The address of the built page."""
    folder = tmp_path_factory.mktemp("playground")
    # PIP_NO_BUILD_ISOLATION=0 is --no-build-isolation: the environment of the tests has setuptools.
    built = subprocess.run(
        ["node", WEB / "build.mjs", folder],
        env={**os.environ, "PYTHON": sys.executable, "PIP_NO_BUILD_ISOLATION": "0"},
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
    page.on("dialog", lambda dialog: dialog.accept())
    page.add_init_script(PROGRESS)
    page.goto(site)
    page.wait_for_selector(SHOWN)
    yield page
    assert not [url for url in asked if not url.startswith((site, f"blob:{site}", "data:"))]
    assert not said


def type_in(page, text):
    page.locator("#editor .cm-content").fill(text)
    page.wait_for_selector(SHOWN)


def text_of(page):
    return "\n".join(page.locator("#editor .cm-line").all_inner_texts()).strip()


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


def errors(page):
    return page.locator("#message :is(.error, .warning)").all_inner_texts()


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


def test_nothing_can_be_used_until_python_has_started(page):
    found = page.evaluate("window.progress")
    assert found == sorted(found) and len({*found}) > 3 and found[-1] > 0.7
    assert {*page.evaluate("window.usable")} == {0}
    assert page.locator("main").evaluate("main => main.inert") is False


def box(page, place):
    return page.locator(place).first.bounding_box()


def test_the_first_example_has_all_above_the_fold(page):
    """In 1280 x 720: wavefronts before and after, the function, and the picture under the editor."""
    assert message(page).strip() == "A warp reads a column in 32 wavefronts; swizzled, in 1."
    signature = page.locator(
        "#code .cm-line", has_text="constexpr int swizzled_apply("
    ).bounding_box()
    picture, editor = box(page, "figure svg"), box(page, "#editor")
    assert signature["y"] < 500
    assert editor["y"] + editor["height"] < picture["y"] < 500
    assert picture["x"] < editor["x"] + editor["width"]
    assert "#endif" not in page.locator("#code").inner_text()
    folded = page.locator("#code .folded").first
    assert re.fullmatch(r"\d+ lines", folded.inner_text())
    folded.click()
    assert "#define LEGO_HOST_DEVICE" in page.locator("#code .cm-content").inner_text()


def test_a_bank_is_said_in_its_cells_and_marked(page):
    choose(page, SWIZZLE, "cuda")
    said = page.locator("figcaption").all_inner_texts()
    assert said == [
        "swizzled: a warp reads a row in 1 wavefront, a column in 1",
        "plain: a warp reads a row in 1 wavefront, a column in 32",
    ]
    cells = page.locator("figure").nth(0).locator("g rect")
    cells.nth(33).hover(force=True)
    assert page.locator("#cell").inner_text() == "[1,1] is at 32, in bank 0"
    assert page.locator("figure").nth(0).locator(".bank").count() == 31
    assert page.locator("figure").nth(1).locator(".bank").count() == 0
    assert page.locator("figure .mark").count() == 2
    texts = page.locator("figure").nth(0).locator("g[fill='#111'] text").all_text_contents()
    assert texts == [str(i ^ j) for i in range(32) for j in range(32)]


@pytest.mark.parametrize("width", [420, 1280])
def test_no_picture_and_no_caption_is_cut(page, width):
    page.set_viewport_size({"width": width, "height": 720})
    for example in (SWIZZLE, TILES, WEB / "gallery" / "fragment.py"):
        choose(page, example, "cuda")
        over = page.evaluate(
            """() => [...document.querySelectorAll("#pictures, figure, figcaption, figure text")].filter((part) => {
              const drawn = part.getBoundingClientRect();
              return part.scrollHeight > part.clientHeight + 1 && part.id === "pictures"
                || part.ownerSVGElement?.getBoundingClientRect().right < drawn.right - 1
                || drawn.right > innerWidth || drawn.left < 0 || document.body.scrollWidth > innerWidth;
            }).map((part) => part.outerHTML.slice(0, 200))"""
        )
        assert over == []
    page.set_viewport_size({"width": 1280, "height": 720})


def test_blocks_of_the_documentation_open_in_the_page(page):
    spec = importlib.util.spec_from_file_location("hooks", WEB.parent / "docs" / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    page.evaluate("location.hash = 'example=tiles'")
    page.wait_for_timeout(100)
    for name, part, printed in (
        ("tutorial.md", "small[0, 1, :, :]", "[[ 4  5  6  7]\n [12 13 14 15]\n [20 21 22 23]]"),
        ("tutorial.md", "small.check()", "48 indices: a bijection onto 0..47, inv undoes apply"),
        ("cookbook.md", "optimal_swizzle", "write: 8 instructions, 32 wavefronts;"),
        ("cookbook.md", "recognize(found)", "digits of a mixed radix"),
        ("cookbook.md", "shuffled = Lookup", ""),
    ):
        recipes = hooks.recipes((WEB.parent / "docs" / name).read_text(), name)
        text = next(text for _, text, _ in recipes if part in text)
        page.evaluate(f"location.hash = '{hooks.state(text)}'")
        page.wait_for_function(
            "text => document.querySelector('#editor').textContent.includes(text)", arg=part
        )
        page.wait_for_selector(SHOWN)
        assert errors(page) == []
        assert printed in message(page)


def test_options_of_the_code(page):
    choose(page, TILES, "cuda")
    code = page.locator("#code .cm-content")
    page.select_option("#index_type", "int64")
    page.check("#hints")
    page.wait_for_selector(SHOWN)
    assert "long long tiles_apply" in code.inner_text()
    assert "_ASSUME(" in "".join(downloaded(page).values())
    page.click("#tab-rust")
    page.wait_for_selector(SHOWN)
    assert errors(page) == [] and page.locator("#hints-label").is_hidden()
    page.click("#tab-cpp")
    page.uncheck("#hints")
    page.select_option("#index_type", "")
    page.select_option("#form", "view")
    page.wait_for_selector(SHOWN)
    assert "tiles_view" in "".join(downloaded(page).values())
    page.select_option("#form", "")
    page.select_option("#cost", "plain")
    page.wait_for_selector(SHOWN)
    assert errors(page) == []
    page.select_option("#cost", "")
    page.wait_for_selector(SHOWN)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gives_the_bytes_that_cpython_gives(page, example):
    for target in TARGETS if example == TILES else ["cuda", "javascript"]:
        choose(page, example, target)
        assert errors(page) == []
        wanted = expected(example, target)
        assert downloaded(page, len(wanted)) == wanted


def test_a_syntax_error_points_at_its_line(page):
    type_in(page, "from lego_emit import Row\n\nlayout = Row(3,\n")
    assert message(page) == "Line 3: '(' was never closed"
    mark = page.locator("#editor .cm-line", has=page.locator(".cm-lintRange-error"))
    assert mark.inner_text() == "layout = Row(3,"
    assert "stale" in page.locator(".take").get_attribute("class")
    assert page.locator("#copy").is_disabled() and page.locator("#download").is_disabled()


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
    choose(page, TILES, "cuda")
    assert message(page) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = y\n", "Line 1: NameError: name 'y' is not defined"),
        (
            "x = Row(4)\n",
            "Line 1: NameError: name 'Row' is not defined; write from lego_emit import Row",
        ),
        ("assert False\n", "Line 1: AssertionError"),
        ("", "the text defines no layout and no function, and prints nothing"),
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
    type_in(page, "import sympy\n")
    assert message(page) == "Line 1: sympy is not in this page; in a Python of your own it works"
    type_in(page, "import numpy as np\nprint(np.arange(3))\nnp.fft\n")
    assert "numpy.fft is not in this page, which has a small part of NumPy" in message(page)


def test_pointing_at_a_cell_tells_of_it_and_marks_it_in_every_picture(page):
    choose(page, COLUMNS, "cuda")
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

    choose(page, TILES, "cuda")
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
    assert page.locator("figure g rect").count() == 8  # i below 8, by a slider
    page.locator("#sliders").get_by_label("i", exact=True).first.fill("4")
    page.wait_for_selector(SHOWN)
    assert text_of(page).endswith('domain = {"i": 4}')
    assert page.locator("figure g rect").count() == 4
    page.check("#order")
    page.wait_for_selector(SHOWN)
    assert "no order" in page.locator("figure").inner_text()
    page.uncheck("#order")
    page.wait_for_selector(SHOWN)


def test_sizes_that_the_text_does_not_say_have_sliders(page):
    lines = (
        "from lego_emit import OrderBy, Row",
        "def tiled(M, N, BM, BN):",
        "    return OrderBy(Row(M, N)).TileBy([M // BM, N // BN], [BM, BN])",
    )
    type_in(page, "\n".join((*lines, "")))
    assert errors(page) == []
    assert page.locator("figure g rect").count() == 64
    sliders = page.locator("#sliders label")
    assert sliders.all_inner_texts() == ["M", "N", "BM", "BN"]
    page.locator("#sliders").get_by_label("M", exact=True).first.fill("12")
    page.wait_for_selector(SHOWN)
    assert text_of(page).splitlines()[-1] == 'sizes = {"M": 12, "N": 8, "BM": 4, "BN": 4}'
    assert page.locator("figure g rect").count() == 96
    type_in(page, "\n".join((*lines, "sizes = {'M': 4, 'N': 6, 'BM': 2}", "")))
    page.locator("#sliders").get_by_label("BN", exact=True).first.fill("3")
    page.wait_for_selector(SHOWN)
    assert text_of(page).splitlines()[-1] == "sizes = {'M': 4, 'N': 6, 'BM': 2, \"BN\": 3}"
    page.locator("#sliders").get_by_label("BN", exact=True).first.fill("4")
    page.wait_for_selector(SHOWN)
    page.locator("#sliders").get_by_label("BN", exact=True).first.fill("2")  # not off: back again
    page.wait_for_selector(SHOWN)
    assert page.locator("figure g rect").count() == 24


def test_colors_and_animations(page):
    choose(page, TILES, "cuda")
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
    choose(page, TILES, "cuda")
    page.get_by_label("M", exact=True).first.fill("12")
    page.wait_for_selector(SHOWN)
    assert "M, N = 12, 8  # the matrix" in page.locator("#editor .cm-content").inner_text()
    assert "Row(12, 8)" in "".join(downloaded(page).values())
    type_in(page, "nothing like that(\n")
    assert page.get_by_label("M", exact=True).first.is_disabled()
    assert page.locator("#editor .cm-line").first.inner_text() == "nothing like that("


def test_the_address_holds_the_state(page, browser):
    choose(page, COLUMNS, "rust")
    copy = browser.new_context().new_page()
    copy.set_default_timeout(PATIENCE)
    copy.goto(page.url)
    copy.wait_for_selector(SHOWN)
    assert copy.locator("#code .cm-content").inner_text().startswith("// Code generated")
    assert downloaded(copy) == expected(COLUMNS, "rust")
    copy.close()


def test_what_an_address_does_not_say_is_as_at_the_start(page):
    choose(page, WEB / "gallery" / "morton.py", "rust")
    page.select_option("#color", "position")
    page.check("#memory")
    page.wait_for_selector(SHOWN)
    spec = importlib.util.spec_from_file_location("hooks", WEB.parent / "docs" / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    page.evaluate(f"location.hash = '{hooks.state(TILES.read_text())}'")
    page.wait_for_function("() => document.querySelector('#subject').value === 'tiles'")
    page.wait_for_selector(SHOWN)
    assert not page.locator("#memory").is_checked() and not page.locator("#order").is_checked()
    assert page.locator("#color").input_value() == "tile"
    assert page.locator("#gallery").input_value() == "tiles"
    assert page.locator("#tab-rust").get_attribute("aria-selected") == "true"
    type_in(page, "from lego_emit import Row\n\nrows = Row(2, 3)\n")
    assert page.locator("#gallery").input_value() == ""
    choose(page, TILES, "cuda")


def test_the_theme_is_chosen_and_kept(page, site):
    back = "getComputedStyle(document.body).backgroundColor"
    page.select_option("#theme", "dark")
    assert page.evaluate(back) == "rgb(22, 24, 28)"
    other = page.context.new_page()
    other.goto(site)
    assert (
        other.locator("#theme").input_value() == "dark"
        and other.evaluate(back) == "rgb(22, 24, 28)"
    )
    other.close()
    page.select_option("#theme", "light")
    assert page.evaluate(back) == "rgb(255, 255, 255)"
    page.select_option("#theme", "")


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
    type_in(page, "a = 1\n")
    page.evaluate("window.confirm = (asked) => { window.asked = asked; return false; }")
    page.click("#build")
    assert page.evaluate("window.asked") == "Put what the form says in place of your text?"
    assert page.locator("#builder").is_hidden()
    assert page.locator("#editor .cm-line").first.inner_text() == "a = 1"
    page.evaluate("window.confirm = () => true")
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
    choose(page, TILES, "cuda")
    assert "tiles_apply: 6 operations, not 22" in page.locator("#counts").inner_text()
    page.click("#explanation summary")
    page.get_by_text("by Figs. 4 and 5 alone").wait_for()
    page.click("#explanation summary")


@pytest.mark.deep
def test_one_command_builds_the_site(programs, built_site, browser):
    assert [line for line in built_site.said if line.startswith("site: ")] == [
        "site: the pages",
        "site: the playground",
    ]
    cookbook = (built_site.folder / "cookbook.html").read_text()
    link = re.search('href="(playground/index.html)#', cookbook)[1]
    assert (built_site.folder / link).exists()
    for theme in ("light", "dark"):
        page = browser.new_context(color_scheme=theme).new_page()
        for name in ("index", "notebook", "api/generate", "add-a-language"):
            page.goto((built_site.folder / f"{name}.html").as_uri())
            assert not page.evaluate(FAINT), f"{name}, {theme}"
