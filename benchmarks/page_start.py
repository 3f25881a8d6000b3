"""How much longer the playground takes to start than Pyodide alone, in one browser: page_start.py [FOLDER] [RUNS]

FOLDER: the built playground, build/site/playground unless given. Pyodide alone is npm's package as it is. Both start in a
worker, in turns, in a fresh profile each time: nothing is cached. Prints medians in seconds: until Python answers, until the page can be used, and until
it shows its first example.
"""

import functools
import json
import shutil
import statistics
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site" / "playground"
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
PYODIDE = ROOT / "web" / "node_modules" / "pyodide"
LOCK = json.loads((PYODIDE / "pyodide-lock.json").read_text())
INFO = json.dumps({"info": LOCK["info"], "packages": {}})
BARE = f"""<!doctype html><title>bare</title><script>
const text = `const {{ loadPyodide }} = await import("${{location.origin}}/bare/pyodide.mjs");
const indexURL = "${{location.origin}}/bare/";
const python = await loadPyodide({{ indexURL, packageBaseUrl: indexURL, lockFileContents: {INFO} }});
postMessage(python.runPython("1 + 1"));`;
const worker = new Worker(URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }})), {{ type: "module" }});
worker.onmessage = () => {{ window.started = performance.now(); }};
</script>"""
TIMES = """
const clock = setInterval(() => {
  if (!document.body) return;
  if (!window.started && document.querySelector("main")?.inert === false) window.started = performance.now();
  if (document.body.dataset.state === "shown") { window.shown = performance.now(); clearInterval(clock); }
}, 5);
"""


class Server(SimpleHTTPRequestHandler):
    extensions_map = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript",
                      ".css": "text/css", ".wasm": "application/wasm", "": "application/octet-stream"}  # fmt: skip

    def translate_path(self, path):
        folder, _, name = path.rpartition("/")
        return str(PYODIDE / name) if folder == "/bare" else super().translate_path(path)

    def do_GET(self):
        if self.path != "/bare.html":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        return self.wfile.write(BARE.encode())

    def log_message(self, *arguments):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=str(FOLDER)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    times = {"Pyodide alone": [], "the page can be used": [], "its first example is shown": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for _ in range(RUNS):
            for path, wanted in (
                ("bare.html", "() => window.started"),
                ("index.html", "() => window.shown"),
            ):
                context = browser.new_context()
                page = context.new_page()
                page.add_init_script("" if path == "bare.html" else TIMES)
                page.goto(address + path)
                page.wait_for_function(wanted, timeout=120_000)
                found = page.evaluate("[window.started, window.shown]")
                if path == "bare.html":
                    times["Pyodide alone"].append(found[0])
                else:
                    times["the page can be used"].append(found[0])
                    times["its first example is shown"].append(found[1])
                context.close()
        browser.close()
    for what, each in times.items():
        runs = " ".join(f"{t / 1000:.2f}" for t in each)
        print(f"{what}: {statistics.median(each) / 1000:.2f} s ({runs})")


if __name__ == "__main__":
    main()
