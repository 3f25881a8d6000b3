"""python -m lego_emit: the command line."""

from .cli import main

main(prog_name="lego-emit")
