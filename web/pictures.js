// The pictures: what a cell holds is told, and shown in the others.

/** parent: where they stand. told: an element for the cell's text. */
export class Pictures {
  constructor(parent, told) {
    this.parent = parent;
    this.told = told;
    parent.addEventListener("pointerover", ({ target }) => this.point(target));
    parent.addEventListener("pointerleave", () => this.point(null));
    parent.addEventListener("keydown", (event) => this.step(event));
  }

  /** Draw: each {title, svg, cells}, cells being [logical, position, bank or -2] in the order of the drawing, or
   * {title, note} where there is none. */
  show(pictures) {
    this.cells = [];
    this.told.textContent = "";
    this.parent.replaceChildren(...pictures.map(({ title, svg, cells, note }) => {
      const figure = document.createElement("figure");
      if (svg) figure.innerHTML = svg;
      const drawing = figure.querySelector("svg");
      if (drawing) {
        drawing.setAttribute("tabindex", 0); // arrow keys go from cell to cell
        // Beside each other where that takes no more than a quarter off.
        const width = drawing.viewBox.baseVal.width;
        figure.style.flex = `${width} 1 ${0.75 * width}px`;
        figure.style.maxWidth = `min(${width}px, 100%)`;
      }
      figure.querySelectorAll("rect:has(> title)").forEach((rect, k) => {
        this.cells.push({ rect, logical: cells[k][0], bank: cells[k][2], note: rect.textContent });
        rect.firstChild.remove(); // what it says is told below, and not in a tip, too
      });
      if (title || note) {
        const caption = document.createElement("figcaption");
        caption.textContent = [title, note].filter(Boolean).join(": ");
        figure.prepend(caption);
      }
      return figure;
    }));
  }

  /** Go to the nearest cell in an arrow key's direction. */
  step(event) {
    const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] ?? [];
    if (dx === undefined) return;
    event.preventDefault();
    const rects = this.cells.map(({ rect }) => rect).filter((rect) => event.target.contains(rect));
    const place = (rect) => [Number(rect.getAttribute("x")), Number(rect.getAttribute("y"))];
    const [x, y] = rects.includes(this.at) ? place(this.at) : [-Infinity, -Infinity];
    const away = (rect) => (place(rect)[0] - x) * dx + (place(rect)[1] - y) * dy;
    const ahead = rects.filter((rect) => away(rect) > 0 && (place(rect)[0] === x || !dy) && (place(rect)[1] === y || !dx));
    if (!rects.includes(this.at)) this.point(rects[0]);
    else if (ahead.length) this.point(ahead.reduce((a, b) => (away(a) <= away(b) ? a : b)));
  }

  /** Tell of the cell under the pointer, and mark all that hold the same index, and those of its picture
   * that are in the same bank. */
  point(target) {
    for (const mark of this.parent.querySelectorAll(".mark, .bank")) mark.remove();
    const found = this.cells?.find(({ rect }) => rect === target);
    this.at = found?.rect;
    this.told.textContent = found?.note ?? "";
    for (const { rect, logical, bank } of found ? this.cells : []) {
      const isSame = rect === target || (logical >= 0 && logical === found.logical);
      const isBank = bank >= 0 && bank === found.bank && rect.ownerSVGElement === target.ownerSVGElement;
      if (!isSame && !isBank) continue;
      const mark = rect.cloneNode();
      mark.setAttribute("class", isSame ? "mark" : "bank");
      rect.ownerSVGElement.append(mark);
    }
  }
}
