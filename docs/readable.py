"""A Griffe extension for the pages of the API: docstrings as Markdown, and options of generate() and
render() as they are called."""

import importlib
import inspect
import re
import textwrap

import griffe

SIGNS = re.compile(r"(`[^`]*`)|\*|__")  # code, or what Markdown would take for emphasis
PARAMETER = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*): (\S.*)")
OPTIONS = {"lego_emit.pipeline.generate", "lego_emit.kernels.render.render"}


class Readable(griffe.Extension):
    """Changes each docstring that is loaded."""

    def on_object(self, *, obj, **kwargs):
        if obj.path in OPTIONS:
            function = getattr(importlib.import_module("lego_emit"), obj.name)
            obj.parameters = parameters(inspect.signature(function))
            obj.docstring = griffe.Docstring(inspect.getdoc(function), parent=obj)
        if obj.docstring is not None:
            named = [p.name for p in getattr(obj, "parameters", ())] + [*obj.members]
            obj.docstring.value = markdown(obj.docstring.value, named)


def parameters(signature):
    """Griffe's parameters of a signature."""
    made = []
    for p in signature.parameters.values():
        default = None if p.default is p.empty else repr(p.default)
        note = None if p.annotation is p.empty else str(p.annotation)
        kind = getattr(griffe.ParameterKind, p.kind.name.lower())
        made.append(griffe.Parameter(p.name, annotation=note, kind=kind, default=default))
    return griffe.Parameters(*made)


def markdown(text, names=()):
    """A docstring, of which each "name: what it is" is the item of a list, and examples are code.

    text: as inspect.cleandoc() gives it. names: those that begin an item, at the head of a line or behind a sentence; by
    default any, at the head of a line. Other lines of code, which are indented after an empty line, stay.
    """
    made = []
    if names:
        name = "|".join(map(re.escape, names))
        text = re.sub(rf"(?<=[.;]) (?=(?:{name})(?:, (?:{name}))*: )", "\n", text)
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        if paragraph.lstrip().startswith(">>> "):
            made.append("```pycon\n" + textwrap.dedent(paragraph).rstrip() + "\n```")
        elif paragraph.startswith(" "):
            made.append(paragraph)
        else:
            made.append(_escaped("\n".join(_items(lines, names)) if made else paragraph))
    return "\n\n".join(made)


def _escaped(text):
    """Text whose powers and products, as 2**32, and names such as __repr__ stay as they are."""
    return SIGNS.sub(lambda m: m[1] or "".join(f"\\{c}" for c in m[0]), text)


def _items(lines, names):
    """The lines of a paragraph; those that begin with a parameter's name, one of names, as items of a list."""
    listed = False
    for k, line in enumerate(lines):
        found = PARAMETER.match(line)
        if found and (not names or found[1].strip("*").partition(",")[0] in names):
            yield from [""] * (k > 0 and not listed)
            listed = True
            yield f"- `{found[1]}`: {found[2]}"
        else:
            yield f"  {line.strip()}" if listed else line
