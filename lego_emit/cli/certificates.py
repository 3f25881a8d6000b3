"""lego-emit check-certificate: prove what a certificate states, from the text and the layout alone."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..project.loading import subject, telling, user_file
from .output import print_json
from .root import FAILED, file_and_name, json_option, main, printable, warn


@main.command(
    "check-certificate",
    epilog="lego-emit check-certificate brick.json --source brick.hpp --layout layouts.py:brick",
)
@click.argument("certificate", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--source",
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    help="The emitted file.",
)
@click.option(
    "--layout", required=True, metavar="FILE.py:NAME", help="The layout, or the function, it is of."
)
@json_option
def check_certificate(certificate: str, source: str, layout: str, as_json: bool) -> None:
    """Prove again what a CERTIFICATE states of an emitted file, by a program that shares nothing with
    the one that made it.

    Exit code 1 where something is wrong, or could not be proved; 2 where the certificate is of
    another text, as it is once the text was edited.
    """
    from ..proofcheck.check import check

    file, wanted = file_and_name(layout)
    data = _read(certificate)
    text = Path(source).read_text(encoding="utf-8", errors="surrogateescape")
    with redirect_stdout(sys.stderr), telling(warn), user_file(file) as defined:
        report = check(data, text, subject(defined, wanted, file))
    if as_json:
        print_json(report.as_dict())
    else:
        click.echo(printable(str(report)), nl=False)
    if not report:
        sys.exit(FAILED)


def _read(path: str) -> Any:
    from ..proofcheck.check import CertificateError

    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"{path} is no certificate: {error}") from None
