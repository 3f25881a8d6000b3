// Python in a worker: what it is asked goes to driver.py. It is started from a blob, so that the
// page's content security policy holds here, too; hence the absolute addresses in `files`.
let answer;

async function start({ pyodide, archive, lock }) {
  const { loadPyodide } = await import(pyodide + "pyodide.mjs");
  const packed = fetch(archive).then((response) => response.arrayBuffer());
  // A lock without packages and a base of our own: nothing is ever asked for elsewhere.
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
