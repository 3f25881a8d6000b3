// The pictures: what a cell holds is told, and shown in the others.

/** parent: where they stand. told: an element for the cell's text. */
export class Pictures {
  constructor(parent, told) {
    this.parent = parent;
    this.told = told;
    parent.addEventListener("pointerover", ({ target }) => this.point(target));
    parent.addEventListener("pointerleave", () => this.point(null));
  }

  /** Draw: each {title, svg, cells}, cells being [logical, position] in the order of the drawing, or
   * {title, note} where there is none. */
  show(pictures) {
    this.cells = [];
    this.told.textContent = "";
    this.parent.replaceChildren(...pictures.map(({ title, svg, cells, note }) => {
      const figure = document.createElement("figure");
      if (svg) figure.innerHTML = svg;
      figure.querySelectorAll("rect:has(> title)").forEach((rect, k) => {
        this.cells.push({ rect, logical: cells[k][0], note: rect.textContent });
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

  /** Tell of the cell under the pointer, and mark all that hold the same index. */
  point(target) {
    for (const mark of this.parent.querySelectorAll(".mark")) mark.remove();
    const found = this.cells?.find(({ rect }) => rect === target);
    this.told.textContent = found?.note ?? "";
    for (const { rect, logical } of found ? this.cells : []) {
      if (rect !== target && (logical < 0 || logical !== found.logical)) continue;
      const mark = rect.cloneNode();
      mark.setAttribute("class", "mark");
      rect.ownerSVGElement.append(mark);
    }
  }
}
