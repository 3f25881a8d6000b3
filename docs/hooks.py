"""What MkDocs calls: the pages of the notebook and of the changelog are made of those files, there is a page
for each public name, and the playground opens what recipes say."""

import base64
import json
import re
import zlib
from pathlib import Path

from mkdocs.structure.files import File

DOCS = Path(__file__).parent
NOTEBOOK = DOCS / "notebook.ipynb"
CHANGES = DOCS.parent / "CHANGELOG.md"
OPENED = ("index.md", "tutorial.md", "cookbook.md")  # pages whose blocks the playground opens
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[a-z]+)(?:: (?P<what>[^\n]*?))? -->\n+)?"
    r"^```(?P<language>\S*)\n(?P<body>.*?)^```$|(?P<section>^## )",
    re.M | re.S,
)
NEEDS = {  # what the page has not, by what a block says
    r"\.compile\(|\.verify\(|\.time\(": "a compiler",
    r"\bsympy\b": "SymPy",
    r"\bmatplotlib\b": "Matplotlib",
}


API = {
    "Layouts": """GroupBy TileBy OrderBy Row Col RegP GenP Lookup ExpandBy Strided Linear Pattern Choice AnyRank
        Ragged Packed catalogue recognize""",
    "Emitting": "generate render copy pack unpack symbols fori_loop isqrt simplify",
    "Kernels in Python": "jit assume",
    "Data movement": "bank_conflicts optimal_swizzle convert",
    "Errors": "LegoError LegoWarning",
    "Modules": "cute hardware movement types",
}
OF_A_MODULE = """    options:
      members_order: alphabetical
      filters:
        - "!^_"
        - "!^Strided$"
        - "!^(forward|backward|reference_apply|reference_inv|sizes|offsets|with_sizes)$"
        - "!^(physical_dims|has_inverse|is_bounded|is_concrete|results)$"
      show_root_heading: false
"""
# An instance is shown as its class, and a function that has its module's name by its whole path.
SHOWN = {
    "catalogue": "lego_emit.formats.entry.Catalogue",
    "convert": "lego_emit.movement.convert.convert",
    "recognize": "lego_emit.recognition.recognize.recognize",
    "render": "lego_emit.kernels.render.render",
}


def on_config(config):
    """The pages of the names stand below that of the API."""
    for group in config.nav:
        for place, entry in enumerate(group.get("Reference", ())):
            if entry == {"Python": "api.md"}:
                listed = [{g: [f"api/{n}.md" for n in names.split()]} for g, names in API.items()]
                more = [{"What calls give": "api-results.md"}, {"Extensions": "api-extensions.md"}]
                group["Reference"][place] = {"Python": ["api.md", *listed, *more]}
    return config


def on_files(files, config):
    for name in " ".join(API.values()).split():
        files.append(File.generated(config, f"api/{name}.md", content=page_of(name)))
    return files


def page_of(name):
    """The page of a public name, as a program imports it."""
    is_module = name in API["Modules"].split()
    options = OF_A_MODULE if is_module else ""
    head = f"# {name}\n\n```python\nfrom lego_emit import {name}\n```\n\n"
    return f"{head}::: {SHOWN.get(name, f'lego_emit.{name}')}\n{options}"


def on_page_markdown(markdown, page, config, files):
    name = page.file.src_uri
    if made := {"notebook.md": notebook, "changelog.md": changelog}.get(name):
        return made()
    return with_links(markdown, name) if name in OPENED else markdown


def changelog():
    """CHANGELOG.md, in which links start at docs/ and those to other files are their texts alone."""
    text = CHANGES.read_text(encoding="utf-8").replace("# Changes\n", "# Changelog\n", 1)
    text = re.sub(r"\[([^\]\n]+)\]\((?!docs/|https?:)[\w.]+\)", r"\1", text)
    return text.replace("](docs/", "](")


def recipes(markdown, name):
    """A page's Python blocks: (where each ends, what is opened, what it needs that the playground has not).

    What is opened stands alone: before the block stand those that it goes on from, in the cookbook those
    of its section, and what it imports from files of the page.
    """
    before, files = [], {}
    for block in BLOCK.finditer(markdown):
        if block["section"]:
            before = [] if name == "cookbook.md" else before
            continue
        if block["language"] != "python" or block["mark"] == "raises":
            continue
        body, is_file = block["body"], block["mark"] == "file"
        if is_file:
            files[Path(block["what"]).stem] = body
            if Path(block["what"]).stem.startswith("test_"):
                continue
        text = body if is_file else "\n\n".join([*before, body])
        text = re.sub(r"^from (\w+) import .*\n", lambda m: files.get(m[1], m[0]), text, flags=re.M)
        needs = block["what"] if block["mark"] == "needs" else ""
        needs = needs or next((n for said, n in NEEDS.items() if re.search(said, body)), "")
        if not needs and not is_file:
            before.append(body)
        yield block.end(), text.strip() + "\n", needs


def with_links(markdown, name):
    """The page with a link below each block that opens it in the playground, or what it needs."""
    pieces, at = [], 0
    for end, text, needs in recipes(markdown, name):
        said = link(text) if not needs else f"Needs {needs}, which the playground has not."
        pieces += [markdown[at:end], f"\n\n<small>{said}</small>"]
        at = end
    return "".join([*pieces, markdown[at:]])


def link(text):
    """A link to the playground, which opens with this text."""
    return f'<a href="playground/index.html#{state(text)}">Open in the playground</a>'


def state(text):
    """A text as web/link.js has it in an address."""
    packed = zlib.compress(json.dumps({"text": text}).encode(), 9, wbits=-15)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def notebook():
    """The notebook's cells and outputs as Markdown."""
    made = []
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        made.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            shown = "".join(output["data"]["text/html"]).strip()
            made.append(f'<div class="notebook-result">\n{shown}\n</div>')
    return "\n\n".join(made) + "\n"
