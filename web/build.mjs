// Builds the playground: `node web/build.mjs [FOLDER]`, by default into build/site/playground.
//
// Static files, of npm's packages in package-lock.json and pip's in requirements.txt; all names but
// index.html hold a hash of the contents. PYTHON names an interpreter that has pip.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const output = resolve(process.argv[2] ?? join(root, "build/site/playground"));
const scratch = fs.mkdtempSync(join(tmpdir(), "playground-"));
const made = join(scratch, "made");
const START = 'await (await import("pyodide")).loadPyodide()';
const notices = []; // the licences of all that the page carries

try {
  fs.mkdirSync(made);
  await installPackages();
  const { info: lock } = JSON.parse(read(here, "node_modules/pyodide/pyodide-lock.json"));
  const pyodide = pyodideFiles((await import("pyodide")).version);
  const packed = await archives(lock, pyodide);
  say("the page");
  await bundle({ lock, pyodide, bytes: bytes(pyodide, packed.archive), ...packed });
  publish();
} catch (error) {
  console.error(String(error?.message ?? error).slice(-2000)); // Pyodide's errors hold all of its packages
  process.exitCode = 1;
} finally {
  fs.rmSync(scratch, { recursive: true, force: true });
}

function say(text) {
  console.log(`playground: ${text}`);
}

function run(command, args, env = {}) {
  execFileSync(command, args, { cwd: here, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
}

function read(...path) {
  return fs.readFileSync(join(...path), "utf8");
}

/** npm's packages, where the lock has changed. */
async function installPackages() {
  const stamp = join(here, "node_modules/installed");
  const lock = read(here, "package-lock.json");
  if (fs.existsSync(stamp) && read(stamp) === lock) return;
  say("npm's packages");
  // On a busy machine npm has left a large file cut off for a while: Pyodide is started, and waited for.
  for (let turn = 1; ; turn++) {
    if (turn % 3 === 1) run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", START], { cwd: here, encoding: "utf8" });
    if (status === 0) break;
    if (turn === 12) throw new Error(`npm ci gives a Pyodide that does not start: ${stderr.slice(-1000)}`);
    await sleep(1000 * turn);
  }
  fs.writeFileSync(stamp, lock);
}

/** Run pip with a command that puts wheels into a folder; their paths. */
function pip(command, folder, args, env) {
  const python = process.env.PYTHON ?? "python3";
  run(python, ["-m", "pip", command, "--quiet", "--disable-pip-version-check", "--no-deps", ...args], env);
  return fs.readdirSync(folder).sort().map((name) => join(folder, name));
}

/** The wheels of lego-emit as it stands here, and of what it needs in the browser. */
function wheels() {
  const folder = join(scratch, "wheels");
  const source = join(scratch, "source"); // a copy: setuptools writes beside what it builds
  const isSource = (path) => !/(__pycache__|\.egg-info)$/.test(path);
  for (const name of ["pyproject.toml", "README.md", "LICENSE", "ci/backend.py", "lego_emit", "printers", "targets"])
    fs.cpSync(join(root, name), join(source, name), { recursive: true, filter: isSource, verbatimSymlinks: true });
  pip("wheel", folder, ["-w", folder, source]);
  // Without a compiler markupsafe is pure Python.
  return pip("wheel", folder, ["-w", folder, "--no-binary", "markupsafe", "-r", "requirements.txt"], { CC: "false" });
}

/** The wheels for the platform that Pyodide is. */
function wheelsForWasm({ abi_version, arch, python }) {
  const folder = join(scratch, "wasm");
  const platform = ["--platform", `pyemscripten_${abi_version}_${arch}`, "--python-version", python];
  return pip("download", folder, ["-d", folder, "--only-binary", ":all:", ...platform, "-r", "requirements-wasm.txt"]);
}

/** The archives of Python's modules: ours, with what it needs at once, and Z3. */
async function archives(lock, pyodide) {
  say("the wheels of lego-emit and of what it needs");
  const { loadPyodide } = await import("pyodide");
  const { FS, globals, runPython, toPy } = await loadPyodide();
  runPython(read(here, "pack.py"));
  const library = join(made, pyodide, "python_stdlib.zip");
  const archive = (name, files) => {
    const held = files.map((path) => `/tmp/${basename(path)}`);
    files.forEach((path, k) => FS.writeFile(held[k], fs.readFileSync(path)));
    notices.push(globals.get("pack")(toPy(held), "/tmp/archive.zip"));
    return hashed(name, FS.readFile("/tmp/archive.zip"));
  };
  const own = archive("lego-emit.zip", [...wheels(), join(here, "arrays.py"), join(here, "driver.py")]);
  say("the modules of Python's library");
  const name = runPython("import sys; next(p for p in sys.path if p.endswith('.zip'))");
  FS.writeFile(`/tmp/${basename(name)}`, fs.readFileSync(library));
  globals.get("compiled")(`/tmp/${basename(name)}`, "/tmp/library.zip");
  fs.writeFileSync(library, FS.readFile("/tmp/library.zip"));
  return {
    archive: own,
    z3: archive("z3.zip", wheelsForWasm(lock)),
  };
}

/** Write a file under a name that holds a hash of its contents; that name. */
function hashed(name, contents) {
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 10);
  const ending = extname(name);
  const full = `${basename(name, ending)}-${hash}${ending}`;
  fs.writeFileSync(join(made, full), contents);
  return full;
}

/** How many bytes the page fetches before it runs. */
function bytes(pyodide, archive) {
  return [`${pyodide}pyodide.asm.wasm`, `${pyodide}python_stdlib.zip`, archive]
    .reduce((sum, name) => sum + fs.statSync(join(made, name)).size, 0);
}

/** Pyodide's files keep their names, by which it finds them, in a folder named by its version. */
function pyodideFiles(version) {
  const folder = `pyodide-${version}/`;
  fs.mkdirSync(join(made, folder));
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"])
    fs.copyFileSync(join(here, "node_modules/pyodide", name), join(made, folder, name));
  return folder;
}

/** The page, its style and its scripts. */
async function bundle(files) {
  const { build } = await import("esbuild");
  const packages = new Set(["pyodide"]);
  const bundled = async (entry, options) => {
    const found = await build({
      metafile: true,
      entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, target: "es2022",
      charset: "utf8", legalComments: "none", logLevel: "warning", ...options,
    });
    for (const path of Object.keys(found.metafile.inputs)) {
      const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
      if (name) packages.add(name);
    }
    return found.outputFiles[0].text;
  };
  const gallery = Object.entries(JSON.parse(read(here, "gallery.json")))
    .map(([name, shown]) => ({ name, shown, text: read(here, "gallery", `${name}.py`) }));
  files.worker = hashed("worker.js", await bundled("worker.js", { format: "esm" }));
  const define = { FILES: JSON.stringify(files), GALLERY: JSON.stringify(gallery) };
  const script = hashed("page.js", await bundled("page.js", { format: "esm", define }));
  const style = hashed("style.css", await bundled("style.css"));
  const page = read(here, "index.html").replace("style.css", style).replace("page.js", script);
  fs.writeFileSync(join(made, "index.html"), page);
  for (const name of [...packages].sort()) notices.push(licence(join(here, "node_modules", name)));
  fs.writeFileSync(join(made, "licences.txt"), notices.filter(Boolean).join(`\n\n${"-".repeat(80)}\n\n`));
}

/** What an npm package says of its licence. */
function licence(folder) {
  const { name, version, license, homepage, repository } = JSON.parse(read(folder, "package.json"));
  const file = fs.readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file ? read(folder, file) : `${license}; ${homepage ?? repository?.url}`;
  return `${name} ${version}\n\n${text.trim()}\n`;
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
