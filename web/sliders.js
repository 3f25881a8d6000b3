// A slider and a number for each size that the text names; moving one rewrites the text.
import { offset } from "./editor.js";

/** parent: where they stand. editor: whose text they rewrite. */
export class Sliders {
  constructor(parent, editor) {
    this.parent = parent;
    this.editor = editor;
    this.shown = new Map(); // by name: {from, to: where the number stands, slider, field}
  }

  /** Show the numbers that a run has found: {name, value, line, column, end}. */
  update(numbers) {
    const names = numbers.map((n) => n.name);
    if (names.join() !== [...this.shown.keys()].join()) this.build(names);
    for (const { name, value, line, column, end } of numbers) {
      const one = this.shown.get(name);
      one.from = offset(this.editor, line, column);
      one.to = offset(this.editor, line, end);
      one.slider.max = Math.max(one.slider.max, 2 * value);
      one.slider.value = value;
      if (document.activeElement !== one.field) one.field.value = value;
    }
  }

  build(names) {
    this.shown.clear();
    this.parent.replaceChildren(...names.map((name) => {
      const slider = Object.assign(document.createElement("input"), { type: "range", min: 1, max: 16 });
      const field = Object.assign(document.createElement("input"), { type: "number", min: 1 });
      const label = document.createElement("label");
      slider.setAttribute("aria-label", name);
      label.append(name, slider, field);
      const one = { slider, field, from: 0, to: 0 };
      for (const input of [slider, field]) input.addEventListener("input", () => this.set(one, input.value));
      this.shown.set(name, one);
      return label;
    }));
  }

  set(one, value) {
    const stands = this.editor.state.sliceDoc(one.from, one.to); // no number where the text was changed
    if (!/^\d+$/.test(value) || !/^\d+$/.test(stands)) return;
    this.editor.dispatch({ changes: { from: one.from, to: one.to, insert: value } });
  }

  /** Keep the places right when the text changes. */
  follow(changes) {
    for (const one of this.shown.values()) {
      one.from = changes.mapPos(one.from, -1);
      one.to = changes.mapPos(one.to, 1);
    }
  }
}
