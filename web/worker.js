// Python in a worker: what it is asked goes to driver.py.
let answer;

/** files: the addresses of Pyodide's folder and of the archive, and what Pyodide's lock says of itself. */
async function start({ pyodide, archive, lock }) {
  const packed = fetch(archive).then((response) => response.arrayBuffer());
  const { loadPyodide } = await import(pyodide + "pyodide.mjs");
  // A lock without packages, and a base of our own: nothing is ever asked for elsewhere.
  const python = await loadPyodide({
    indexURL: pyodide,
    packageBaseUrl: pyodide,
    lockFileContents: { info: lock, packages: {} },
  });
  python.unpackArchive(await packed, "zip");
  answer = python.pyimport("driver").answer;
}

addEventListener("message", async ({ data: { id, files, request } }) => {
  try {
    if (files) await start(files);
    postMessage({ id, answer: JSON.parse(answer(JSON.stringify(request))) });
  } catch (error) {
    postMessage({ id, failed: String(error) });
  }
});
