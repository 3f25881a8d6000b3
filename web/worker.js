// Python in a worker: what it is asked goes to driver.py.
let python, files;

async function fetched(address) {
  return (await fetch(address)).arrayBuffer();
}

/** Load Pyodide from its folder, and the archive of modules. */
async function start({ pyodide, archive, lock }) {
  const packed = fetched(archive);
  const { loadPyodide } = await import(pyodide + "pyodide.mjs");
  // A lock without packages, and a base of our own: nothing is ever asked for elsewhere.
  python = await loadPyodide({
    indexURL: pyodide,
    packageBaseUrl: pyodide,
    lockFileContents: { info: lock, packages: {} },
  });
  python.unpackArchive(await packed, "zip");
}

/** The driver's answer; it may need an archive first. */
async function answer(request) {
  const found = JSON.parse(python.pyimport("driver").answer(JSON.stringify(request)));
  if (!found.needs) return found;
  python.unpackArchive(await fetched(files[found.needs]), "zip");
  return answer(request);
}

addEventListener("message", async ({ data: { id, request, ...given } }) => {
  try {
    if (given.files) await start((files = given.files));
    postMessage({ id, answer: await answer(request) });
  } catch (error) {
    postMessage({ id, failed: String(error) });
  }
});
