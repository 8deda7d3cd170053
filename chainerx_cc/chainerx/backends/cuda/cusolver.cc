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

// `letter`: that of the type in names of functions.
template <class T>
solver::Functions<T> Find(const Library& library, const char* letter) {
    solver::Functions<T> f{};
#define CHAINERX_CUSOLVER_GET(name, symbol, parameters) \
    library.Get(f.name, (std::string{"cusolverDn"} + letter + #symbol).c_str());
    CHAINERX_CUSOLVER_TYPED_FUNCTIONS(CHAINERX_CUSOLVER_GET, T)
#undef CHAINERX_CUSOLVER_GET
    return f;
}

struct State {
    State() {
        if (!library.IsAvailable()) return;
#define CHAINERX_CUSOLVER_GET(name, parameters) library.Get(common.name, "cusolverDn" #name);
        CHAINERX_CUSOLVER_FUNCTIONS(CHAINERX_CUSOLVER_GET)
#undef CHAINERX_CUSOLVER_GET
        float32 = Find<float>(library, "S");
        float64 = Find<double>(library, "D");
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
    solver::CommonFunctions common{};
    solver::Functions<float> float32{};
    solver::Functions<double> float64{};

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
    if (handle == nullptr) Check(state.common.Create(&handle));
    handle_ = handle;
    Check(state.common.SetStream(handle, current_.stream()));
    if (state.gesvdj_options == nullptr) Check(state.common.CreateGesvdjInfo(&state.gesvdj_options));
    if (state.syevj_options == nullptr) Check(state.common.CreateSyevjInfo(&state.syevj_options));
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
