"""The statements of a certificate, proved again from the text and the definition alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import LegoError, short_repr
from . import definition, exhaustive, sampling
from .definition import Known
from .exhaustive import Failure
from .given import CertificateError, check_form
from .languages import read
from .provers import Proof, prove
from .report import ASSUMED, HELD, OPEN, PROVED, REFUTED, SAMPLED, Line, Report
from .stated import RESULT, UNSEEN, condition_in_python, floored, listed_names, renamed, stated
from .terms import Term, both, made, var
from .text import BOOL, DIVISOR, FITS, HOLDS, SHIFT, TABLE, Function, Text, UnsupportedSyntax

# The types that a parameter or a result can be stated to have.
WIDTHS = {
    **{t: t for t in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    "bool": "bool", "size": "uint64", "usize": "uint64",
}  # fmt: skip
UNSIGNED = {"uint32": 2**32 - 1, "uint64": 2**64 - 1, "usize": 2**64 - 1}
KINDS = {"fits": (FITS, HOLDS), "divisions": (DIVISOR,), "shifts": (SHIFT, TABLE)}


def check(certificate: Mapping[str, Any], source: str, subject: Any, *, all: bool = True) -> Report:
    """Prove what a certificate states. source: the text that it is of; subject: the layout or the
    function that the text was made of; all: False stops at the first statement that is not proved.

    Raises CertificateError where the certificate is of another text.
    """
    check_form(certificate)
    if hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest() != certificate["sha256"]:
        raise CertificateError(
            f"the certificate of {certificate['subject']} is of another text, or the text was edited: "
            "the checksums differ; emit the text and its certificate together"
        )
    report = Report()
    try:
        text = read(source, certificate["language"])
    except UnsupportedSyntax as error:
        for function in certificate["functions"]:
            report.lines += [
                Line(function["name"], s["says"], OPEN, str(error)) for s in function["statements"]
            ]
        return report
    certified = {about["name"] for about in certificate["functions"]}
    report.others = [
        f"other forms of {name}" if name in certified else name
        for name in dict.fromkeys(text.names)
        if name not in certified or text.names.count(name) > 1
    ]
    made = [_Subject(about, certificate, text, subject) for about in certificate["functions"]]
    of = [one for one in made if one.about["role"] != "fits"]
    found = [
        one if one in of else _Sizes(one.about, certificate, text, subject, of) for one in made
    ]
    roles = {one.about["role"]: one for one in of}
    for one in found:
        if one.about["role"] in ("apply", "inv") and len(roles) == 2:
            one.pair = roles["apply"], roles["inv"]
        for line in one.lines():
            report.lines.append(line)
            if not all and line.verdict not in HELD:
                return report
        report.trusted += one.trusted
    report.trusted = list(dict.fromkeys(report.trusted))
    return report


class _Subject:
    """One function of the text, with what it is to be."""

    def __init__(
        self, about: Mapping[str, Any], certificate: Mapping[str, Any], text: Text, subject: Any
    ):
        self.about, self.text, self.subject = about, text, subject
        self.name: str = about["name"]
        self.fixed: Mapping[str, int] = certificate["fixed"]
        self.language: str = certificate["language"]
        self.pair: tuple[_Subject, _Subject] | None = None
        self.trusted: list[str] = []

    # -- what is known ---------------------------------------------------------------------------

    def _read(self) -> None:
        """Raises UnsupportedSyntax where something of it cannot be read."""
        function = self._read_function()
        said = stated(function, self.language)
        if function.prepare is not None:
            more = stated(function.prepare, self.language)
            said.params |= more.params
            said.assumptions += more.assumptions
        self.said = said
        types = self._types(function)
        ranges = [c for conditions in said.params.values() for c in conditions]
        self.given: list[Term] = [*ranges, *said.assumptions, *types]
        values = [value.number for value in function.results]
        if function.names:
            if list(function.names) != list(self.about["results"]):
                raise UnsupportedSyntax(
                    f"{self.name} gives {', '.join(function.names)}, and the certificate says "
                    f"{', '.join(self.about['results'])}"
                )
        if len(values) != len(self.about["results"]):
            raise UnsupportedSyntax(
                f"{self.name} gives {len(values)} results, and the certificate says "
                f"{len(self.about['results'])}"
            )
        self.results = values
        sizes = {p["of"]: var(name) for name, p in self.parameters.items() if p["is"] == "size"}
        self.known: Known = definition.known(self.subject, {**self.fixed, **sizes})
        self._same_subject()
        self.within: list[Term] = []

    def _read_function(self) -> Function:
        """Raises UnsupportedSyntax where its parameters are not those of the certificate."""
        given = self.about["parameters"]
        function = self.text.read(
            self.name, [p["name"] for p in given], self.about.get("prepare", "")
        )
        if function is None:
            raise UnsupportedSyntax(f"the text has no function {self.name}")
        self.function: Function = function
        self.trusted = list(function.trusted)
        if "size" in {*(p.get("type") for p in given), *self.about.get("types", ())}:
            self.trusted.append("size_t and usize of 64 bits")
        names = [name for name, _ in function.params]
        self.parameters = {p["name"]: p for p in given if p["is"] != "fixed"}
        static = [p["name"] for p in given if p.get("static")]
        first = static + [p["name"] for p in given if p.get("prepared")]
        said = first + [p["name"] for p in given if p["name"] not in first]
        if list(function.static) != static:
            raise UnsupportedSyntax(
                f"{self.name} is compiled for {', '.join(function.static) or 'no parameter'}, and the "
                f"certificate says {', '.join(static) or 'none'}"
            )
        if names != said:
            raise UnsupportedSyntax(
                f"{self.name} takes {', '.join(names)}, and the certificate says {', '.join(said)}"
            )
        for name in function.read - self.parameters.keys():
            raise UnsupportedSyntax(f"{self.name} reads {name}, which is fixed")
        return function

    def _types(self, function: Function) -> list[Term]:
        """That every argument is a number of its parameter's type."""
        return [
            bound
            for name, kind in function.params
            if kind.lowest is not None and name in self.parameters
            for bound in (made("le", kind.lowest, var(name)), made("le", var(name), kind.highest))
        ]

    def _same_subject(self) -> None:
        """Raises UnsupportedSyntax where what is given cannot be what the certificate is of: a layout in place of
        a function, a function of other parameters, a layout with other numbers of indices."""
        of_layout = self.about["role"] in ("apply", "inv")
        of_another = f"the certificate is of another {'layout' if of_layout else 'function'}: "
        function, layout = self.known.function, self.known.example
        if function is not None:
            own = [*self.fixed, *(p["of"] for p in self.parameters.values())]
            if definition.missing(function, own):
                takes = ", ".join(definition.parameters(function))
                raise UnsupportedSyntax(
                    f"{of_another}the parameters of {self.name} are {', '.join(own) or 'none'}, and those "
                    f"of {definition.name_of(function)} {takes}"
                )
        elif not of_layout:
            raise UnsupportedSyntax(
                f"the certificate is of a function, {self.name}, and what is given is a layout"
            )
        elif layout is not None:
            counts = len(layout.dims), len(layout.results or [""])
            wanted = counts if self.about["role"] == "apply" else counts[::-1]
            found = len(self._of("index")), len(self.results)
            if wanted != found:
                raise UnsupportedSyntax(
                    f"{of_another}{self.name} has {found[0]} indices and {found[1]} results, that of "
                    f"the layout that is given {wanted[0]} and {wanted[1]}"
                )

    def _of(self, kind: str) -> list[Term]:
        """The parameters of a kind, as the definition counts them."""
        return [var(name) - p["base"] for name, p in self.parameters.items() if p["is"] == kind]

    def _bases(self, count: int) -> list[int]:
        """What the 0 of each result is called. Raises CertificateError."""
        base = self.about["base"]
        if not isinstance(base, list):
            return [base] * count
        if len(base) != count or not all(type(n) is int for n in base):
            raise CertificateError(f"the certificate's 'base' is {short_repr(base)}")
        return base

    def _defined(self) -> list[Term]:
        """What the results are to be."""
        role = self.about["role"]
        indices = self._of("index")
        if role == "apply" and self.known.layout is not None:
            found = definition.applied(self.known, indices)
        elif role == "inv" and self.known.layout is not None:
            found = definition.inverted(self.known, indices)
        else:
            values = {
                **self.fixed,
                **{p["of"]: var(name) - p["base"] for name, p in self.parameters.items()},
            }
            assert self.known.function is not None  # see _same_subject
            found = definition.evaluated(self.known.function, values, self._of("axis"))
        if len(found.results) != len(self.results):
            raise UnsupportedSyntax(
                f"{self.name} gives {len(self.results)} results, the definition {len(found.results)}"
            )
        self.within = found.within
        starts, masks = self._bases(len(found.results)), self._masked()
        types = self.about.get("types") or [""] * len(starts)
        values = zip(found.results, starts, masks, types, strict=True)
        return [self._converted(*one) for one in values]

    @staticmethod
    def _converted(value: Term, base: int, masked: int, kind: str) -> Term:
        """A result of the definition as the text gives it. kind: the type that it is declared as."""
        if kind == "bool":
            return value if value.is_choice else made("select", made("ne", value, 0), 1, 0)
        if masked == base - 1:
            return made("add", value, base)
        return definition.where_masked(value, masked)

    def _masked(self) -> list[int]:
        """What each result is where the definition's is -1 for what is masked: one less than its 0 is
        called, or in an unsigned type that counts from 0 its greatest number."""
        starts = self._bases(len(self.function.results))
        if self.about["role"] == "function":
            return [start - 1 for start in starts]
        kinds = [value.type for value in self.function.results]
        index_type = self.about.get("index type", "")
        own = (k.highest for k in kinds if k.name == index_type and not k.signed)
        most = UNSIGNED.get(index_type) or next(own, None)
        return [
            start - 1 if start or most is None or (k.signed and k.bits in (32, 64)) else most
            for start, k in zip(starts, kinds, strict=True)
        ]

    def _domain(self) -> list[Term]:
        """That the comment allows every index of the layout: no range is too narrow."""
        return [] if self.known.ways != 1 else self._covered(self.known.example)

    def _covered(self, layout: Any) -> list[Term]:
        role = self.about["role"]
        if layout is None or role not in ("apply", "inv"):
            return []
        sizes: Sequence[Any] = layout.dims
        if role == "inv":
            several = layout.results and len(layout.results) > 1
            sizes = layout.physical_dims if several else [layout.physical_size]
        indices = [name for name, p in self.parameters.items() if p["is"] == "index"]
        goals = []
        for name, n in zip(indices, sizes, strict=True):
            i = var(name) - self.parameters[name]["base"]
            inside = made("land", i >= 0, i < n)
            own = both(self.said.params.get(name, ()))
            goals.append(made("lor", made("lnot", inside), own))
        return goals

    def _narrow(self) -> tuple[int, str]:
        """(at how many sizes it was tried that the comment allows every index of the layout, where it
        does not): for layouts that cannot say their size in terms."""
        sizes = [name for name, p in self.parameters.items() if p["is"] == "size"]
        own = [c for c in self.given if c.names() <= set(sizes)]
        tried = 0
        for values, ranges, _ in sampling.allowed(sizes, own):
            if ranges:
                continue
            numbers = {self.parameters[n]["of"]: value for n, value in values.items()}
            try:
                layout = definition.known(self.subject, {**self.fixed, **numbers}).example
                goals = [goal.put(values) for goal in self._covered(layout)]
            except LegoError:
                continue
            for goal in goals:
                far = range(-1, 1 << 16)
                _, wrong = exhaustive.failure([goal], {n: far for n in goal.names()}, ())
                if wrong is not None:
                    return tried, f"{wrong} with {Failure(values, 0)}"
            tried += 1
        return tried, ""

    # -- the statements --------------------------------------------------------------------------

    def lines(self) -> Iterator[Line]:
        """A line for each statement."""
        keys = [statement["says"] for statement in self.about["statements"]]
        wanted = [*KINDS, "range", "definition", *["round trip"] * (self.pair is not None)]
        for key in wanted:
            if key not in keys:
                yield Line(self.name, key, OPEN, "the certificate does not state it")
        try:
            self._read()
            self._agreed()
        except UnsupportedSyntax as error:
            yield from (Line(self.name, key, OPEN, str(error)) for key in keys)
            return
        for key in keys:
            try:
                verdict, how = self._verdict(key)
            except UnsupportedSyntax as error:
                verdict, how = OPEN, str(error)
            yield Line(self.name, key, verdict, how)

    def _agreed(self) -> None:
        """Raises UnsupportedSyntax where the certificate supposes something else than the text's comment."""
        self._named()
        said = [text for text in self.about["given"] if not UNSEEN.fullmatch(text)]
        known = [condition_in_python(text) for text in said]
        own = [c for cs in self.said.params.values() for c in cs] + list(self.said.assumptions)
        ours, theirs = (
            {part for c in conditions for part in exhaustive.parts(floored(c))}
            for conditions in (known, own)
        )
        for alone, who in ((ours - theirs, "certificate"), (theirs - ours, "text's comment")):
            if alone:
                said = min(map(repr, alone))
                raise UnsupportedSyntax(f"the {who} alone supposes {said}; emit both together")

    def _named(self) -> None:
        """Raises UnsupportedSyntax where the text's comment names other parameters or results, or in another
        order."""
        of = {name: p["of"] for name, p in self.parameters.items()}
        results = list(self.about["results"])
        before = {**of, **{text: old for old, text in renamed(self.function)}}
        allowed = []
        spoken = list(dict.fromkeys(map(definition.whole, of)))
        indices = [n for n in of if self.parameters[n]["is"] != "size"]
        for names in (list(of), spoken, indices, results):
            allowed += [names, [before.get(n, n) for n in names]]
        for old, text in renamed(self.function):
            if text not in (self.name, *of, *results) or of.get(text, old) != old:
                raise UnsupportedSyntax(f"the comment says that {old} is renamed {text}")
        rest = (definition.whole(n) for n, p in self.parameters.items() if not p.get("prepared"))
        if self.function.prepare is not None:
            allowed.append([self.function.sizes, *dict.fromkeys(rest)])
        for names in listed_names(self.function):
            if names not in allowed:
                raise UnsupportedSyntax(f"the comment names {', '.join(names)}, in this order")
        seen = [n for cs in self.said.results for n in results if n in both(cs).names()]
        if seen != sorted(seen, key=results.index):
            raise UnsupportedSyntax(
                f"the comment promises something of {', '.join(seen)}, in this order"
            )

    def _range(self, known: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
        """What the comment promises of the results, which is what the certificate does."""
        values = dict(zip(self.about["results"], self.results, strict=True))
        single = {RESULT: var(self.about["results"][0])}
        single |= {f"{RESULT}[{k}]": var(n) for k, n in enumerate(self.about["results"])}
        own = [c.put(single) for cs in self.said.results for c in cs]
        theirs = [condition_in_python(by["result"]).put(single) for by in known if by["result"]]
        for name in sorted(set().union(*(c.names() for c in own))):
            if name not in values and name not in self.parameters:
                raise UnsupportedSyntax(
                    f"the comment promises something of {name}, which is no result"
                )
        verdict, how = self._shown([(c.put(values), "the promised range") for c in own])
        ours, others = (
            {part for c in of for part in exhaustive.parts(floored(c))} for of in (own, theirs)
        )
        if verdict != REFUTED and ours ^ others:
            return OPEN, "the comment and the certificate do not promise the same"
        return verdict, how

    def _verdict(self, key: str) -> tuple[str, str]:
        if key in KINDS:
            demands = [d for d in self.function.demands if d.kind in KINDS[key]]
            if key == "fits" and self.said.unseen:
                return self._as_stated(
                    (ASSUMED, "the comment says so: a parameter has no known bound")
                )
            goals = [(d.holds, f"line {d.line}: {d.text}") for d in demands]
            found = self._shown(goals)
            return found if key != "fits" or found[0] not in HELD else self._as_stated(found)
        if key == "range":
            return self._range(self._statement(key)["known"])
        if key == "definition":
            wanted = self._defined()
            goals = [
                (made("eq", a, b), "the definition")
                for a, b in zip(self.results, wanted, strict=True)
            ]
            goals += [(held, "an index of a layout within its sizes") for held in self.within]
            try:
                free = self._domain()
            except LegoError:
                tried, where = self._narrow()
                if where:
                    return REFUTED, f"the comment leaves out an index: {where}"
                verdict, how = self._shown(goals)
                return verdict, f"{how}; that no index is left out was tried at {tried} sizes"
            return self._shown(goals, free)
        return self._round_trip()

    def _as_stated(self, found: tuple[str, str]) -> tuple[str, str]:
        """What was found, unless a parameter or a result has another type than the certificate says."""
        stated, results = [*self._stated_types()], self.about["results"]
        given = {p["name"]: said for p, said in zip(self.about["parameters"], stated, strict=False)}
        stated[: len(given)] = [given[name] for name, _ in self.function.params if name in given]
        own_types = zip(results, (v.type for v in self.function.results), strict=True)
        pairs = zip((*self.function.params, *own_types), stated, strict=True)
        for (name, kind), (said, plain) in pairs:
            wanted = WIDTHS.get(said or plain)
            if said and wanted is None:
                return OPEN, f"the certificate says {short_repr(said)} of {name}, which is no type"
            # What computes is as wide as the certificate says, or has no width of a machine's.
            truth = kind is BOOL and name in results and "types" not in self.about
            own = wanted if truth else WIDTHS.get(kind.name)
            if wanted is not None and own != wanted and (said or own is not None):
                return OPEN, f"{name} is {kind.name}, and the certificate says {said or plain}"
        return found

    def _stated_types(self) -> Iterator[tuple[str, str]]:
        """(the declared type, "" for none, the index type) of each parameter and each result, as the
        certificate says."""
        plain = str(self.about.get("index type"))
        for p in self.about["parameters"]:
            yield p.get("type", ""), plain
        for said in self.about.get("types") or [""] * len(self.about["results"]):
            yield said, plain

    def _shown(
        self,
        goals: Sequence[tuple[Term, str]],
        free: Sequence[Term] = (),
        more: Sequence[Term] = (),
    ) -> tuple[str, str]:
        """Whether conditions hold wherever the comment allows it. free: those that hold for sizes that
        it allows, at all indices; more: what is assumed beside the comment."""
        names = list(self.parameters)
        allowed = [*self.given, *more]
        ranges = exhaustive.bounds(names, allowed)
        if ranges is not None and exhaustive.count(ranges) <= exhaustive.MOST:
            conditions = [goal for goal, _ in goals]
            tried, wrong = exhaustive.failure(conditions, ranges, allowed)
            if wrong is not None:
                return REFUTED, f"{goals[wrong.goal][1]} does not hold at {wrong}"
            if not tried:
                return OPEN, "the comment allows no index at all"
            sizes, of_sizes = self._of_sizes(allowed)
            wide = {
                n: r if n in sizes else range(r.start - 2, r.stop + 2) for n, r in ranges.items()
            }
            _, narrow = exhaustive.failure(free, wide, of_sizes)
            if narrow is not None:
                return REFUTED, f"the comment leaves out an index: {narrow}"
            return PROVED, f"at each of {tried:,} indices"
        return self._by_proof(list(goals), list(free), allowed)

    def _of_sizes(self, conditions: Sequence[Term]) -> tuple[set[str], list[Term]]:
        """The sizes, and the conditions that speak of these alone."""
        sizes = {name for name, p in self.parameters.items() if p["is"] == "size"}
        return sizes, [c for c in conditions if c.names() <= sizes]

    def _by_proof(
        self, goals: Sequence[tuple[Term, str]], free: Sequence[Term], allowed: Sequence[Term]
    ) -> tuple[str, str]:
        tried, wrong = sampling.failure([g for g, _ in goals], list(self.parameters), allowed)
        if wrong is not None:
            return REFUTED, f"{goals[wrong.goal][1]} does not hold at {wrong}"
        if not tried:
            return OPEN, "no numbers were found that the comment allows"
        _, of_sizes = self._of_sizes(allowed)
        todo = [(goal, what, allowed) for goal, what in goals]
        todo += [(goal, "an index that the layout has", of_sizes) for goal in free]
        how: list[str] = []
        for goal, what, given in todo:
            proof = prove(goal, given) or self._by_positions(goal, given)
            if proof is None:
                return SAMPLED, f"at {tried:,} indices; {what} was not proved"
            how.append(proof.how)
        counts = {h: how.count(h) for h in dict.fromkeys(how)}
        said = ", ".join(f"{h} ({n})" if len(todo) > 1 else h for h, n in counts.items())
        return PROVED, said or "there is none"

    def _by_positions(self, goal: Term, given: Sequence[Term]) -> Proof | None:
        """A proof for every position that the definition gives: of a bijection that is each of
        them."""
        layout = self.known.example
        if self.about["role"] != "inv" or layout is None or self.known.ways != 1:
            return None
        if self.about["base"]:
            return None
        try:
            size = layout.physical_size if layout.is_bijection else None
        except LegoError:
            size = None
        if size is None:
            return None
        (position,) = (name for name, p in self.parameters.items() if p["is"] == "index")
        if not goal.names() & {position}:
            return None
        index = [var(f"{position} {k}") for k in range(len(layout.dims))]
        at = definition.applied(self.known, index).results[0]
        if prove(made("lt", var(position), size), self.given) is None:
            return None
        inside = [
            c
            for i, n in zip(index, layout.dims, strict=True)
            for c in (made("le", 0, i), made("lt", i, n))
        ]
        others = [c for c in given if position not in c.names()]
        proof = prove(goal.put({position: at}), [*others, *inside])
        return proof and Proof(f"{proof.how} at the definition's positions")

    def _statement(self, key: str) -> Mapping[str, Any]:
        return next(s for s in self.about["statements"] if s["says"] == key)

    def _round_trip(self) -> tuple[str, str]:
        """Of an inv what it makes of apply's positions, and apply of its indices."""
        pair = self.pair
        if pair is None:
            raise UnsupportedSyntax("the other function is not in the certificate")
        there, back = pair
        for one in pair:
            one._read()
        layout = there.known.example
        masks = layout is not None and layout.masks
        masks_back = layout is not None and layout.masks_inverse
        if self is back:
            inner, outer, masked = back, there, masks_back
        else:
            inner, outer, masked = there, back, masks
        names = [name for name, p in outer.parameters.items() if p["is"] == "index"]
        sizes = {
            name: var(other)
            for name, p in outer.parameters.items()
            if p["is"] == "size"
            for other, q in inner.parameters.items()
            if q["is"] == "size" and q["of"] == p["of"]
        }
        values = {**sizes, **dict(zip(names, inner.results, strict=True))}
        found = [term.put(values) for term in outer.results]
        wanted = [var(name) for name, p in inner.parameters.items() if p["is"] == "index"]
        goals = []
        for a, b in zip(found, wanted, strict=True):
            goal = made("eq", a, b)
            if masked:
                hidden = made("eq", inner.results[0], inner._masked()[0])
                goal = made("lor", hidden, goal)
            goals.append((goal, "the round trip"))
        narrow = {n for n in names if outer.parameters[n].get("type")}
        typed = [c for c in outer._types(outer.function) if c.names() <= narrow]
        goals += [(c.put(values), f"a type of {outer.name}") for c in typed]
        supposed = []
        for c in outer.said.assumptions:
            if c.names() <= {*sizes}:
                supposed.append(c.put(sizes))
            else:
                goals.append((c.put(values), f"what {outer.name} supposes"))
        return self._shown(goals, (), supposed)


class _Sizes(_Subject):
    """A condition on the sizes of functions: it is to hold where all does that their comments say of
    these alone. of: what is known of the functions."""

    def __init__(
        self,
        about: Mapping[str, Any],
        certificate: Mapping[str, Any],
        text: Text,
        subject: Any,
        of: Sequence[_Subject],
    ):
        super().__init__(about, certificate, text, subject)
        self.of = of

    def lines(self) -> Iterator[Line]:
        """A line for each statement."""
        keys = [statement["says"] for statement in self.about["statements"]]
        for key in dict.fromkeys((*KINDS, "preconditions", *keys)):
            try:
                if key not in keys:
                    raise UnsupportedSyntax("the certificate does not state it")
                verdict, how = self._holds(key)
            except UnsupportedSyntax as error:
                verdict, how = OPEN, str(error)
            yield Line(self.name, key, verdict, how)

    def _holds(self, key: str) -> tuple[str, str]:
        function = self._read_function()
        if len(function.results) != 1 or not function.results[0].term.is_truth:
            raise UnsupportedSyntax(f"{self.name} gives no truth value")
        self.given = self._types(function)
        if key in KINDS:
            return self._demanded(key)
        (result,) = function.results
        found, wanted = [*exhaustive.parts(result.term)], self._wanted()
        verdict, how = self._shown([(c, f"the precondition {c!r}") for c in wanted], (), found)
        if verdict not in HELD:
            return verdict, how
        goals = [(c, f"that {c!r} is one of the preconditions") for c in found]
        return self._as_stated(self._shown(goals, (), wanted))

    def _demanded(self, key: str) -> tuple[str, str]:
        """Each part of the condition is computed only where those before it hold."""
        how: list[str] = []
        for d in (d for d in self.function.demands if d.kind in KINDS[key]):
            goal, given = d.holds, [*self.given]
            while goal.op == "lor" and goal.args[0].op == "lnot":
                given += exhaustive.parts(goal.args[0].args[0])
                goal = goal.args[1]
            proof = prove(goal, given)
            if proof is None:
                return self._shown([(d.holds, f"line {d.line}: {d.text}")])
            how.append(proof.how)
        counts = {h: how.count(h) for h in dict.fromkeys(how)}
        return PROVED, ", ".join(f"{h} ({n})" for h, n in counts.items()) or "there is none"

    def _by_positions(self, goal: Term, given: Sequence[Term]) -> Proof | None:
        """None: it has no positions."""
        return None

    def _wanted(self) -> list[Term]:
        """All that the comments of the functions say of sizes alone, in the names of this one."""
        own = {p["of"]: var(name) for name, p in self.parameters.items()}
        found: list[Term] = []
        for one in self.of:
            one._read()
            names = {n: p["of"] for n, p in one.parameters.items() if p["is"] == "size"}
            put = {name: own[of] for name, of in names.items() if of in own}
            types = {*one._types(one.function)}  # which hold of a member that nothing reads
            conditions = [
                c for c in one._of_sizes(one.given)[1] if {*put} >= c.names() or c not in types
            ]
            if missing := {names[n] for c in conditions for n in c.names()} - own.keys():
                raise UnsupportedSyntax(f"{self.name} does not ask for {min(missing)}")
            found += [floored(c).put(put) for c in conditions if c.names()]
        return list(dict.fromkeys(part for c in found for part in exhaustive.parts(c)))
