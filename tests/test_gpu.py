"""CUDA C on a GPU: called, verified and timed. What is marked gpu needs one; the rest runs the same
code over a stand-in (fake_cuda), so that it is checked where there is none."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import fake_cuda
import numpy as np
import pytest

from lego_emit import GenP, GroupBy, OrderBy, RegP, Row, generate, golden, isqrt
from lego_emit.errors import AssumptionError, DeviceError, LegoError, TargetError, VerifyError
from lego_emit.run.space import space_of, spaces_of
from lego_emit.targets import gpu, gpu_verify

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = sorted(p.parent for p in (ROOT / "golden").glob("*/layout.py"))


def tiled(M, N, BM, BN):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))


def index_kernel(M, N, BM, BN):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[pid_m, pid_n, :, :]  # noqa: F821


SIZES = {"M": 96, "N": 64, "BM": 32, "BN": 16}


@pytest.fixture(params=[pytest.param("stand-in"), pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    """The name of a device: one that g++ plays, and the real one."""
    if request.param == "stand-in":
        if shutil.which("g++") is None:
            pytest.skip("needs g++")
        fake_cuda.install(monkeypatch)
    return "gpu"


def sources():
    """Texts with every kind of kernel, for nvcc."""
    unit = generate(tiled, "cuda", sizes={"M": 512, "N": 512, "BM": 32, "BN": 32})
    yield gpu_verify.verify_text(unit, {f.name: space_of(f, {}) for f in unit.functions})
    unit = generate(tiled, "cuda")
    yield gpu_verify.verify_text(unit, {f.name: space_of(f, SIZES) for f in unit.functions})
    unit = generate(index_kernel, "cuda", index_type="uint32")
    yield gpu_verify.verify_text(unit, {f.name: space_of(f, SIZES) for f in unit.functions})


def test_nvcc_takes_the_kernels(need, tmp_path):
    nvcc = need("nvcc", "apt-get install nvidia-cuda-toolkit")
    for k, text in enumerate(sources()):
        (tmp_path / f"k{k}.cu").write_text(text)
        done = subprocess.run(
            [nvcc, *gpu.OPTIONS, "-arch=sm_90", "-cubin", "-Werror", "all-warnings", f"k{k}.cu"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_calls_as_on_the_host(device):
    unit = generate(tiled, "cuda")
    here, there = unit.compile(), unit.compile(device=device)
    j = np.arange(64).reshape(4, 16)
    given = (96, 64, 32, 16, 1, j // 16, 5, j % 16)
    np.testing.assert_array_equal(there["tiled_apply"](*given), here["tiled_apply"](*given))
    assert there["tiled_apply"](96, 64, 32, 16, 1, 2, 3, 4) == here["tiled_apply"](
        96, 64, 32, 16, 1, 2, 3, 4
    )
    flat = np.arange(96 * 64)
    for a, b in zip(
        there["tiled_inv"](96, 64, 32, 16, flat),
        here["tiled_inv"](96, 64, 32, 16, flat),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    assert there["tiled_inv"](96, 64, 32, 16, np.arange(0))[0].shape == (0,)
    with pytest.raises(TypeError, match="takes 8 arguments"):
        there["tiled_apply"](1)
    with pytest.raises(TypeError, match="must be integers"):
        there["tiled_inv"](96, 64, 32, 16, 0.5)


def test_gpu_arrays_stay_there(device):
    unit = generate(tiled, "cuda")
    there = unit.compile(device=device)
    from pycuda import gpuarray

    flat = np.arange(96 * 64, dtype=np.int32).reshape(96, 64)
    found = there["tiled_inv"](96, 64, 32, 16, gpuarray.to_gpu(flat))
    assert all(isinstance(a, gpuarray.GPUArray) and a.shape == (96, 64) for a in found)
    back = there["tiled_apply"](96, 64, 32, 16, *found)
    np.testing.assert_array_equal(back.get(), flat)
    row = np.arange(64)
    moved = there["tiled_apply"](96, 64, 32, 16, *found[:3], row % 16)
    np.testing.assert_array_equal(moved.get(), flat)
    with pytest.raises(TypeError, match="one shape"):
        there["tiled_apply"](96, 64, 32, 16, 0, 0, found[0], gpuarray.to_gpu(row))
    with pytest.raises(TypeError, match="must be integers"):
        there["tiled_inv"](96, 64, 32, 16, gpuarray.to_gpu(row.astype(np.float32)))


class Elsewhere:
    """An array of a library that is not PyCUDA."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (array.ctypes.data, False),
            "strides": None, "version": 3, **more,
        }  # fmt: skip


def test_arrays_with_an_interface(monkeypatch):
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    fake_cuda.install(monkeypatch)
    there = generate(tiled, "cuda").compile(device="gpu")
    flat = np.arange(96 * 64, dtype=np.int32).reshape(96, 64)
    found = there["tiled_inv"](96, 64, 32, 16, Elsewhere(flat))
    assert all(type(a).__name__ == "GPUArray" for a in found)
    held = [Elsewhere(a.get()) for a in found]
    np.testing.assert_array_equal(there["tiled_apply"](96, 64, 32, 16, *held).get(), flat)
    with pytest.raises(TypeError, match="flat is not contiguous"):
        there["tiled_inv"](96, 64, 32, 16, Elsewhere(flat, strides=(4, 384)))
    far = Elsewhere(flat)
    far.__dlpack_device__ = lambda: (2, 1)
    with pytest.raises(TypeError, match="in the memory of GPU 1"):
        there["tiled_inv"](96, 64, 32, 16, far)
    del far.__cuda_array_interface__
    far.__dlpack_device__ = lambda: (2, 0)
    monkeypatch.setattr(gpu.gpu_arrays, "WITH_INTERFACE", ())
    with pytest.raises(TypeError, match="import PyTorch or CuPy"):
        there["tiled_inv"](96, 64, 32, 16, far)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_arrays_of_other_libraries(name):
    library = pytest.importorskip(name)
    there = generate(tiled, "cuda").compile(device="gpu")
    on = {"device": "cuda"} if name == "torch" else {}
    for dtype in (library.int64, library.int32):
        flat = library.arange(96 * 64, dtype=dtype, **on).reshape(96, 64)
        found = there["tiled_inv"](96, 64, 32, 16, flat)
        assert all(type(a) is type(flat) and a.dtype == library.int64 for a in found)
        assert bool((there["tiled_apply"](96, 64, 32, 16, *found) == flat).all())
    with pytest.raises(TypeError, match="not contiguous"):
        there["tiled_inv"](96, 64, 32, 16, flat.T)
    stream = library.cuda.Stream()
    with library.cuda.stream(stream) if name == "torch" else stream:
        late = flat.reshape(-1).repeat(4096)[: 96 * 64 * 512]
        found = there["tiled_inv"](96, 64, 32, 16, late)
    assert bool((there["tiled_apply"](96, 64, 32, 16, *found) == late).all())


def test_array_form(device):
    unit = generate(index_kernel, "cuda")
    here, there = unit.compile(), unit.compile(device=device)
    np.testing.assert_array_equal(
        there.array("index_kernel")(96, 64, 32, 16, 1, 2),
        here.array("index_kernel")(96, 64, 32, 16, 1, 2),
    )


def units_of(case):
    """(unit, numbers in the text or not): as golden verify runs them."""
    return [case.emit("cuda", numbers) for numbers in ((False, True) if case.sizes else (False,))]


def equal_to_its_table(case):
    for unit in units_of(case):
        found = unit.verify(on="gpu", reference=case)
        assert found, str(found)
        assert found.checks[-1].what.endswith("golden table")


@pytest.fixture(scope="session")
def compiled_cases():
    """All golden cases, compiled side by side into PyCUDA's cache."""
    texts = []
    for case in golden.cases(ROOT / "golden"):
        for unit in units_of(case):
            texts.append(gpu_verify.verify_text(unit, spaces_of(unit, {}, {}, case)[0]))
    gpu.warm_cache(gpu.ready(), texts)


@pytest.mark.gpu
@pytest.mark.parametrize("folder", GOLDEN, ids=lambda p: p.name)
def test_golden_cases(compiled_cases, folder):
    equal_to_its_table(golden.load(folder))


@pytest.mark.deep
@pytest.mark.parametrize("folder", GOLDEN[::6], ids=lambda p: p.name)
def test_golden_cases_on_the_stand_in(need, monkeypatch, folder):
    need("g++", "apt-get install g++")
    fake_cuda.install(monkeypatch)
    equal_to_its_table(golden.load(folder))


def test_a_wrong_pair_is_shown(device):
    layout = OrderBy(Row(64, 64)).TileBy((8, 8), (8, 8))
    unit = generate(layout, "cuda")
    wrong = replace(unit, source=unit.source.replace("512 * i", "511 * i"))
    assert wrong.source != unit.source
    there, here = wrong.verify(on=device, reference=layout), wrong.verify(reference=layout)
    assert not there and there.counterexample == here.counterexample
    assert "layout_apply(i=1, j=0, k=0, l=0) gives 511 (logical (1, 0, 0, 0), number 512" in str(
        there
    )
    assert "3,584 of 4,096 fail" in there.counterexample


def test_a_collision_is_shown(device):
    layout = GroupBy([8, 8]).OrderBy(GenP([8, 8], lambda i, j: i % 4 * 8 + j))
    unit = generate(layout, "cuda")
    there, here = unit.verify(on=device), unit.verify()
    assert there and there.checks[1].found == here.checks[1].found
    assert "(i=0, j=0) and (i=4, j=0), numbers 0 and 32, both give 0" in there.checks[1].found
    assert not unit.verify(on=device, claim="injective")


def test_a_gap_is_shown(device):
    unit = generate(
        GroupBy([5, 5]).OrderBy(GenP([5, 5], lambda i, j: 5 * i + 2 * j + 40 * (i // 4))), "cuda"
    )
    there, here = unit.verify(on=device), unit.verify()
    assert there.checks[1].found == here.checks[1].found


def test_indices_that_the_header_rules_out(device):
    def kernel(x, y):
        return GroupBy([10])[x * 2 + y]

    unit = generate(kernel, "cuda", assume=["0 <= x < 8", "0 <= y < 8"])
    there, here = unit.verify(on=device), unit.verify()
    assert there and [c.found for c in there.checks] == [c.found for c in here.checks]


def test_masked_positions(device):
    case = golden.load(ROOT / "golden" / "expandby_packed_5x7")
    found = case.emit("cuda").verify(on=device, reference=case)
    assert found and "are masked" in str(found)


def antidiagonal(n):
    def forward(i, j):
        d = i + j
        return (
            d * (d + 1) // 2 + i
            if d < n
            else n * n - 1 - ((2 * n - 2 - d) * (2 * n - 1 - d) // 2 + n - 1 - i)
        )

    def back(x):
        y = x if x < n * (n + 1) // 2 else n * n - 1 - x
        d = (isqrt(8 * y + 1) - 1) // 2
        i = y - d * (d + 1) // 2
        return (i, d - i) if x < n * (n + 1) // 2 else (n - 1 - i, n - 1 - d + i)

    return GroupBy([n, n]).OrderBy(GenP([n, n], forward, back))


def test_square_roots(device):
    assert generate(antidiagonal(100), "cuda").verify(on=device, reference=antidiagonal(100))


# -- what cannot be ------------------------------------------------------------------------------


def test_sizes_are_needed(device):
    unit = generate(tiled, "cuda")
    with pytest.raises(VerifyError, match=r"needs a number for M, N, BM, BN: sizes=dict\(M=\.\.\)"):
        unit.verify(on=device)
    with pytest.raises(AssumptionError, match="assumes M % BM == 0, which is false for M = 97"):
        unit.verify(on=device, sizes={**SIZES, "M": 97})
    with pytest.raises(VerifyError, match=r"no parameter 'MM'.*Did you mean 'M'"):
        unit.verify(on=device, sizes={**SIZES, "MM": 97})
    with pytest.raises(AssumptionError, match=r"M\*N <= 2\*\*31 - 1"):
        unit.verify(on=device, sizes={**SIZES, "M": 2**20, "N": 2**20})
    with pytest.raises(AssumptionError, match="M = 1099511627776 does not fit its type, int32"):
        unit.verify(on=device, sizes={**SIZES, "M": 2**40})


def test_a_bitmap_that_does_not_fit(monkeypatch):
    fake_cuda.install(monkeypatch, free=2**16)
    unit = generate(index_kernel, "cuda")
    with pytest.raises(DeviceError, match=r"bitmap of 1,048,576 positions takes .* GiB free"):
        unit.verify(on="gpu", sizes={"M": 1024, "N": 1024, "BM": 32, "BN": 32})


def test_a_kernel_that_does_not_compile(device):
    unit = generate(tiled, "cuda")
    broken = replace(unit, source=unit.source.replace("BM *", "BMM *"))
    with pytest.raises(DeviceError, match=r"tiled\.cuh: nvcc refuses line \d+, `.*BMM \* .*`"):
        broken.compile(device=device)


def test_refused_shows_our_line():
    message = '/tmp/xyz/kernel.cu(2): error: identifier "b" is undefined\n1 error detected'
    assert gpu.refused("unit.cuh", "a\nb + 1;\n", message) == (
        'unit.cuh: nvcc refuses line 2, `b + 1;`:\nline(2): error: identifier "b" is undefined\n'
        "1 error detected"
    )


@pytest.mark.parametrize("name", ["tpu", "gpu:", "gpu:x", "cuda"])
def test_no_such_device(name):
    with pytest.raises(TargetError, match="no device"):
        generate(tiled, "cuda").compile(device=name)


def test_a_device_number_that_is_not_there(device):
    with pytest.raises(DeviceError, match="no device 'gpu:4000': this machine has"):
        generate(tiled, "cuda").compile(device="gpu:4000")


def test_only_cuda_runs_on_a_gpu():
    with pytest.raises(TargetError, match="target 'rust' does not run on 'gpu'; 'cuda' does"):
        generate(tiled, "rust").compile(device="gpu")
    with pytest.raises(TargetError, match="target 'rust' does not run on 'gpu'"):
        generate(tiled, "rust").verify(on="gpu", sizes=SIZES)


def missing(monkeypatch, modules, **driver):
    import sys

    fake_cuda.install(monkeypatch)
    for name in modules:
        monkeypatch.setitem(sys.modules, name, None)
    for name, value in driver.items():
        monkeypatch.setattr(sys.modules["pycuda.driver"], name, value)


def refuse():
    raise fake_cuda.Error("cuInit failed: no CUDA-capable device is detected")


def test_what_is_missing_is_named(monkeypatch):
    unit = generate(tiled, "cuda")
    with monkeypatch.context() as patch:
        missing(patch, ["pycuda", "pycuda.driver"])
        with pytest.raises(DeviceError, match="needs PyCUDA: pip install pycuda"):
            unit.compile(device="gpu")
    with monkeypatch.context() as patch:
        missing(patch, [], init=refuse)
        with pytest.raises(DeviceError, match="no CUDA-capable device"):
            unit.compile(device="gpu")
    with monkeypatch.context() as patch:
        missing(patch, [])
        patch.setattr(fake_cuda.Device, "count", staticmethod(lambda: 0))
        with pytest.raises(DeviceError, match="sees no device"):
            unit.compile(device="gpu")
    with monkeypatch.context() as patch:
        missing(patch, [])
        patch.setattr(gpu, "which", lambda name: None)
        with pytest.raises(DeviceError, match="nvcc of the CUDA toolkit, which is not on PATH"):
            unit.compile(device="gpu")
    assert issubclass(DeviceError, LegoError)


def test_a_missing_driver_is_named(monkeypatch):
    import builtins

    fake_cuda.install(monkeypatch)
    load = builtins.__import__

    def without_driver(name, *more):
        if name == "pycuda.driver":
            raise ImportError("libcuda.so.1: cannot open shared object file")
        return load(name, *more)

    monkeypatch.setattr(builtins, "__import__", without_driver)
    with pytest.raises(DeviceError, match="NVIDIA driver is missing"):
        gpu.device("gpu")


def test_interrupted(device, monkeypatch):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(tiled, "cuda").verify(on=device, sizes=SIZES, progress=stop)


# -- billions ------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_two_to_the_30():
    unit = generate(tiled, "cuda", sizes={"M": 32768, "N": 32768, "BM": 32, "BN": 32})
    layout = OrderBy(Row(32768, 32768)).TileBy((1024, 1024), (32, 32))
    found = unit.verify(on="gpu", reference=layout)
    assert found and found.checks[0].indices == 2**30
    assert found.checks[0].kernel_ms < 5, str(found)


@pytest.mark.gpu
def test_two_to_the_34():
    unit = generate(tiled, "cuda", sizes={"M": 2**17, "N": 2**17, "BM": 32, "BN": 32})
    assert unit.functions[0].index_type == "int64"
    found = unit.verify(on="gpu")
    assert found and found.checks[0].indices == 2**34


@pytest.mark.gpu
def test_bitmap_of_two_to_the_30():
    sizes = {"M": 32768, "N": 32768, "BM": 32, "BN": 32}
    found = generate(index_kernel, "cuda", sizes=sizes).verify(on="gpu", claim="bijective")
    assert found and "none is left out" in found.checks[1].found


@pytest.mark.gpu
def test_morton_of_two_to_the_30():
    bits = [k + half for k in range(15) for half in (0, 15)]
    layout = GroupBy([2**15, 2**15]).OrderBy(RegP([2] * 30, bits))
    assert generate(layout, "cuda").verify(on="gpu")
