"""What layouts in Python kernels and on arrays must do: each case, and the tests that hold it."""

import ast
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

import lego_emit
from lego_emit.emit import registry

HERE = Path(__file__).parent
RESULTS = HERE.parent / "benchmarks" / "results"

# By case, the tests of a file each.
CASES = {
    "1: the Triton examples as decorated kernels, a product in four variants": (
        "test_inside_languages: test_triton_s_kernels_are_right",
        "test_inside_languages: test_positions_are_masked_once_under_what_is_assumed_of_sizes",
        "test_triton_kernels: test_a_kernel_is_right",
    ),
    "2: wide copies for an H100, with what is assumed and without": (
        "test_inside_languages: test_triton_compiles_wide_loads_and_names_the_user_s_lines",
        "test_inside_languages: test_a_position_is_masked_once",
        "test_triton_kernels: test_loads_of_a_grouped_gemm_are_wide_by_what_is_assumed",
    ),
    "3: the user's file and lines, in PTX and in errors": (
        "test_inside_languages: test_triton_compiles_wide_loads_and_names_the_user_s_lines",
        "test_inside_languages: test_triton_s_autotune_and_lines",
        "test_inside_languages: test_triton_s_compiler_takes_other_names_and_places_errors",
        "test_inside_languages: test_numba_s_kernels_are_right",
        "test_inside_languages: test_a_cell_of_ipython",
        "test_inside: test_lines_keep_their_numbers",
    ),
    "4: an index of too few parts": ("test_inside: test_an_error_has_the_place_and_a_caret",),
    "5: what no layout takes, with a caret": (
        "test_inside: test_an_error_has_the_place_and_a_caret",
    ),
    "6: functions without a source, methods, notebooks": (
        "test_inside: test_what_cannot_be_rewritten_says_what_to_do",
        "test_inside: test_methods",
        "test_inside_languages: test_a_cell_of_ipython",
    ),
    "7: layouts from around the kernel, bound anew later": (
        "test_inside: test_layouts_from_around_the_function",
        "test_inside: test_a_layout_that_changes_is_told",
        "test_inside_flow: test_layouts_in_lists_and_dicts_by_constants",
        "test_inside_flow: test_what_functions_read_is_watched",
    ),
    "8: names that change, loops, branches, constants": (
        "test_inside: test_an_error_has_the_place_and_a_caret",
        "test_inside: test_choices_of_constants",
        "test_inside_flow: test_control_flow",
    ),
    "9: a function without a layout comes back identical": (
        "test_inside: test_what_is_no_layout_stays_as_it_is",
        "test_inside: test_functions_without_a_layout_come_back_identical",
    ),
    "10: program numbers in groups": ("test_inside: test_program_ids_in_groups",),
    "11: autotune over and under; Numba's cache after a change elsewhere": (
        "test_inside_languages: test_triton_s_autotune_and_lines",
        "test_inside_languages: test_numba_keeps_no_code_of_another_layout",
        "test_inside: test_the_files_of_rewritten_functions",
    ),
    "12: other names of a module, two shared arrays": (
        "test_inside_languages: test_triton_s_compiler_takes_other_names_and_places_errors",
        "test_inside_languages: test_numba_s_kernels_are_right",
    ),
    "13: Numba, eight puzzles, cuTile": (
        "test_inside_languages: test_cutile_s_kernels_become_bytecode",
        "test_inside_languages: test_numba_s_kernels_are_right",
        "test_puzzles: test_the_puzzles_are_right",
    ),
    "14: JAX and Pallas": (
        "test_inside_jax: test_addition",
        "test_inside_jax: test_transposition_and_its_gradient",
        "test_inside_jax: test_a_product_of_tiles",
        "test_inside_jax: test_a_pallas_index_map",
    ),
    "15: descriptors": (
        "test_inside_descriptors: test_blocks_are_those_of_the_layouts",
        "test_inside_descriptors: test_triton_copies_them_by_tma",
        "test_inside_descriptors: test_layouts_without_a_descriptor",
    ),
    "16: arrays of three libraries there and back": (
        "test_on_arrays: test_arrays_are_moved_as_the_reference_says",
        "test_on_arrays: test_the_catalogue_moves_arrays",
        "test_on_arrays: test_elements_may_be_of_any_type",
        "test_on_arrays: test_jax_traces_layouts",
        "test_on_arrays: test_torch_moves_tensors",
    ),
    "17: PyTorch": (
        "test_inside_cases: test_a_gpu_holds_little_more_than_both_arrays_and_is_as_fast_as_by_hand",
        "test_on_arrays: test_torch_moves_tensors",
        "test_on_arrays: test_torch_moves_tensors_of_a_gpu",
        "test_on_arrays: test_torch_compiles_moves_into_one_graph",
    ),
    "18: views, and what fills padding": (
        "test_on_arrays: test_a_view_is_written_through",
        "test_on_arrays: test_a_view_of_a_tensor_shares_its_memory",
        "test_on_arrays: test_arrays_are_moved_as_the_reference_says",
    ),
    "19: speed beside what one writes by hand": (
        "test_inside_cases: test_pack_is_as_fast_as_what_one_writes_by_hand",
        "test_inside_cases: test_planning_takes_50_ms_at_most",
        "test_halves: test_a_hilbert_curve_is_planned_by_a_few_thousand_numbers",
        "test_halves: test_what_is_no_sum_of_digits_is_told_without_a_trace",
        "test_on_arrays: test_a_layout_s_next_array_is_moved_without_planning",
        "test_inside_cases: test_a_gpu_holds_little_more_than_both_arrays_and_is_as_fast_as_by_hand",
    ),
    "20: rewriting ahead of time, and how long it takes": (
        "test_rewrite: test_a_stale_output_is_found",
        "test_inside_kept: test_a_second_time_nothing_is_lowered",
        "test_inside_kept: test_another_process_reads_the_same",
        "test_inside_recalled: test_what_is_around_a_kernel_is_part_of_it",
        "test_inside_recalled: test_a_later_process_rewrites_nothing",
        "test_inside_cases: test_nine_kernels_are_decorated_in_time",
    ),
}


# What of a case needs a GPU, as benchmarks/gpu/inside ran it on an H100: programs, or the table that shows it.
ON_A_GPU = {
    "1": (
        *(f"examples/kernels/triton_{n}/check.py" for n in ("grouped_gemm", "layernorm", "matmul", "softmax")),
        "tests/inside/check_triton.py",
    ),
    "15": ("tests/inside/triton_descriptors.py",),
    "17": ("pack and unpack under autograd and torch.compile",),  # and test_a_gpu_holds_little_more
}  # fmt: skip


def functions(file: str) -> dict[str, ast.FunctionDef]:
    """The tests of a file, by name."""
    tree = ast.parse((HERE / f"{file}.py").read_text())
    return {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}


def test_there_are_twenty():
    assert [int(case.partition(":")[0]) for case in CASES] == [*range(1, 21)]


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_its_tests(case):
    assert CASES[case]
    for named in CASES[case]:
        file, name = named.split(": ")
        assert name in functions(file), named


def table_of(file: Path) -> list[list[str]]:
    """The cells of the rows in a Markdown file's tables."""
    lines = (line for line in file.read_text().splitlines() if line[:1] == "|")
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_nine_kernels_are_decorated_in_time():
    """As benchmarks/inside has measured it."""
    rows = {row[0]: row[1:] for row in table_of(RESULTS / "inside.md")}
    count, first, again = map(float, rows["all"])
    assert count == 9 and first <= 2000 and again <= 100


def test_pack_is_as_fast_as_what_one_writes_by_hand():
    """As the benchmark has measured it."""
    rows = [row for row in table_of(RESULTS / "arrays.md") if len(row) == 8]
    means = [float(row[-1]) for row in rows if row[0] == "geometric mean"]
    layouts = [row for row in rows if row[-1][:1].isdigit() and row[0] != "geometric mean"]
    assert len(means) == 2 and max(means) <= 1.1
    assert len(layouts) == 24 and all(float(row[-1]) <= 1.3 for row in layouts)


def test_planning_takes_50_ms_at_most():
    """As the benchmark has measured it in new processes: plan, and the first pack less a later one."""
    rows = [row for row in table_of(RESULTS / "arrays.md") if len(row) == 3][2:]
    assert len(rows) == 12 and all(float(time) <= 50 for row in rows for time in row[1:])


def test_a_gpu_holds_little_more_than_both_arrays_and_is_as_fast_as_by_hand():
    """As benchmarks/arrays --gpu has measured it."""
    header, _, *rows = table_of(RESULTS / "h100" / "arrays.md")
    *layouts, mean = (dict(zip(header[1:], row[1:], strict=True)) for row in rows)
    assert len(layouts) == 12 and float(mean["ratio"]) <= 1.1
    assert all(float(row["peak"]) <= 1.1 and float(row["ratio"]) <= 1.3 for row in layouts)


def test_all_was_right_on_a_gpu():
    """As the benchmark has found it, masks among it."""
    text = (file := RESULTS / "h100" / "inside.md").read_text()
    assert all(shown in text for case in ON_A_GPU.values() for shown in case)
    rows = table_of(file)
    programs = [row for row in rows if row[0].endswith(".py")]
    assert len(programs) == 6 and all(count == right for _, count, right in programs)
    assert "True" in text and "False" not in text
    times = {
        row[0]: float(row[1]) for row in rows if row[0] in ("pointers, masked", "masks by hand")
    }
    assert times["pointers, masked"] <= 1.05 * times["masks by hand"]


def test_what_the_authors_package_has_is_here_or_said_to_be_missing():
    """The table of docs/comparisons.md: names that exist, languages and layouts that there are."""
    page = (HERE.parent / "docs" / "comparisons.md").read_text()
    table = page.partition("| `lego-layout` | here |")[2].partition("\n\n")[0]
    rows = [row.strip("| ").split(" | ") for row in table.strip().splitlines()[1:]]
    assert len(rows) >= 25 and all(len(row) == 2 for row in rows)
    here = "\n".join(row[1] for row in rows)
    found = re.findall(r"`(lego_emit(?:\.\w+)+)", here)
    assert len(found) >= 15
    for name in found:
        assert resolve_name(name) is not None
    targets = re.findall(r'`target="(\w+)"`', here)
    assert {*targets} <= {*registry.targets()} and len(targets) >= 12
    layouts = re.findall(r'catalogue\["([\w.]+)"\]', here)
    assert layouts and all(name in lego_emit.catalogue for name in layouts)
    for link in re.findall(r"\]\(([\w/.-]+)", here):
        assert (HERE.parent / "docs" / link).exists()
