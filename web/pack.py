"""Runs in Pyodide while the page is built: wheels become an archive of compiled modules."""

import compileall
import shutil
import zipfile
from pathlib import Path
from py_compile import PycInvalidationMode

KEPT = (".pyc", ".jinja", ".json", ".so")
SEPARATOR = f"\n\n{'-' * 80}\n\n"
METADATA = ("METADATA", "entry_points.txt")  # by which plug-ins are found


def pack(files: list[str], archive: str) -> str:
    """Put wheels and modules into one archive: .pyc in place of .py, no headers of C++. Returns the
    wheels' licences."""
    folder = Path("/tmp/packed")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in files:
        if file.endswith(".whl"):
            with zipfile.ZipFile(file) as wheel:
                wheel.extractall(folder)
        else:
            shutil.copy(file, folder)
    notices = [_notice(info) for info in sorted(folder.glob("*.dist-info"))]
    # Where the sources were: half the size, and nothing is compiled at the start.
    mode = PycInvalidationMode.UNCHECKED_HASH
    compiled = compileall.compile_dir(
        folder, quiet=1, legacy=True, stripdir=str(folder), invalidation_mode=mode
    )
    assert compiled
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted(folder.rglob("*")):
            if path.suffix in KEPT or path.name in METADATA:
                entry = zipfile.ZipInfo(str(path.relative_to(folder)))  # without a date
                packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return SEPARATOR.join(notices)


def _notice(info: Path) -> str:
    """What a wheel says of its licence."""
    texts = [p.read_text() for p in sorted(info.rglob("LICENSE*")) if p.is_file()]
    metadata = (info / "METADATA").read_text().splitlines()
    said = "\n".join(line for line in metadata if line.startswith(("License", "Home-page")))
    return f"{info.stem}\n\n{''.join(texts) or said}\n"
