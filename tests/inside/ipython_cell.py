"""A kernel that is typed into IPython."""

import traceback

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

CELL = """import lego_emit
from lego_emit import Row

@lego_emit.jit(target="python")
def at(M, N, i, j):
    L = Row(M, N)
    if i < 0:
        raise ValueError(L[i, j])
    return L[i, j]
"""


def main() -> None:
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    shell.run_cell(CELL).raise_error()
    at = shell.user_ns["at"]
    print(at(4, 6, 2, 3), at.lego.source.count("Row"))
    try:
        at(4, 6, -1, 3)
    except ValueError as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        print(last.lineno, last.line)


if __name__ == "__main__":
    main()
