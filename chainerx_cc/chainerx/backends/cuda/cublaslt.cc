#include "chainerx/backends/cuda/cublaslt.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "chainerx/backends/cuda/choices.h"
#include "chainerx/backends/cuda/cublaslt_api.h"
#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/library.h"
#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace blaslt {
namespace {

// As much as cuBLAS takes for itself on the GPUs where it takes the most. It comes from the pool, for as long as a
// product needs it.
constexpr uint64_t kMaxWorkspace = 32 << 20;
constexpr uintptr_t kMaxAlignment = 256;  // more makes no difference to the library

struct Functions {
#define CHAINERX_CUBLASLT_MEMBER(result, name, parameters) result(*name) parameters;
    CHAINERX_CUBLASLT_FUNCTIONS(CHAINERX_CUBLASLT_MEMBER)
#undef CHAINERX_CUBLASLT_MEMBER
};

class Plan;
using Plans = Choices<Plan, 14>;

struct State {
    State() {
        if (!library.IsAvailable()) return;
#define CHAINERX_CUBLASLT_GET(result, name, parameters) library.Get(functions.name, "cublasLt" #name);
        CHAINERX_CUBLASLT_FUNCTIONS(CHAINERX_CUBLASLT_GET)
#undef CHAINERX_CUBLASLT_GET
    }

    Library library{
            "cuBLASLt", {"nvidia/cu13/lib/libcublasLt.so.13", "nvidia/cublas/lib/libcublasLt.so.12"}, "nvidia-cublas"};
    Functions functions{};
    Plans plans;

    std::mutex mutex;               // of the handles and the descriptors of plans
    std::map<int, Handle> handles;  // by device; as long as the process
};

State& GetState() {
    static auto* state = new State;
    return *state;
}

void Check(int status, const char* what) {
    if (status != 0) {
        throw DeviceError{"cuBLASLt error in ", what, ": ", GetState().functions.GetStatusName(status)};
    }
}

template <class T, int (*Functions::*kDestroy)(T)>
class Descriptor {
public:
    template <class... P, class... Arguments>
    Descriptor(const char* what, int (*Functions::*create)(T*, P...), Arguments... arguments) {
        Check((GetState().functions.*create)(&desc_, arguments...), what);
    }
    ~Descriptor() { (GetState().functions.*kDestroy)(desc_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    T get() const { return desc_; }

private:
    T desc_{};
};
using MatmulDescriptor = Descriptor<MatmulDesc, &Functions::MatmulDescDestroy>;
using LayoutDescriptor = Descriptor<Layout, &Functions::MatrixLayoutDestroy>;
using PreferenceDescriptor = Descriptor<Preference, &Functions::MatmulPreferenceDestroy>;

BlasType GetScalarType(const BlasGemm& g) { return g.type == BlasType::kFloat64 ? g.type : BlasType::kFloat32; }

// Of the address, in bytes.
uint32_t GetAlignment(const void* p) {
    auto address = reinterpret_cast<uintptr_t>(p) | kMaxAlignment;
    return static_cast<uint32_t>(address & (~address + 1));
}

// How to compute products of some sizes at addresses of some alignment. Its user has the lock.
class Plan {
public:
    Plan(Handle handle, const BlasGemm& g, const void* bias, const char* what)
        : matmul_{what, &Functions::MatmulDescCreate, g.compute, GetScalarType(g)},
          a_{what, &Functions::MatrixLayoutCreate, g.type, Rows(g.op_a, g.m, g.k), Rows(g.op_a, g.k, g.m), g.lda},
          b_{what, &Functions::MatrixLayoutCreate, g.type, Rows(g.op_b, g.k, g.n), Rows(g.op_b, g.n, g.k), g.ldb},
          c_{what, &Functions::MatrixLayoutCreate, g.type, g.m, g.n, g.ldc} {
        Set(MatmulAttribute::kOperationA, g.op_a, what);
        Set(MatmulAttribute::kOperationB, g.op_b, what);
        Set(MatmulAttribute::kEpilogue, Epilogue::kBias, what);
        Set(MatmulAttribute::kBiasPointer, bias, what);  // the choice depends on its alignment
        PreferenceDescriptor preference{what, &Functions::MatmulPreferenceCreate};
        Prefer(preference, PreferenceAttribute::kMaxWorkspace, kMaxWorkspace, what);
        Prefer(preference, PreferenceAttribute::kAlignmentA, GetAlignment(g.a), what);
        Prefer(preference, PreferenceAttribute::kAlignmentB, GetAlignment(g.b), what);
        Prefer(preference, PreferenceAttribute::kAlignmentC, GetAlignment(g.c), what);
        Prefer(preference, PreferenceAttribute::kAlignmentD, GetAlignment(g.c), what);
        int count = 0;
        int status = GetState().functions.MatmulAlgoGetHeuristic(handle, matmul_.get(), a_.get(), b_.get(), c_.get(),
                                                                 c_.get(), preference.get(), 1, &chosen_, &count);
        exists_ = status == 0 && count == 1 && chosen_.status == 0;
    }

    // Whether the library has an algorithm.
    bool exists() const { return exists_; }
    size_t workspace() const { return chosen_.workspace; }

    void Run(Handle handle, const BlasGemm& g, const void* bias, void* workspace, cudaStream_t stream,
             const char* what) const {
        // Scalars have the type of the sums, which is float64 or float32.
        static constexpr float kScalars[] = {1, 0};
        static constexpr double kLongScalars[] = {1, 0};
        bool is_long = GetScalarType(g) == BlasType::kFloat64;
        const void* alpha = is_long ? static_cast<const void*>(&kLongScalars[0]) : &kScalars[0];
        const void* beta = is_long ? static_cast<const void*>(&kLongScalars[1]) : &kScalars[1];
        Set(MatmulAttribute::kBiasPointer, bias, what);
        Check(GetState().functions.Matmul(handle, matmul_.get(), alpha, g.a, a_.get(), g.b, b_.get(), beta, g.c,
                                          c_.get(), g.c, c_.get(), &chosen_.algorithm, workspace, chosen_.workspace,
                                          stream),
              what);
    }

private:
    // Of the matrix in memory, for an operand of rows and columns.
    static uint64_t Rows(BlasOperation op, int rows, int columns) {
        return static_cast<uint64_t>(op == BlasOperation::kNone ? rows : columns);
    }
    template <class T>
    void Set(MatmulAttribute attribute, T value, const char* what) const {
        Check(GetState().functions.MatmulDescSetAttribute(matmul_.get(), attribute, &value, sizeof(value)), what);
    }
    template <class T>
    static void Prefer(const PreferenceDescriptor& preference, PreferenceAttribute attribute, T value,
                       const char* what) {
        Check(GetState().functions.MatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof(value)),
              what);
    }

    MatmulDescriptor matmul_;
    LayoutDescriptor a_;
    LayoutDescriptor b_;
    LayoutDescriptor c_;
    Heuristic chosen_{};
    bool exists_;
};

Plans::Key MakeKey(const BlasGemm& g, const void* bias, int device) {
    return {device,
            static_cast<int64_t>(g.type),
            static_cast<int64_t>(g.compute),
            static_cast<int64_t>(g.op_a),
            static_cast<int64_t>(g.op_b),
            g.m,
            g.n,
            g.k,
            g.lda,
            g.ldb,
            GetAlignment(g.a),
            GetAlignment(g.b),
            GetAlignment(g.c),
            GetAlignment(bias)};
}

}  // namespace
}  // namespace blaslt

bool HasBlasLt() { return blaslt::GetState().library.IsAvailable(); }

bool TryWithBias(const BlasGemm& g, const void* bias, Device& device, const char* what) {
    blaslt::State& state = blaslt::GetState();
    CurrentDevice current{device};
    blaslt::Plans::Key key = blaslt::MakeKey(g, bias, device.index());
    blaslt::Plans::Ptr plan = state.plans.Find(key);
    if (plan == nullptr) {
        std::lock_guard<std::mutex> lock{state.mutex};
        blaslt::Handle& handle = state.handles[device.index()];
        if (handle == nullptr) blaslt::Check(state.functions.Create(&handle), what);
        plan = std::make_shared<blaslt::Plan>(handle, g, bias, what);
        state.plans.Add(key, plan);
    }
    if (!plan->exists()) return false;
    StoragePtr workspace;
    if (plan->workspace() != 0) workspace = device.Allocate(plan->workspace());
    std::lock_guard<std::mutex> lock{state.mutex};
    plan->Run(state.handles[device.index()], g, bias, workspace ? workspace->data() : nullptr, current.stream(), what);
    return true;
}

}  // namespace chainerx::cuda
