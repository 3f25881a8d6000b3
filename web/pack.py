"""Runs in Pyodide while the page is built: wheels become an archive of compiled modules."""

import compileall
import json
import marshal
import shutil
import sys
import zipfile
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from py_compile import PycInvalidationMode
from types import CodeType

KEPT = (".pyc", ".jinja", ".json", ".so", ".cache")
SEPARATOR = f"\n\n{'-' * 80}\n\n"
METADATA = ("METADATA", "entry_points.txt")  # by which plug-ins are found


def pack(files: list[str], archive: str) -> str:
    """Put wheels and modules into one archive: .pyc in place of .py, no headers of C++, and beside the
    driver what each start would compute again. Returns the wheels' licences."""
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
    if (folder / "driver.pyc").exists():
        _start(folder)
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted(folder.rglob("*")):
            if path.suffix in KEPT or path.name in METADATA:
                entry = zipfile.ZipInfo(str(path.relative_to(folder)))  # without a date
                packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return SEPARATOR.join(notices)


def _start(folder: Path) -> None:
    """Run the driver where the page runs it, and keep its first answer and the compiled templates."""
    shutil.copytree(folder, Path.cwd(), dirs_exist_ok=True)
    Path("templates").mkdir()
    driver = __import__("driver")
    found = driver.start()
    driver.run("from lego_emit import Row\n\nrows = Row(4, 6)\n")
    for target in found["targets"]:
        driver.code("rows", target)
    (folder / "start.json").write_text(json.dumps(found))
    shutil.copytree("templates", folder / "templates")


def compiled(library: str, archive: str) -> None:
    """The archive of the standard library with .pyc in place of .py where a module is loaded here, once
    the driver has run: Pyodide's holds sources alone, which each start compiles."""
    specs = (getattr(module, "__spec__", None) for module in [*sys.modules.values()])
    loaded = {spec.origin.partition(".zip/")[2] for spec in specs if spec and spec.origin}
    with zipfile.ZipFile(library) as given, zipfile.ZipFile(archive, "w") as packed:
        for entry in given.infolist():
            name, data = entry.filename, given.read(entry)
            if name in loaded:
                code = compile(data, f"/lib/{Path(library).name}/{name}", "exec", dont_inherit=True)
                data, name = _pyc(code, data), f"{name}c"
            packed.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


def _pyc(code: CodeType, source: bytes) -> bytes:
    """A module's file, which is not compared with its source."""
    unchecked = (1).to_bytes(4, "little")
    return MAGIC_NUMBER + unchecked + source_hash(source) + marshal.dumps(code)


def _notice(info: Path) -> str:
    """What a wheel says of its licence."""
    texts = [p.read_text() for p in sorted(info.rglob("LICENSE*")) if p.is_file()]
    metadata = (info / "METADATA").read_text().splitlines()
    said = "\n".join(line for line in metadata if line.startswith(("License", "Home-page")))
    return f"{info.stem}\n\n{''.join(texts) or said}\n"
