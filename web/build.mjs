// Builds the playground: `node web/build.mjs [FOLDER]`, by default into build/site/playground.
//
// Static files, of npm's packages in package-lock.json and pip's in requirements.txt; all names but
// index.html hold a hash of the contents. PYTHON names an interpreter that has pip.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const output = resolve(process.argv[2] ?? join(root, "build/site/playground"));
const scratch = fs.mkdtempSync(join(tmpdir(), "playground-"));
const made = join(scratch, "made");

try {
  fs.mkdirSync(made);
  await installPackages();
  const files = { archive: hashed("package.zip", await archive(wheels())), ...(await pyodideFiles()) };
  await bundle(files);
  publish();
} finally {
  fs.rmSync(scratch, { recursive: true, force: true });
}

function run(command, args, env = {}) {
  execFileSync(command, args, { cwd: here, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
}

function read(...path) {
  return fs.readFileSync(join(...path), "utf8");
}

/** npm's packages, where the lock has changed. */
function installPackages() {
  const stamp = join(here, "node_modules/installed");
  const lock = read(here, "package-lock.json");
  if (fs.existsSync(stamp) && read(stamp) === lock) return;
  run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
  fs.writeFileSync(stamp, lock);
}

/** The wheels of lego-emit as it stands here, and of what it needs in the browser. */
function wheels() {
  const folder = join(scratch, "wheels");
  const source = join(scratch, "source"); // a copy: setuptools writes beside what it builds
  const isSource = (path) => !/(__pycache__|\.egg-info)$/.test(path);
  for (const name of ["pyproject.toml", "README.md", "LICENSE", "lego_emit", "printers", "targets"])
    fs.cpSync(join(root, name), join(source, name), { recursive: true, filter: isSource, verbatimSymlinks: true });
  const wheel = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "-w", folder];
  const python = process.env.PYTHON ?? "python3";
  run(python, [...wheel, source]);
  // Without a compiler markupsafe is pure Python.
  run(python, [...wheel, "--no-binary", "markupsafe", "-r", "requirements.txt"], { CC: "false" });
  return fs.readdirSync(folder).sort().map((name) => join(folder, name));
}

/** The wheels and the driver as one archive, compiled by the Python that will run them. */
async function archive(wheels) {
  const { loadPyodide } = await import("pyodide");
  const { FS, runPython } = await loadPyodide();
  for (const path of [...wheels, join(here, "driver.py")])
    FS.writeFile(`/tmp/${basename(path)}`, fs.readFileSync(path));
  runPython(read(here, "pack.py"));
  return FS.readFile("/tmp/package.zip");
}

/** Write a file under a name that holds a hash of its contents; that name. */
function hashed(name, contents) {
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 10);
  const ending = extname(name);
  const full = `${basename(name, ending)}-${hash}${ending}`;
  fs.writeFileSync(join(made, full), contents);
  return full;
}

/** Pyodide's files keep their names, by which it finds them, in a folder named by its version. */
async function pyodideFiles() {
  const { version } = await import("pyodide");
  const folder = `pyodide-${version}`;
  fs.mkdirSync(join(made, folder));
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"])
    fs.copyFileSync(join(here, "node_modules/pyodide", name), join(made, folder, name));
  const { info } = JSON.parse(read(here, "node_modules/pyodide/pyodide-lock.json"));
  return { pyodide: `${folder}/`, lock: info };
}

/** The page, its style and its scripts. */
async function bundle(files) {
  const { build } = await import("esbuild");
  const bundled = async (entry, options) => {
    const found = await build({
      entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, target: "es2022",
      charset: "utf8", legalComments: "none", logLevel: "warning", ...options,
    });
    return found.outputFiles[0].text;
  };
  const gallery = fs.readdirSync(join(here, "gallery")).filter((name) => name.endsWith(".py")).sort()
    .map((name) => ({ name: basename(name, ".py").replace(/^\d+_/, ""), text: read(here, "gallery", name) }));
  files.worker = hashed("worker.js", await bundled("worker.js", { format: "esm" }));
  const define = { FILES: JSON.stringify(files), GALLERY: JSON.stringify(gallery) };
  const script = hashed("page.js", await bundled("page.js", { format: "esm", define }));
  const style = hashed("style.css", await bundled("style.css"));
  const page = read(here, "index.html").replace("style.css", style).replace("page.js", script);
  fs.writeFileSync(join(made, "index.html"), page);
}

/** Put the finished folder into its place. */
function publish() {
  fs.mkdirSync(dirname(output), { recursive: true });
  fs.rmSync(output, { recursive: true, force: true });
  fs.cpSync(made, output, { recursive: true });
  const size = (path) => fs.statSync(path).isDirectory()
    ? fs.readdirSync(path).reduce((sum, name) => sum + size(join(path, name)), 0) : fs.statSync(path).size;
  console.log(`${output}: ${(size(output) / 1e6).toFixed(1)} MB`);
}
