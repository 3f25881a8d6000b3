// The two editors: the layout's text, and the emitted code, which is only read.
import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { javascript } from "@codemirror/lang-javascript";
import { localCompletionSource, python } from "@codemirror/lang-python";
import { rust } from "@codemirror/lang-rust";
import { StreamLanguage, bracketMatching, codeFolding, foldEffect, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { fortran } from "@codemirror/legacy-modes/mode/fortran";
import { julia } from "@codemirror/legacy-modes/mode/julia";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

const LANGUAGES = {
  fortran: () => StreamLanguage.define(fortran),
  julia: () => StreamLanguage.define(julia),
  javascript, rust, wgsl: rust, python, numpy: python, triton: python, mlir: () => [],
};

let known = []; // completions: what the package offers

/** Offer names of the package, {name: what it is}, while one types. */
export function complete(names) {
  known = Object.entries(names).map(([label, info]) => ({ label, info: info || undefined, type: "class" }));
}

function named(context) {
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  return word && { from: word.from, options: known, validFor: /^\w*$/ };
}

/** The editor of the layout's text. changed: called with each transaction that changes it. */
export function writer(parent, changed) {
  return new EditorView({
    parent,
    extensions: [
      lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(),
      autocompletion({ override: [named, localCompletionSource], icons: false }),
      lintGutter(), EditorView.lineWrapping, python(), indentUnit.of("    "), syntaxHighlighting(classHighlighter),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ "aria-label": "The layout, in Python" }),
      EditorView.updateListener.of((update) => { if (update.docChanged) changed(update); }),
    ],
  });
}

/** Put a text in place of what an editor has. */
export function write(editor, text) {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
}

/** Where a line and a column of bytes in UTF-8 are, as Python counts them; kept inside the text. */
export function offset(editor, line, column = 0) {
  const { doc } = editor.state;
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const before = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, column));
  return from + Math.min(before.length, text.length);
}

/** Underline where an error is; without one, nothing. */
export function mark(editor, error) {
  const found = [];
  if (error?.line) {
    const { doc } = editor.state;
    let from = offset(editor, error.line, error.column);
    let to = error.end_column == null
      ? doc.lineAt(offset(editor, error.end_line ?? error.line)).to
      : offset(editor, error.end_line, error.end_column);
    if (to <= from) [from, to] = [doc.lineAt(from).from, doc.lineAt(from).to];
    found.push({ from, to, severity: "error", message: error.message });
  }
  editor.dispatch(setDiagnostics(editor.state, found));
}

/** What stands between the first line and the first function with its comment: guards, includes, macros. */
function preamble({ doc }, name) {
  const called = new RegExp(`\\b${name}\\s*\\(`);
  for (let n = 2; n <= doc.lines; n++) {
    const { text } = doc.line(n);
    if (!called.test(text) || /^\s*(\/\/|\/?\*|#(?!\[)|!|;)/.test(text)) continue;
    while (n > 2 && doc.line(n - 1).text.trim()) n--;
    return n > 4 ? { from: doc.line(1).to, to: doc.line(n - 1).to } : null;
  }
  return null;
}

/** What stands below the last function: the other end of the guard. */
function epilogue({ doc }) {
  let n = doc.lines;
  while (n > 1 && /^(#.*)?$/.test(doc.line(n).text)) n--;
  return doc.lines - n > 3 ? { from: doc.line(n).to, to: doc.line(doc.lines).to } : null;
}

const folding = codeFolding({
  preparePlaceholder: ({ doc }, { from, to }) => doc.lineAt(to).number - doc.lineAt(from).number,
  placeholderDOM(view, unfold, lines) {
    const made = document.createElement("button");
    Object.assign(made, { className: "folded", textContent: `${lines} lines`, title: "Comments, guards and macros", onclick: unfold });
    return made;
  },
});

/** The view of the emitted code: show(text, target, the name of its first function). */
export function reader(parent) {
  const language = new Compartment();
  const view = new EditorView({
    parent,
    extensions: [
      lineNumbers(), drawSelection(), syntaxHighlighting(classHighlighter), language.of([]), folding,
      EditorState.readOnly.of(true), EditorView.editable.of(false),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": "Emitted code" }),
      keymap.of(defaultKeymap),
    ],
  });
  let shown;
  return {
    text: () => view.state.doc.toString(),
    show(text, target, name) {
      if (shown !== target) view.dispatch({ effects: language.reconfigure((LANGUAGES[target] ?? cpp)()) });
      shown = target;
      if (text === view.state.doc.toString()) return;
      write(view, text);
      const folded = [preamble(view.state, name), epilogue(view.state)].filter(Boolean);
      view.dispatch({ effects: folded.map((part) => foldEffect.of(part)) });
    },
  };
}
