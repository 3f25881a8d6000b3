"""lego-emit targets: languages and toolchains."""

from __future__ import annotations

from contextlib import suppress

from ..emit import registry
from ..errors import LegoError
from .output import print_table
from .root import json_option, main


@main.command(epilog="lego-emit targets --json")
@json_option
def targets(as_json: bool) -> None:
    """List the languages that are installed, and the toolchains that this machine has for them."""
    from ..run.registry import toolchain as toolchain_of

    rows: list[tuple[str, ...]] = [("target", "language", "file", "toolchain")]
    for name in registry.targets():
        try:
            printer = registry.printer(name)
        except LegoError as error:
            rows.append((name, "does not load", "", str(error)))
            continue
        try:
            toolchain = toolchain_of(name).find().version
        except LegoError as error:
            toolchain = f"missing: {error}"
        rows.append((name, printer.title, f"*{printer.extension}", toolchain))
        with suppress(LegoError):
            for device, state in toolchain_of(name).devices():
                rows.append((f"  on {device}", "", "", state))
    print_table(rows, as_json)
