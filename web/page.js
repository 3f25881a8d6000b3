// The page: what is typed runs in the worker; what comes of it is shown.
import { builder } from "./builder.js";
import { complete, mark, reader, write, writer } from "./editor.js";
import { packed, unpacked } from "./link.js";
import { Pictures } from "./pictures.js";
import { Python, Stopped } from "./python.js";
import { Sliders } from "./sliders.js";

const PAUSE = 40; // milliseconds after the last key, before the text is run
const $ = (id) => document.getElementById(id);
// text: the layout's; subject, beside: what of it is shown; target: the open tab; numbers: whether
// the sizes' numbers are put into the code; index_type, form, cost, hints: options of it. The rest is
// of the pictures.
const DEFAULTS = {
  text: "", subject: "", beside: "", target: "cuda", numbers: false, index_type: "", form: "", cost: "", hints: false,
  color: "", memory: false, order: false, animate: false,
};
const BOXES = ["memory", "order", "animate", "numbers", "hints"];
const FORMS = { "": "functions", methods: "methods of the sizes", view: "with a view of an array" };
const COSTS = { "": "default", latency: "latency", ops: "operations", plain: "as written" };
const state = { ...DEFAULTS };
let targets = {};
let files = {}; // of the code that is shown, by their names
let built = ""; // the text that the form made last
let newest = 0; // the number of the last text and update; older ones are given up

const python = new Python(FILES, working);
const editor = writer($("editor"), ({ changes, state: { doc } }) => {
  sliders.follow(changes);
  state.text = doc.toString();
  named();
  document.body.dataset.state = "waiting";
  newest++; // what runs is of an older text
  clearTimeout(typed);
  typed = setTimeout(update, PAUSE);
});
const code = reader($("code"));
const pictures = new Pictures($("pictures"), $("cell"));
const sliders = new Sliders($("sliders"), editor);
let typed;

/** Run the text, and show all that comes of it. */
async function update() {
  const number = ++newest;
  document.body.dataset.state = "waiting";
  const ask = async (request) => {
    const answer = await python.ask(request, () => number === newest);
    if (number !== newest) throw new Stale();
    if (answer.error) throw new Refused(answer);
    return answer;
  };
  const started = performance.now();
  try {
    const { subjects, numbers, ends, ...said } = await ask({ do: "run", text: state.text });
    choices(subjects);
    const name = state.subject;
    const { sizes = {}, domain = {}, ...guess } = name ? await ask({ do: "free", name }) : {};
    const free = Object.entries({ sizes, domain })
      .flatMap(([dict, given]) => Object.entries(given).map(([one, value]) => ({ name: one, value, dict })));
    sliders.update([...numbers, ...free], ends);
    said.warnings.push(...(guess.warnings ?? []));
    const emitted = name ? await ask({ do: "code", ...asked() }) : { files: {}, functions: [] };
    showCode(emitted);
    await draw(ask);
    mark(editor, null);
    message(said, emitted);
    stale(false);
    if ($("explanation").open && name) await explain(ask);
    document.body.dataset.milliseconds = Math.round(performance.now() - started);
    remember();
  } catch (error) {
    if (error instanceof Stale) return;
    if (error instanceof Refused) mark(editor, error.told);
    else if (!(error instanceof Stopped)) throw error;
    if (error.numbers) sliders.update(error.numbers);
    stale(true, !error.numbers);
    message({ error: error.told ?? { kind: "Stopped", message: error.message } });
  } finally {
    if (number === newest) document.body.dataset.state = "shown";
  }
}

class Stale extends Error {}

class Refused extends Error {
  constructor({ error, numbers }) {
    super(error.message);
    this.told = error;
    this.numbers = numbers; // those of a text that can be read
  }
}

/** What the worker does: "starting", "busy", "idle", "failed". */
function working(what, { progress, text = "" } = {}) {
  document.body.dataset.working = what;
  const bar = document.querySelector("#working progress");
  if (progress) bar.value = progress;
  else bar.removeAttribute("value");
  document.querySelector("#working span").dataset.text = text;
  if (what === "failed") message({ error: { kind: "Failed", message: "Python does not start here; a newer browser may help." } });
}

/** What is shown belongs to an older text; isOld: the sliders, too. */
function stale(is, isOld = false) {
  sliders.off(isOld);
  for (const button of ["copy", "download"]) $(button).disabled = is;
  for (const part of ["look", "take"]) document.querySelector(`.${part}`).classList.toggle("stale", is);
}

/** Errors, warnings and what was printed. */
function message({ error, warnings = [], printed = "" }, { warnings: more = [] } = {}) {
  const line = (kind, text) => {
    const made = document.createElement("p");
    made.className = kind;
    made.textContent = text;
    return made;
  };
  const place = error?.line ? `Line ${error.line}: ` : "";
  $("message").replaceChildren(
    ...(error ? [line("error", `${place}${error.message}`)] : []),
    ...[...new Set([...warnings, ...more])].map((text) => line("warning", text)),
    ...(printed ? [line("printed", printed)] : []),
  );
}

// -- what is chosen ------------------------------------------------------------------------------

function options(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value, false, value === chosen)));
}

/** What can be shown of the text: the last definition where the one that was shown is gone. */
function choices(subjects) {
  const names = Object.keys(subjects);
  if (!names.includes(state.subject)) state.subject = names.at(-1) ?? "";
  const others = names.filter((name) => name !== state.subject);
  if (!others.includes(state.beside)) state.beside = "";
  options($("subject"), names.map((name) => [name, name]), state.subject);
  options($("beside"), [["", "nothing"], ...others.map((name) => [name, name])], state.beside);
  $("beside-label").hidden = !others.length;
  $("numbers-label").hidden = !subjects[state.subject]?.symbolic;
  for (const part of ["look", "take"]) document.querySelector(`.${part}`).hidden = !names.length;
}

/** The pictures of what is chosen; what has none says why. */
async function draw(ask) {
  const drawn = [];
  const { color, order, animate } = state;
  for (const name of [state.subject, state.beside].filter(Boolean)) {
    for (const inverse of state.memory ? [false, true] : [false]) {
      const title = state.beside ? name : "";
      try {
        drawn.push({ title, ...(await ask({ do: "picture", name, color, order, animate, inverse })) });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        drawn.push({ title, note: error.message });
      }
    }
  }
  const { colors = [] } = drawn[0] ?? {};
  options($("color"), colors.map((one) => [one, one]), color);
  $("color-label").hidden = !colors.length;
  pictures.show(drawn);
}

// -- the code ------------------------------------------------------------------------------------

/** Which code is asked for. */
function asked() {
  const { subject: name, target, numbers, index_type, form, cost, hints } = state;
  const { types } = targets[target] ?? { types: [] };
  const options = {
    ...(types.includes(index_type) && { index_type }), ...(form && { [form]: true }), ...(cost && { cost }), ...(hints && { hints }),
  };
  return { name, target, numbers, options: JSON.stringify(options) };
}

/** What can be chosen of the language's code. */
function optionsOf({ types, takes }) {
  options($("index_type"), ["", ...types].map((one) => [one, one || "default"]), state.index_type);
  options($("form"), Object.entries(FORMS).filter(([one]) => !one || takes.includes(one)), state.form);
  options($("cost"), Object.entries(COSTS), state.cost);
  $("hints-label").hidden = !takes.includes("hints");
}

function showCode({ files: found, functions }) {
  files = found;
  code.show(Object.values(found)[0] ?? "", state.target, functions[0]?.name);
  $("counts").replaceChildren(...functions.map(({ name, operations, naive }) => {
    const made = document.createElement("span");
    const count = document.createElement("b");
    count.textContent = operations;
    made.append(`${name}: `, count, ` operation${operations === 1 ? "" : "s"}`);
    if (naive > operations) made.append(`, not ${naive}`);
    made.title = naive == null ? "" : `The formulas of the layout itself, as the paper writes them, have ${naive}`;
    return made;
  }));
}

function tabs() {
  $("tabs").replaceChildren(...Object.entries(targets).map(([name, { title }]) => {
    const tab = document.createElement("button");
    Object.assign(tab, { id: `tab-${name}`, textContent: title });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "panel");
    tab.addEventListener("click", () => choose(name));
    return tab;
  }));
  choose(targets[state.target] ? state.target : "cuda", false);
}

function choose(target, run = true) {
  state.target = target;
  for (const tab of $("tabs").children) {
    const chosen = tab.id === `tab-${target}`;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen) $("panel").setAttribute("aria-labelledby", tab.id);
    if (chosen && run) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  optionsOf(targets[target]);
  if (run) update();
}

$("tabs").addEventListener("keydown", (event) => {
  const all = [...$("tabs").children];
  const at = all.indexOf(document.activeElement);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const tab = all[(next + all.length) % all.length];
  tab.focus();
  tab.click();
});

async function explain(ask) {
  const { text } = await ask({ do: "explain", ...asked() });
  document.querySelector("#explanation pre").textContent = text;
}

async function copy(button, text) {
  const { textContent } = button;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "The browser refuses";
  }
  setTimeout(() => { button.textContent = textContent; }, 1200);
}

function download() {
  for (const [name, text] of Object.entries(files)) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

// -- the state and the address -------------------------------------------------------------------

async function remember() {
  history.replaceState(null, "", `#${await packed(state)}`);
}

/** Take over a state: of the address, or of an example. */
function take(found) {
  if (!found) return;
  for (const [key, usual] of Object.entries({ ...DEFAULTS, target: state.target }))
    state[key] = typeof found[key] === typeof usual ? found[key] : usual;
  for (const box of BOXES) $(box).checked = state[box];
  write(editor, state.text);
  named();
  if ($("tabs").children.length) choose(state.target, false);
}

/** The list of examples names the one whose text stands in the editor. */
function named() {
  $("gallery").value = GALLERY.find(({ text }) => text === state.text)?.name ?? "";
}

function example(name) {
  const { text, shown } = GALLERY.find((one) => one.name === name);
  take({ ...DEFAULTS, target: state.target, ...shown, text });
}

/** Light or dark, "" as the system has it; kept for the next visit where the browser keeps anything. */
function theme(chosen) {
  document.documentElement.dataset.theme = chosen;
  $("theme").value = chosen;
  try {
    localStorage.setItem("lego-emit-theme", chosen);
  } catch { /* it forbids that */ }
}

function kept() {
  try {
    return localStorage.getItem("lego-emit-theme") ?? "";
  } catch {
    return "";
  }
}

/** Show what the address says: a state, or #example=NAME; whether it says anything. */
async function follow() {
  const [, name] = location.hash.split("#example=");
  if (GALLERY.some((one) => one.name === name)) {
    example(name);
    return true;
  }
  const found = await unpacked(location.hash.slice(1));
  take(found);
  return found !== null;
}

for (const box of BOXES)
  $(box).addEventListener("change", () => { state[box] = $(box).checked; update(); });
for (const select of ["subject", "beside", "color", "index_type", "form", "cost"])
  $(select).addEventListener("change", () => { state[select] = $(select).value; update(); });
$("gallery").addEventListener("change", () => { if ($("gallery").value) example($("gallery").value); });
$("explanation").addEventListener("toggle", update);
$("copy").addEventListener("click", () => copy($("copy"), code.text()));
$("download").addEventListener("click", download);
$("share").addEventListener("click", async () => { await remember(); await copy($("share"), location.href); });
$("stop").addEventListener("click", () => python.stop("stopped"));
addEventListener("hashchange", follow);
$("theme").addEventListener("change", () => theme($("theme").value));

options($("gallery"), [["", "…"], ...GALLERY.map(({ name, text }) => [name, text.split('"""')[1].split(/[.,:]/)[0]])], "");
builder($("builder"), $("build"), (text) => {
  built = text;
  take({ ...state, beside: "", text, subject: "" });
}, () => [built, ...GALLERY.map(({ text }) => text)].includes(state.text)
  || confirm("Put what the form says in place of your text?"));
theme(["light", "dark"].find((one) => one === kept()) ?? "");
if (!(await follow())) example(GALLERY[0].name);
let names;
({ targets, names } = await python.ready);
complete(names);
tabs();
for (const part of [$("controls"), document.querySelector("main")]) part.inert = false;
