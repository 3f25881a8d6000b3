"""What MkDocs calls: the pages of the notebook and of the changelog are made of those files."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parent
NOTEBOOK = DOCS / "notebook.ipynb"
CHANGES = DOCS.parent / "CHANGELOG.md"


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
