"""Runs the blocks of pages as the playground does, without NumPy and SymPy: page_blocks.py, with JSON texts on its input and
the answers on its output."""

import json
import sys
from pathlib import Path

sys.modules.update(dict.fromkeys(("numpy", "sympy", "cffi", "matplotlib")))  # as if not installed
sys.path.insert(0, str(Path(__file__).parent.parent / "web"))

import driver  # noqa: E402


def ask(**request):
    return json.loads(driver.answer(json.dumps(request)))


def shown(text):
    """What the page shows of a text: what it prints, and an error of the run, the code or the picture."""
    found = ask(do="run", text=text)
    subjects, printed = [*found.get("subjects", ())], found["printed"]
    if subjects and "error" not in found:
        found = ask(do="code", name=subjects[-1], target="cuda")
    if subjects and "error" not in found:
        found = ask(do="picture", name=subjects[-1])
    return {"printed": printed, "error": found.get("error")}


print(json.dumps([shown(text) for text in json.load(sys.stdin)]))
