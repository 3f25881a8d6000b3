// A slider and a number for each size that the text names; moving one rewrites the text.
import { offset } from "./editor.js";

/** parent: where they stand. editor: whose text they rewrite. */
export class Sliders {
  constructor(parent, editor) {
    this.parent = parent;
    this.editor = editor;
    this.shown = new Map(); // by name: {from, to: where the number stands, slider, field}
  }

  /** Show the numbers that a run has found: {name, value, line, column, end}, and those that the text
   * lacks: {name, value, dict: that they belong into}. ends: where dicts end: {line, column, empty}. */
  update(numbers, ends = {}) {
    const names = numbers.map((n) => n.name);
    this.ends = ends;
    if (names.join() !== [...this.shown.keys()].join()) this.build(names);
    for (const { name, value, line, column, end, dict } of numbers) {
      const one = this.shown.get(name);
      one.dict = dict;
      one.from = dict ? null : offset(this.editor, line, column);
      one.to = dict ? null : offset(this.editor, line, end);
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

  /** Switch them off while the text that they belong to is gone. */
  off(are) {
    for (const { slider, field } of this.shown.values()) slider.disabled = field.disabled = are;
  }

  set(one, value) {
    if (!/^\d+$/.test(value)) return;
    if (one.from === null) this.add(one.dict);
    const stands = this.editor.state.sliceDoc(one.from, one.to); // no number where the text was changed
    if (!/^\d+$/.test(stands)) return;
    this.editor.dispatch({ changes: { from: one.from, to: one.to, insert: value } });
  }

  /** Write the numbers that the text lacks into its dict of this name, or into a new one. */
  add(dict) {
    const { doc } = this.editor.state;
    const end = this.ends[dict];
    const from = end ? offset(this.editor, end.line, end.column) : doc.length;
    let insert = end ? (end.empty ? "" : ", ") : `${/\n$/.test(doc.toString()) ? "" : "\n"}\n${dict} = {`;
    const places = [];
    for (const [name, one] of this.shown) {
      if (one.from !== null || one.dict !== dict) continue;
      insert += `${places.length ? ", " : ""}"${name}": `;
      places.push([one, from + insert.length]);
      insert += one.field.value;
    }
    this.editor.dispatch({ changes: { from, insert: end ? insert : `${insert}}\n` } });
    for (const [one, at] of places) Object.assign(one, { from: at, to: at + one.field.value.length });
  }

  /** Keep the places right when the text changes. */
  follow(changes) {
    for (const one of this.shown.values()) {
      if (one.from === null) continue;
      one.from = changes.mapPos(one.from, -1);
      one.to = changes.mapPos(one.to, 1);
    }
  }
}
