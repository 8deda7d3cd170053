#include "chainerx/backends/cuda/cusolver.h"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>

#include "chainerx/backends/cuda/library.h"
#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace {

using solver::Handle;
using solver::Jacobi;

// `type`: the letter in names of functions.
template <class T>
solver::Functions<T> Find(const Library& library, char type) {
    solver::Functions<T> f{};
    auto get = [&](auto& function, const char* name) {
        library.Get(function, (std::string{"cusolverDn"} + type + name).c_str());
    };
    get(f.getrf_size, "getrf_bufferSize");
    get(f.getrf, "getrf");
    get(f.getrs, "getrs");
    get(f.potrf_size, "potrf_bufferSize");
    get(f.potrf, "potrf");
    get(f.geqrf_size, "geqrf_bufferSize");
    get(f.geqrf, "geqrf");
    get(f.orgqr_size, "orgqr_bufferSize");
    get(f.orgqr, "orgqr");
    get(f.gesvd_size, "gesvd_bufferSize");
    get(f.gesvd, "gesvd");
    get(f.syevd_size, "syevd_bufferSize");
    get(f.syevd, "syevd");
    get(f.gesvdj_size, "gesvdjBatched_bufferSize");
    get(f.gesvdj, "gesvdjBatched");
    get(f.syevj_size, "syevjBatched_bufferSize");
    get(f.syevj, "syevjBatched");
    return f;
}

struct State {
    State() {
        if (!library.IsAvailable()) return;
        library.Get(create, "cusolverDnCreate");
        library.Get(set_stream, "cusolverDnSetStream");
        library.Get(create_gesvdj_options, "cusolverDnCreateGesvdjInfo");
        library.Get(create_syevj_options, "cusolverDnCreateSyevjInfo");
        float32 = Find<float>(library, 'S');
        float64 = Find<double>(library, 'D');
    }

    template <class T>
    const solver::Functions<T>& GetFunctions() const {
        if constexpr (std::is_same_v<T, float>) {
            return float32;
        } else {
            return float64;
        }
    }

    Library library{"cuSOLVER",
                    {"nvidia/cu13/lib/libcusolver.so.12", "nvidia/cusolver/lib/libcusolver.so.11"},
                    "nvidia-cusolver"};
    int (*create)(Handle* handle);
    int (*set_stream)(Handle handle, cudaStream_t stream);
    int (*create_gesvdj_options)(Jacobi* options);
    int (*create_syevj_options)(Jacobi* options);
    solver::Functions<float> float32;
    solver::Functions<double> float64;

    std::mutex mutex;
    // As long as the process:
    std::map<int, Handle> handles;  // by device
    Jacobi gesvdj_options{};
    Jacobi syevj_options{};
};

State& GetState() {
    static auto* state = new State;
    return *state;
}

}  // namespace

bool HasSolver() { return GetState().library.IsAvailable(); }

template <class T>
Solver<T>::Solver(Device& device, const char* what)
    : lock_{GetState().mutex},
      device_{device},
      current_{device},
      functions_{GetState().GetFunctions<T>()},
      what_{what} {
    State& state = GetState();
    Handle& handle = state.handles[device.index()];
    if (handle == nullptr) Check(state.create(&handle));
    handle_ = handle;
    Check(state.set_stream(handle, current_.stream()));
    if (state.gesvdj_options == nullptr) Check(state.create_gesvdj_options(&state.gesvdj_options));
    if (state.syevj_options == nullptr) Check(state.create_syevj_options(&state.syevj_options));
    gesvdj_options = state.gesvdj_options;
    syevj_options = state.syevj_options;
}

template <class T>
Array Solver<T>::MakeWorkspace(int size) const {
    return Empty(Shape{std::max(size, 1)}, DtypeOf<T>::value, device_);
}

template <class T>
void Solver<T>::Check(int status) const {
    if (status != 0) throw DeviceError{"cuSOLVER error in ", what_, ": status ", status};
}

template class Solver<float>;
template class Solver<double>;

}  // namespace chainerx::cuda
