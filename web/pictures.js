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
    this.parent.replaceChildren(...pictures.map(({ title, svg, cells, note }) => {
      const figure = document.createElement("figure");
      if (svg) figure.innerHTML = svg;
      const caption = document.createElement("figcaption");
      caption.textContent = note ? `${title}: ${note}` : title;
      figure.prepend(caption);
      const drawn = figure.querySelectorAll("rect:has(> title)");
      drawn.forEach((rect, k) => {
        const [logical, position] = cells[k];
        this.cells.push({ rect, logical, position, note: rect.querySelector("title").textContent });
      });
      return figure;
    }));
    this.told.textContent = "";
  }

  /** Tell of the cell under the pointer, and mark all that hold the same index. */
  point(target) {
    const found = this.cells?.find(({ rect }) => rect === target);
    for (const { rect, logical } of this.cells ?? [])
      rect.classList.toggle("pointed", found !== undefined && found.logical >= 0 && logical === found.logical);
    this.told.textContent = found?.note ?? "";
  }
}
