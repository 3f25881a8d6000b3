"""Runs in Pyodide while the page is built: wheels and driver become one archive of compiled modules."""

import compileall
import py_compile
import shutil
import zipfile
from pathlib import Path

folder = Path("/tmp/package")
for wheel in sorted(Path("/tmp").glob("*.whl")):
    with zipfile.ZipFile(wheel) as held:
        held.extractall(folder)
shutil.copy("/tmp/driver.py", folder)

# Beside the sources' names, without the sources: half the size, and nothing is compiled at the start.
assert compileall.compile_dir(
    folder,
    legacy=True,
    quiet=1,
    stripdir=str(folder),
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
)
with zipfile.ZipFile("/tmp/package.zip", "w") as out:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".py", ".pyi", ".c", ".so"):
            entry = zipfile.ZipInfo(str(path.relative_to(folder)))
            out.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
