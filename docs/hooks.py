"""What MkDocs calls: the page of the notebook is made from the notebook itself."""

import json
from pathlib import Path

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")


def on_page_markdown(markdown, page, config, files):
    return notebook() if page.file.src_uri == "notebook.md" else markdown


def notebook():
    """The notebook's cells and outputs as Markdown."""
    made = []
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        made.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            shown = "".join(output["data"]["text/html"]).strip()
            made.append(f'<div style="overflow-x: auto;">\n{shown}\n</div>')
    return "\n\n".join(made) + "\n"
