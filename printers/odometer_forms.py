"""How each language spells a walk over strided memory of any rank, which goes as an odometer does."""

from lego_emit.emit.ops import BREAK
from lego_emit.printers.javascript import wrap
from lego_emit.printers.rust_layout import head
from lego_emit.printers.rust_lints import allowed

OVER = "the positions of strided memory of any rank, in row-major order of the index"


def _declared(f, form):
    """(the names, the declarations) of rank, shape and strides."""
    return f.inputs[:3], f.parameters(form)[:3]


def c_odometer(f, of_type, zeroed="{0}"):
    """A cursor that holds the index."""
    p, T, names = f._printer, f.T, f.walk.names
    (rank, shape, strides), declared = _declared(f, "{T} {name}")
    cursor, walk, next_ = (names[n] for n in ("cursor", "walk", "next"))

    def told(text):
        return [f"/// {line}" for line in p.comment(text, "///")]

    loop = f"for ({cursor} at = {walk}(..); at.more; {next_}(&at)) .. at.position"
    found = ["", *told(f"A walk over {OVER}."), *told(loop), "typedef struct {"]
    found += [f"  {line};" for line in declared]
    found += [
        f"  {T} index[{f.walk.most}];",
        f"  {T} position;",
        "  bool more;",
        f"}} {cursor};",
        "",
    ]
    found += told(f"The first cursor of a walk over {OVER}.")
    found += told(f"@pre 0 <= {rank} <= {f.walk.most}")
    head_ = p.head(f"{p.qualifiers} {cursor} {walk}", f",{BREAK}".join(declared))
    found += [*head_.split("\n"), f"  {cursor} cursor = {zeroed};"]
    found += [f"  cursor.{n} = {n};" for n in (rank, shape, strides)]
    found += ["  cursor.more = true;", f"  for ({T} k = 0; k < {rank}; ++k) {{"]
    found += [
        f"    cursor.more = cursor.more && {shape}[k] > 0;",
        "  }",
        "  return cursor;",
        "}",
        "",
    ]
    found += told("Advances a cursor to the next index; more says whether there is one.")
    found += p.head(f"{p.qualifiers} void {next_}", f"{cursor} *cursor").split("\n")
    found += [f"  for ({T} k = cursor->{rank} - 1; k >= 0; --k) {{"]
    found += [f"    cursor->position += cursor->{strides}[k];"]
    found += [f"    if (++cursor->index[k] < cursor->{shape}[k]) {{", "      return;", "    }"]
    found += [
        f"    cursor->position -= cursor->index[k] * cursor->{strides}[k];",
        "    cursor->index[k] = 0;",
    ]
    return [*found, "  }", "  cursor->more = false;", "}"]


def cpp_odometer(f, of_type):
    """A range whose iterator it is itself."""
    p, T, name = f._printer, f.T, f.walk.names["walk"]
    (rank, shape, strides), declared = _declared(f, "{T} {name}")
    members = f.parameters("{T} {name}_")[:3]
    members = [m if m.endswith("_") else f"{m}_" for m in members]
    marks = "[[nodiscard]] constexpr"
    found = ["", f"/// The range of {OVER}.", f"/// for (const auto at : {name}(..)) .."]
    found += [f"/// @pre 0 <= {rank} <= {f.walk.most}", f"class {name} {{", " public:"]
    found += [
        f"  using value_type = {T};",
        "  using difference_type = std::int64_t;",
        "  struct sentinel {};",
        "",
    ]
    found += [f"  {p.head(f'constexpr {name}', f',{BREAK}'.join(declared), ' noexcept', 2)}"]
    starts = [f"{n}_({n})" for n in (rank, shape, strides)] + [
        "index_{}",
        "position_(0)",
        "more_(true)",
    ]
    found += [
        f"      : {p.line(f',{BREAK}'.join(starts), 8)} {{",
        f"    for ({T} k = 0; k < {rank}; ++k) {{",
    ]
    found += [f"      more_ = more_ && {shape}[k] > 0;", "    }", "  }"]
    found += [f"  {marks} {name} begin() const noexcept {{", "    return *this;", "  }"]
    found += [f"  {marks} sentinel end() const noexcept {{", "    return {};", "  }"]
    found += [f"  {marks} value_type operator*() const noexcept {{", "    return position_;", "  }"]
    found += [
        f"  constexpr {name}& operator++() noexcept {{",
        f"    for ({T} k = {rank}_ - 1; k >= 0; --k) {{",
    ]
    found += [f"      position_ += {strides}_[k];", f"      if (++index_[k] < {shape}_[k]) {{"]
    found += ["        return *this;", "      }", f"      position_ -= index_[k] * {strides}_[k];"]
    found += ["      index_[k] = 0;", "    }", "    more_ = false;", "    return *this;", "  }"]
    found += ["  constexpr void operator++(int) noexcept {", "    ++*this;", "  }"]
    for sign, text in (("==", "!at.more_"), ("!=", "at.more_")):
        head_ = f"  {marks} friend bool operator{sign}(const {name}& at, sentinel) noexcept {{"
        found += [head_, f"    return {text};", "  }"]
    found += ["", " private:", *(f"  {m};" for m in members)]
    return [*found, f"  {T} index_[{f.walk.most}];", f"  {T} position_;", "  bool more_;", "};"]


def rust_odometer(f, of_type):
    """An iterator that holds the index."""
    T, names = f.T, f.walk.names
    (rank, shape, strides), declared = _declared(f, "{name}: {T}")
    cursor, walk = names["cursor"], names["walk"]
    fields = [d.replace("&[", "&'a [") for d in declared]
    found = [
        "",
        f"/// An iterator over {OVER}, which `{walk}` makes.",
    ]
    found += ["#[allow(dead_code)]", "#[derive(Clone, Copy, Debug)]", f"pub struct {cursor}<'a> {{"]
    found += [
        *(f"    {d}," for d in fields),
        f"    index: [{T}; {f.walk.most}],",
        f"    position: {T},",
    ]
    found += ["    more: bool,", "}", "", f"/// An iterator over {OVER}.", "///"]
    found += [
        f"/// - `0 <= {rank} <= {f.walk.most}`",
        *allowed(walk, [rank, shape, strides], 3, True),
    ]
    found += [
        "#[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]",
        "#[must_use]",
        "#[inline]",
    ]
    found += head(f"pub fn {walk}<'a>", fields, f"{cursor}<'a>").split("\n")
    found += [f"    {cursor} {{", *(f"        {n}," for n in (rank, shape, strides))]
    found += [f"        index: [0; {f.walk.most}],", "        position: 0,"]
    found += [
        f"        more: {shape}[..{rank} as usize].iter().all(|&size| size > 0),",
        "    }",
        "}",
        "",
    ]
    found += [f"impl Iterator for {cursor}<'_> {{", f"    type Item = {T};", "", "    #[inline]"]
    found += [
        "    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation, clippy::cast_lossless)]"
    ]
    found += [
        "    fn next(&mut self) -> Option<Self::Item> {",
        "        if !self.more {",
        "            return None;",
    ]
    found += [
        "        }",
        "        let item = self.position;",
        f"        for k in (0..self.{rank} as usize).rev() {{",
    ]
    found += [
        f"            let stride = self.{strides}[k] as {T};",
        "            self.position += stride;",
    ]
    found += [
        "            self.index[k] += 1;",
        f"            if self.index[k] < self.{shape}[k] as {T} {{",
    ]
    found += ["                return Some(item);", "            }"]
    found += [
        "            self.position -= self.index[k] * stride;",
        "            self.index[k] = 0;",
        "        }",
    ]
    found += ["        self.more = false;", "        Some(item)", "    }", "}", ""]
    return [*found, f"impl core::iter::FusedIterator for {cursor}<'_> {{}}"]


def fortran_odometer(f, of_type):
    """A cursor that holds sizes, strides and the index."""
    p, names, T = f._printer, f.walk.names, f._printer.declared(f.T)
    rank, shape, strides = f.inputs[:3]
    cursor, walk, next_, most = names["cursor"], names["walk"], names["next"], f.walk.most
    if of_type:
        found = ["", *p.wrapped(f"A walk over {OVER}.", "  !> "), f"  type, public :: {cursor}"]
        found += [
            f"    {T} :: axes = 0, position = 0, sizes({most}) = 0, steps({most}) = 0, index({most}) = 0"
        ]
        return [*found, "    logical :: more = .false.", f"  end type {cursor}"]
    kind = f.T
    cast = "int({}, " + kind + ")" if kind else "{}"
    found = ["", *p.wrapped(f"The first cursor of a walk over {OVER}.", "  !> ")]
    found += [f"  !> @pre 0 <= {rank} <= {most}"]
    found += [f"  pure function {walk}({rank}, {shape}, {strides}) result(cursor)"]
    found += [f"    {line}" for line in p.parameter_lines(f, [rank, shape, strides])]
    found += [f"    type({cursor}) :: cursor", f"    cursor%axes = {cast.format(rank)}"]
    found += [f"    cursor%sizes(:{rank}) = {cast.format(f'{shape}(:{rank} - 1)')}"]
    found += [f"    cursor%steps(:{rank}) = {cast.format(f'{strides}(:{rank} - 1)')}"]
    found += [f"    cursor%more = all(cursor%sizes(:{rank}) > 0)", f"  end function {walk}", ""]
    said = "Advances a cursor to the next index; cursor%more says whether there is one."
    found += p.wrapped(said, "  !> ")
    found += [
        f"  pure subroutine {next_}(cursor)",
        f"    type({cursor}), intent(inout) :: cursor",
        f"    {T} :: k",
    ]
    found += [
        "    do k = cursor%axes, 1, -1",
        "      cursor%position = cursor%position + cursor%steps(k)",
    ]
    found += [
        "      cursor%index(k) = cursor%index(k) + 1",
        "      if (cursor%index(k) < cursor%sizes(k)) return",
    ]
    found += ["      cursor%position = cursor%position - cursor%index(k) * cursor%steps(k)"]
    found += ["      cursor%index(k) = 0", "    end do", "    cursor%more = .false."]
    return [*found, f"  end subroutine {next_}"]


def julia_odometer(f, of_type):
    """Something to iterate over, which holds the index."""
    p, names = f._printer, f.walk.names
    (rank, shape, strides), _ = _declared(f, "{name}::{T}")
    cursor, walk = names["cursor"], names["walk"]
    docs = p.docstring_lines(
        f,
        walk,
        [rank, shape, strides],
        "",
        [f"The walk over {OVER}.", "", f"- `0 <= {rank} <= {f.walk.most}`"],
    )
    found = [
        "",
        f"struct {cursor}{{S<:AbstractVector{{<:Integer}}, D<:AbstractVector{{<:Integer}}}}",
    ]
    found += [
        f"    {rank}::Int",
        f"    {shape}::S",
        f"    {strides}::D",
        "    index::Vector{Int}",
        "end",
        "",
    ]
    found += [
        '"""',
        *docs,
        '"""',
        f"function {walk}({rank}::Integer, {shape}::AbstractVector{{<:Integer}},",
    ]
    found += [
        f"    {strides}::AbstractVector{{<:Integer}})",
        f"    return {cursor}(Int({rank}), {shape}, {strides}, zeros(Int, {rank}))",
    ]
    found += [
        "end",
        "",
        f"Base.IteratorSize(::Type{{<:{cursor}}}) = Base.SizeUnknown()",
        f"Base.eltype(::Type{{<:{cursor}}}) = Int",
        "",
    ]
    found += [
        f"function Base.iterate(walk::{cursor})",
        f"    if any(walk.{shape}[k] < 1 for k in 1:walk.{rank})",
    ]
    found += [
        "        return nothing",
        "    end",
        "    fill!(walk.index, 0)",
        "    return 0, 0",
        "end",
        "",
    ]
    found += [f"function Base.iterate(walk::{cursor}, position)", f"    for k in walk.{rank}:-1:1"]
    found += [f"        position += Int(walk.{strides}[k])", "        walk.index[k] += 1"]
    found += [
        f"        if walk.index[k] < walk.{shape}[k]",
        "            return position, position",
        "        end",
    ]
    found += [
        f"        position -= walk.index[k] * Int(walk.{strides}[k])",
        "        walk.index[k] = 0",
        "    end",
    ]
    return [*found, "    return nothing", "end"]


def javascript_odometer(f, of_type):
    """A loop that calls a function."""
    p, walk = f._printer, f.walk.names["walk"]
    rank, shape, strides = f.inputs[:3]
    zero, one = ("0n", "1n") if f.T == "bigint" else ("0", "1")
    found = [
        "",
        "/**",
        *(f" * {line}" for line in wrap(f"Calls visit(position) for {OVER}.", p.line_width - 3)),
        " *",
    ]
    kinds = f.parameters("{{{T}}}")[:3]
    found += [f" * @param {k} {n}" for k, n in zip(kinds, (rank, shape, strides), strict=True)]
    found += [f" * @param {{(position: {f.T}) => void}} visit", " */"]
    found += p.head_of(walk, [rank, shape, strides, "visit"], " {").split("\n")
    found += [
        f"  const index = new Array(Number({rank})).fill({zero});",
        f"  let position = {zero};",
    ]
    found += [
        f"  let k = index.every((_, axis) => {shape}[axis] > 0) ? 0 : -1;",
        "  while (k >= 0) {",
        "    visit(position);",
    ]
    found += [
        "    for (k = index.length - 1; k >= 0; --k) {",
        f"      position += {strides}[k];",
        f"      index[k] += {one};",
    ]
    found += [f"      if (index[k] < {shape}[k]) {{", "        break;", "      }"]
    found += [
        f"      position -= index[k] * {strides}[k];",
        f"      index[k] = {zero};",
        "    }",
        "  }",
    ]
    return [*found, "}"]
