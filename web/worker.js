// Python in a worker: what it is asked goes to driver.py.
let python, files;
const { fetch } = globalThis;

async function fetched(address) {
  return (await globalThis.fetch(address)).arrayBuffer();
}

/** Count what is fetched from now on, Pyodide's files, too: of so many bytes. */
function counting(bytes) {
  let here = 0;
  globalThis.fetch = async (...request) => {
    const response = await fetch(...request);
    const counted = response.body.pipeThrough(new TransformStream({
      transform(chunk, next) {
        here += chunk.length;
        told(0.7 * Math.min(here / bytes, 1), `${(here / 1e6).toFixed(1)} of ${(bytes / 1e6).toFixed(1)} MB`);
        next.enqueue(chunk);
      },
    }));
    return new Response(counted, response);
  };
}

function told(progress, text) {
  postMessage({ progress, text });
}

/** Load Pyodide from its folder, and the archive of modules. */
async function start({ pyodide, archive, lock, bytes }) {
  counting(bytes);
  const packed = fetched(archive);
  const { loadPyodide } = await import(pyodide + "pyodide.mjs");
  // A lock without packages, and a base of our own: nothing is ever asked for elsewhere.
  python = await loadPyodide({
    indexURL: pyodide,
    packageBaseUrl: pyodide,
    lockFileContents: { info: lock, packages: {} },
  });
  globalThis.fetch = fetch;
  told(0.85, "lego-emit is loaded");
  python.unpackArchive(await packed, "zip");
  told(0.95, "lego-emit starts");
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
