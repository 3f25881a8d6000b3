"""What MkDocs calls: the pages of the notebook and of the changelog are made of those files, and there is a
page for each public name."""

import json
import re
from pathlib import Path

from mkdocs.structure.files import File

DOCS = Path(__file__).parent
NOTEBOOK = DOCS / "notebook.ipynb"
CHANGES = DOCS.parent / "CHANGELOG.md"


API = {
    "Layouts": """GroupBy TileBy OrderBy Row Col RegP GenP Lookup ExpandBy Strided Linear Pattern Choice AnyRank
        Ragged Packed catalogue recognize""",
    "Emitting": "generate render copy pack unpack symbols fori_loop isqrt simplify",
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
    made = {"notebook.md": notebook, "changelog.md": changelog}.get(page.file.src_uri)
    return made() if made else markdown


def changelog():
    """CHANGELOG.md, in which links start at docs/ and those to other files are their texts alone."""
    text = CHANGES.read_text(encoding="utf-8").replace("# Changes\n", "# Changelog\n", 1)
    text = re.sub(r"\[([^\]\n]+)\]\((?!docs/|https?:)[\w.]+\)", r"\1", text)
    return text.replace("](docs/", "](")


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
