#pragma once

// The functions of cuSOLVER that the backend calls, which it finds at run time.

#include <mutex>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/cusolver_api.h"
#include "chainerx/core/array.h"

namespace chainerx::cuda {

// Whether cuSOLVER is there and to be used.
bool HasSolver();

// cuSOLVER on the current stream of a device, for matrices of T. One thread at a time has one.
template <class T>
class Solver {
public:
    using Functions = solver::Functions<T>;

    // `what`: the operation, for errors.
    Solver(Device& device, const char* what);

    // Calls a function.
    template <class... Parameters, class... Arguments>
    void operator()(int (*Functions::*function)(solver::Handle, Parameters...), const Arguments&... arguments) const {
        Check((functions_.*function)(handle_, static_cast<Parameters>(arguments)...));
    }
    Array MakeWorkspace(int size) const;

    solver::Jacobi gesvdj_options;
    solver::Jacobi syevj_options;

private:
    void Check(int status) const;

    std::lock_guard<std::mutex> lock_;
    Device& device_;
    CurrentDevice current_;
    const Functions& functions_;
    solver::Handle handle_;
    const char* what_;
};

}  // namespace chainerx::cuda
