// The functions of cuSOLVER that the CUDA backend loads, by LAPACK: libcusolver.so.12.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "chainerx/backends/native/kernels/blas.h"
#include "cuda_runtime.h"

namespace {

enum Status { kSuccess = 0, kInvalidValue = 3 };

struct Context {
    cudaStream_t stream;
};
using Handle = Context*;
struct Options {};
using Jacobi = Options*;

// The size of all workspaces. LAPACK has its own; this shows whether the backend asks.
constexpr int kWork = 7;

// `work` runs when the stream comes to it, like a kernel of one thread.
int Submit(Handle handle, bool is_valid, std::function<void()> work) {
    if (!is_valid) return kInvalidValue;
    cudaLaunchConfig_t config{};
    config.stream = handle->stream;
    return cudaLaunchKernelEx(
                   &config, +[](std::function<void()> f) { f(); }, work) == cudaSuccess
                   ? kSuccess
                   : kInvalidValue;
}

template <class T>
const chainerx::native::Lapack<T>& Lapack() {
    return chainerx::native::GetLapack<T>();
}

char Triangle(int triangle) { return triangle == 0 ? 'L' : 'U'; }
char Job(int job, char vectors) { return job == 0 ? 'N' : vectors; }

// Calls f(work, length) with a workspace of the length for which a first call asks.
template <class T, class F>
void WithWork(F&& f) {
    T answer = 0;
    f(&answer, -1);
    std::vector<T> work(static_cast<size_t>(answer) + 1);
    f(work.data(), static_cast<int>(work.size()));
}

template <class T>
void Svd(char job, int m, int n, T* a, T* s, T* u, T* vt, int* info) {
    std::vector<int> integers(8 * static_cast<size_t>(std::min(m, n)));
    int ldvt = job == 'A' ? n : std::min(m, n);
    WithWork<T>([&](T* work, int length) {
        Lapack<T>().gesdd(&job, &m, &n, a, &m, s, u, &m, vt, &ldvt, work, &length, integers.data(), info, 1);
    });
}

template <class T>
void Eigh(char job, char triangle, int n, T* a, T* w, int* info) {
    std::vector<int> integers(8 * static_cast<size_t>(n) + 8);
    auto integers_length = static_cast<int>(integers.size());
    WithWork<T>([&](T* work, int length) {
        Lapack<T>().syevd(&job, &triangle, &n, a, &n, w, work, &length, integers.data(), &integers_length, info, 1, 1);
    });
}

int Answer(int* size) {
    *size = kWork;
    return kSuccess;
}

int CreateOptions(Jacobi* options) {
    *options = new Options;
    return kSuccess;
}

}  // namespace

extern "C" {

int cusolverDnCreate(Handle* handle) {
    *handle = new Context{};
    chainerx::native::GetBlas();  // not when a kernel runs, whose stack is small
    return kSuccess;
}
int cusolverDnSetStream(Handle handle, cudaStream_t stream) {
    handle->stream = stream;
    return kSuccess;
}
int cusolverDnCreateGesvdjInfo(Jacobi* options) { return CreateOptions(options); }
int cusolverDnCreateSyevjInfo(Jacobi* options) { return CreateOptions(options); }

#define T float
#define NAME(function) cusolverDnS##function
#include "cusolver_functions.inc"
#undef T
#undef NAME

#define T double
#define NAME(function) cusolverDnD##function
#include "cusolver_functions.inc"

}  // extern "C"
