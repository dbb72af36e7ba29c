"""gemm and stencil7 at random sizes and pitches against torch: no hang, no wrong result, nothing written outside.

stress.py LIBRARY [LAUNCHES [SEED]]; LIBRARY is the kit's kernels with the runtime as a shared library. Prints the seed, a
line for each failure and one of totals; a launch that takes longer than the time limit ends the program with status 3.
"""

import ctypes
import os
import random
import sys
import threading
import time

import torch

LIMIT_SECONDS = 20


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Dim(ctypes.Structure):
    _fields_ = [("min", ctypes.c_int64), ("extent", ctypes.c_int64), ("stride", ctypes.c_int64)]


class Buffer(ctypes.Structure):
    _fields_ = [
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_uint64),
        ("table", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("type", Type),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(Dim)),
        ("reserved", ctypes.c_void_p),
    ]


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.drawloom_cuda_table.restype = ctypes.c_void_p
        self.lib.drawloom_buffer_wrap_device.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
        self.table = self.lib.drawloom_cuda_table()

    def buffer(self, tensor):
        """A view of a tensor, whose last dimension is our first. Mins other than 0 shift the coordinates alone."""
        dims = [
            Dim(random.randint(-3, 3), size, stride) for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride()))
        ]
        out = Buffer(type=Type(2, 8 * tensor.element_size(), 1), dimensions=len(dims))
        out.keep = (ctypes.c_int64 * 0, (Dim * len(dims))(*dims))
        out.dim = ctypes.cast(out.keep[1], ctypes.POINTER(Dim))
        self.lib.drawloom_buffer_wrap_device(ctypes.byref(out), self.table, tensor.data_ptr())
        return out

    def call(self, name, buffers, *scalars):
        return getattr(self.lib, name)(None, *[ctypes.byref(b) for b in buffers], *scalars)


def size(largest):
    """Often an edge of a tile or next to one."""
    if random.random() < 0.4:
        return max(1, min(largest, random.choice([1, 7, 8, 63, 64, 65, 127, 128, 129, 255, 256, 257]) * random.randint(1, 3)))
    return random.randint(1, largest)


def padded(shape, pad, dtype, fill):
    """A tensor in the middle of storage with `pad` elements more in each row, and the storage."""
    wide = list(shape)
    wide[-1] += pad
    storage = torch.full([int(torch.tensor(wide).prod()) + 64], fill, dtype=dtype, device="cuda")
    strides = [1] * len(wide)
    for d in range(len(wide) - 2, -1, -1):
        strides[d] = strides[d + 1] * wide[d + 1]
    return storage.as_strided(shape, strides, 32), storage


def untouched(storage, tensor, fill):
    rest = storage.clone()
    rest.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(fill)
    return bool((rest == fill).all())


def pad_of():
    return random.choice([0, 0, 8, 8, 16, 1, 5])


def one_gemm(library):
    m, n, k = size(2500), size(2500), random.choice([1, 63, 64, 65, 128, size(3000)])
    a, _ = padded([m, k], (-k) % 8 + pad_of(), torch.float16, float("nan"))
    b, _ = padded([k, n], (-n) % 8 + pad_of(), torch.float16, float("nan"))
    d, storage = padded([m, n], (-n) % 8 + pad_of(), torch.float16, 7.0)
    a.normal_(), b.normal_()
    code = library.call("gemm", [library.buffer(t) for t in (a, b, d)], ctypes.c_int64(random.choice([132, 132, 20, 1000])))
    want = a.float() @ b.float()
    error = (d.float() - want).abs() - want.abs() / 1024 - k**0.5 / 16384
    good = code == 0 and bool((error <= 1e-6).all()) and untouched(storage, d, 7.0)
    return good, f"gemm {m} x {n} x {k}, pitches {a.stride(0)} {b.stride(0)} {d.stride(0)}: code {code}, worst {float(error.max()):.3g}"


def one_stencil(library):
    shape = [size(150), size(150), size(600)]
    u, _ = padded(shape, (-shape[2]) % 4 + random.choice([0, 4, 8, 1]), torch.float32, float("nan"))
    v, storage = padded(shape, (-shape[2]) % 4 + random.choice([0, 4, 8, 3]), torch.float32, 7.0)
    u.normal_()
    code = library.call("stencil7", [library.buffer(u), library.buffer(v)], ctypes.c_float(0.4), ctypes.c_float(0.1))
    wide = torch.nn.functional.pad(u.double(), [1] * 6)
    sides = wide[1:-1, 1:-1, :-2] + wide[1:-1, 1:-1, 2:] + wide[1:-1, :-2, 1:-1] + wide[1:-1, 2:, 1:-1] + wide[:-2, 1:-1, 1:-1] + wide[2:, 1:-1, 1:-1]
    error = (v.double() - (0.4 * u.double() + 0.1 * sides)).abs()
    good = code == 0 and bool((error <= 1e-6).all()) and untouched(storage, v, 7.0)
    return good, f"stencil7 {shape}, pitches {u.stride()} {v.stride()}: code {code}, worst {float(error.max()):.3g}"


def main():
    library = Library(os.path.abspath(sys.argv[1]))
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    print(f"seed {seed}, {launches} launches of each", flush=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(seed)
    progress = [time.time(), ""]

    def watch():
        while True:
            time.sleep(1)
            if time.time() - progress[0] > LIMIT_SECONDS:
                print(f"HANG: {progress[1]}", flush=True)
                os._exit(3)

    threading.Thread(target=watch, daemon=True).start()
    for job in (one_gemm, one_stencil):
        wrong = 0
        for i in range(launches):
            random.seed(seed * 1000003 + i)
            progress[:] = [time.time(), f"{job.__name__} {i}"]
            good, what = job(library)
            wrong += not good
            if not good:
                print(f"WRONG {i}: {what}", flush=True)
        print(f"{job.__name__}: {launches} launches, {wrong} wrong", flush=True)


main()
