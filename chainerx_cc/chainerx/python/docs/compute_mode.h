#pragma once

// The documentation of how libraries compute; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kGetComputeMode = R"(
Tells how backends may multiply float32 matrices; see :func:`~chainerx.set_compute_mode`.

Returns:
    str: ``'float32'``, ``'tf32'``, ``'float16'`` or ``'bfloat16'``.

>>> chainerx.get_compute_mode()
'float32'
)";

constexpr const char* kSetComputeMode = R"(
Chooses how backends may multiply float32 matrices, for all threads.

GPUs multiply faster if they round the factors. Sums are float32 in all modes. cuBLAS and cuDNN of the CUDA backend follow
this; the native backend always multiplies in float32. The environment variable ``CHAINERX_COMPUTE_MODE`` sets the mode at the
start of a program.

Args:
    mode (str): ``'float32'``: without rounding, the default. ``'tf32'``: factors keep the range of float32 and 10 bits
        after the point. ``'bfloat16'``: the same with 7 bits. ``'float16'``: the range and the 10 bits of float16.

Raises:
    ~chainerx.ValueError: If the mode is another word.

>>> chainerx.set_compute_mode('tf32')
>>> chainerx.get_compute_mode()
'tf32'
>>> chainerx.set_compute_mode('float32')
)";

constexpr const char* kGetDnnVersion = R"(
The version of cuDNN that the CUDA backend has found, such as 91002 for 9.10.2; 0 without one.
)";

constexpr const char* kSetDnnSettings = R"(
Sets a function that gives a thread's settings of cuDNN: use, autotune, deterministic, fast
batch normalization, bytes of the largest workspace.
)";

}  // namespace chainerx::python::docs
