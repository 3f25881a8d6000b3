// A form for those who do not know the notation: it writes the text.

const ORDERS = { row: "row by row", col: "column by column" };

const select = (name, options) =>
  `<select name="${name}">${Object.entries(options).map(([value, text]) => `<option value="${value}">${text}</option>`).join("")}</select>`;
const number = (name, value) => `<input name="${name}" type="number" min="1" max="4096" required value="${value}">`;

const FIELDS = `
  <fieldset><legend>An array of</legend>
    <label>${number("M", 6)} rows</label> <label>${number("N", 8)} columns</label></fieldset>
  <fieldset><legend>in memory</legend>
    <label>${select("order", { ...ORDERS, tiles: "tile by tile", morton: "in Morton order", xor: "rows, XOR-swizzled" })}</label></fieldset>
  <fieldset class="tiles"><legend>tiles of</legend>
    <label>${number("BM", 3)} rows</label> <label>${number("BN", 4)} columns</label></fieldset>
  <fieldset class="tiles"><legend>their order</legend>
    <label>tiles ${select("outer", ORDERS)}</label> <label>elements ${select("inner", ORDERS)}</label></fieldset>
  <fieldset class="tiles"><legend>indexed by</legend>
    <label>${select("index", { matrix: "row and column", tile: "tile and place in it" })}</label></fieldset>
  <p role="status"></p>`;

/** Fill the form, which the button opens and shuts. write: called with each text that it makes; mayWrite:
 * asked before it opens, whether the text that is there may go. */
export function builder(form, button, write, mayWrite) {
  form.innerHTML = FIELDS;
  const show = () => {
    const { text, problem } = made(Object.fromEntries(new FormData(form)));
    form.querySelector("p").textContent = problem ?? "";
    for (const part of form.querySelectorAll(".tiles")) part.hidden = form.elements.order.value !== "tiles";
    if (text && form.checkValidity()) write(text);
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    if (form.hidden && !mayWrite()) return;
    form.hidden = !form.hidden;
    button.setAttribute("aria-expanded", !form.hidden);
    if (!form.hidden) show();
  });
}

const isPower = (n) => n > 0 && (n & (n - 1)) === 0;
const called = { row: "Row", col: "Col" };

/** {text} of what was filled in, or the {problem} with it. */
function made({ M, N, BM, BN, order, outer, inner, index }) {
  const sizes = `M, N = ${M}, ${N}`;
  switch (order) {
    case "row":
    case "col":
      return { text: script("GroupBy", [called[order]], sizes, `GroupBy([M, N]).OrderBy(${called[order]}(M, N))`) };
    case "tiles": {
      if (M % BM || N % BN) return { problem: "The tiles' sizes do not divide the array's." };
      const tiles = `${sizes}  # the array\nBM, BN = ${BM}, ${BN}  # a tile`;
      const perms = `${called[outer]}(M // BM, N // BN), ${called[inner]}(BM, BN)`;
      if (index === "tile")
        return { text: script("TileBy", [called[outer], called[inner]], tiles,
          `TileBy([M // BM, N // BN], [BM, BN]).OrderBy(\n    ${perms}\n)`) };
      return { text: script("GroupBy", ["RegP", called[outer], called[inner]], tiles,
        `(\n    GroupBy([M, N])\n    .OrderBy(RegP([M // BM, BM, N // BN, BN], [0, 2, 1, 3]))\n    .OrderBy(${perms})\n)`) };
    }
    case "morton": {
      if (M !== N || !isPower(M)) return { problem: "Morton order takes as many rows as columns, a power of two." };
      const bits = Math.log2(M);
      const perm = Array.from({ length: bits }, (_, k) => `${k}, ${k + bits}`).join(", ");
      const twos = `[${Array(2 * bits).fill(2).join(", ")}]`;
      return { text: script("GroupBy", ["RegP"], "", `GroupBy([${M}, ${N}]).OrderBy(\n    RegP(${twos}, [${perm}])\n)`) };
    }
    default: {
      if (!isPower(M) || !isPower(N)) return { problem: "An XOR swizzle takes powers of two." };
      const [down, across] = [Math.log2(M), Math.log2(N)];
      const bits = Math.min(down, across);
      return { text: `from lego_emit import cute\n\nmine = cute.composition(cute.Swizzle(${bits}, 0, ${Math.max(across, bits)}), "(${M},${N}):(${N},1)")\n` };
    }
  }
}

function script(base, blocks, sizes, layout) {
  const names = [...new Set([base, ...blocks])].sort((a, b) => (a < b ? -1 : 1));
  return `from lego_emit import ${names.join(", ")}\n\n${sizes ? `${sizes}\n\n` : ""}mine = ${layout}\n`;
}
