// The functions of cuBLASLt that the CUDA backend loads, on the emulation: libcublasLt.so.13. The environment variable
// CHAINERX_CUDA_EMULATION_CUBLASLT makes it an unusual one: 'without' (it has no algorithms), 'failing' (its products
// fail) or 'wrong' (it ignores the bias).

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "chainerx/backends/cuda/cublaslt_api.h"
#include "matrix_product.h"

namespace chainerx::cuda::blaslt {

extern "C" {
#define CHAINERX_DECLARE(result, name, parameters) result cublasLt##name parameters;
CHAINERX_CUBLASLT_FUNCTIONS(CHAINERX_DECLARE)
#undef CHAINERX_DECLARE
}  // extern "C"

struct Context {
    int device;
};
struct MatmulStruct {
    BlasCompute compute;
    BlasType scalars;
    BlasOperation op_a, op_b;
    uint32_t epilogue;
    const void* bias;
};
struct LayoutStruct {
    BlasType type;
    uint64_t rows, columns;
    int64_t leading;

    bool IsValid() const { return rows > 0 && columns > 0 && leading >= static_cast<int64_t>(rows); }
    bool Is(uint64_t m, uint64_t n) const { return rows == m && columns == n; }
};
struct PreferenceStruct {
    uint64_t workspace;
    std::map<PreferenceAttribute, uint32_t> alignments;
};

namespace {

enum Status { kSuccess = 0, kNotInitialized = 1, kInvalidValue = 7, kExecutionFailed = 13, kNotSupported = 15 };

constexpr uint64_t kWorkspace = 4096;  // that its algorithms use
constexpr uint32_t kDefaultAlignment = 256;

bool IsUnusual(const char* how) {
    const char* chosen = std::getenv("CHAINERX_CUDA_EMULATION_CUBLASLT");
    return chosen != nullptr && chosen == std::string{how};
}

// Attributes are set from as many bytes as they have.
template <class T>
Status Assign(T* to, const void* value, size_t bytes) {
    if (value == nullptr || bytes != sizeof(T)) return kInvalidValue;
    std::memcpy(to, value, bytes);
    return kSuccess;
}

int GetDevice() {
    int device = -1;
    cudaGetDevice(&device);
    return device;
}

uint32_t GetAlignment(const void* p) {
    auto address = reinterpret_cast<uintptr_t>(p) | kDefaultAlignment;
    return static_cast<uint32_t>(address & (~address + 1));
}

// The operands of a call.
struct Call {
    const MatmulStruct& matmul;
    const LayoutStruct &a, &b, &c, &d;

    int64_t k() const { return static_cast<int64_t>(matmul.op_a == BlasOperation::kNone ? a.columns : a.rows); }
    bool IsValid() const {
        auto m = d.rows;
        auto n = d.columns;
        auto inner = static_cast<uint64_t>(k());
        bool is_double = d.type == BlasType::kFloat64;
        return a.IsValid() && b.IsValid() && c.IsValid() && d.IsValid() && c.Is(m, n) && c.leading == d.leading &&
               (matmul.op_a == BlasOperation::kNone ? a.Is(m, inner) : a.Is(inner, m)) &&
               (matmul.op_b == BlasOperation::kNone ? b.Is(inner, n) : b.Is(n, inner)) && a.type == d.type &&
               b.type == d.type && c.type == d.type &&
               matmul.scalars == (is_double ? BlasType::kFloat64 : BlasType::kFloat32) &&
               cuda_emulation::IsKnown(static_cast<int>(d.type), static_cast<int>(matmul.compute)) &&
               matmul.epilogue == static_cast<uint32_t>(Epilogue::kBias) && matmul.bias != nullptr;
    }
    // All that an algorithm is for, except alignments.
    uint64_t GetHash() const {
        uint64_t hash = 0;
        for (uint64_t value :
             {static_cast<uint64_t>(d.type), static_cast<uint64_t>(matmul.compute), static_cast<uint64_t>(matmul.op_a),
              static_cast<uint64_t>(matmul.op_b), d.rows, d.columns, static_cast<uint64_t>(k()),
              static_cast<uint64_t>(a.leading), static_cast<uint64_t>(b.leading), static_cast<uint64_t>(d.leading)}) {
            hash = (hash ^ value) * 0x9e3779b97f4a7c15U ^ (hash >> 29);
        }
        return hash;
    }
};

}  // namespace

extern "C" {

int cublasLtCreate(Handle* handle) {
    *handle = new Context{GetDevice()};
    return kSuccess;
}

int cublasLtMatmulDescCreate(MatmulDesc* matmul, BlasCompute compute, BlasType scalars) {
    *matmul = new MatmulStruct{compute, scalars, BlasOperation::kNone, BlasOperation::kNone, 1, nullptr};
    return kSuccess;
}
int cublasLtMatmulDescDestroy(MatmulDesc matmul) {
    delete matmul;
    return kSuccess;
}
int cublasLtMatmulDescSetAttribute(MatmulDesc matmul, MatmulAttribute attribute, const void* value, size_t bytes) {
    switch (attribute) {
        case MatmulAttribute::kOperationA:
            return Assign(&matmul->op_a, value, bytes);
        case MatmulAttribute::kOperationB:
            return Assign(&matmul->op_b, value, bytes);
        case MatmulAttribute::kEpilogue:
            return Assign(&matmul->epilogue, value, bytes);
        case MatmulAttribute::kBiasPointer:
            return Assign(&matmul->bias, value, bytes);
    }
    return kInvalidValue;
}

int cublasLtMatrixLayoutCreate(Layout* layout, BlasType type, uint64_t rows, uint64_t columns, int64_t leading) {
    *layout = new LayoutStruct{type, rows, columns, leading};  // which the users check
    return kSuccess;
}
int cublasLtMatrixLayoutDestroy(Layout layout) {
    delete layout;
    return kSuccess;
}

int cublasLtMatmulPreferenceCreate(Preference* preference) {
    *preference = new PreferenceStruct{};
    return kSuccess;
}
int cublasLtMatmulPreferenceDestroy(Preference preference) {
    delete preference;
    return kSuccess;
}
int cublasLtMatmulPreferenceSetAttribute(Preference preference, PreferenceAttribute attribute, const void* value,
                                         size_t bytes) {
    switch (attribute) {
        case PreferenceAttribute::kMaxWorkspace:
            return Assign(&preference->workspace, value, bytes);
        case PreferenceAttribute::kAlignmentA:
        case PreferenceAttribute::kAlignmentB:
        case PreferenceAttribute::kAlignmentC:
        case PreferenceAttribute::kAlignmentD:
            return Assign(&preference->alignments[attribute], value, bytes);
    }
    return kInvalidValue;
}

// The algorithm has the operands' hash, their alignments and that of the bias.
int cublasLtMatmulAlgoGetHeuristic(Handle handle, MatmulDesc matmul, Layout a, Layout b, Layout c, Layout d,
                                   Preference preference, int max_count, Heuristic* results, int* count) {
    if (handle == nullptr || handle->device != GetDevice()) return kNotInitialized;
    Call call{*matmul, *a, *b, *c, *d};
    if (max_count < 1 || !call.IsValid()) return kInvalidValue;
    *count = 0;
    if (IsUnusual("without") || preference->workspace < kWorkspace) return kNotSupported;
    *count = 1;
    results[0] = {};
    results[0].workspace = kWorkspace;
    uint64_t* data = results[0].algorithm.data;
    *data++ = call.GetHash();
    for (PreferenceAttribute attribute : {PreferenceAttribute::kAlignmentA, PreferenceAttribute::kAlignmentB,
                                          PreferenceAttribute::kAlignmentC, PreferenceAttribute::kAlignmentD}) {
        auto found = preference->alignments.find(attribute);
        *data++ = found == preference->alignments.end() ? kDefaultAlignment : found->second;
    }
    *data = GetAlignment(matmul->bias);
    return kSuccess;
}

int cublasLtMatmul(Handle handle, MatmulDesc matmul, const void* alpha, const void* a, Layout layout_a, const void* b,
                   Layout layout_b, const void* beta, const void* c, Layout layout_c, void* d, Layout layout_d,
                   const Algorithm* algorithm, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    if (handle == nullptr || handle->device != GetDevice()) return kNotInitialized;
    if (IsUnusual("failing")) return kExecutionFailed;
    Call call{*matmul, *layout_a, *layout_b, *layout_c, *layout_d};
    const void* pointers[] = {a, b, c, d, matmul->bias};
    bool is_valid = call.IsValid() && algorithm->data[0] == call.GetHash() && workspace != nullptr &&
                    workspace_bytes >= kWorkspace && c == d;
    const uint64_t* alignment = algorithm->data + 1;
    for (const void* p : pointers) is_valid = is_valid && p != nullptr && GetAlignment(p) >= *alignment++;
    if (!is_valid) return kInvalidValue;
    auto compute = static_cast<int>(matmul->compute);
    cuda_emulation::MatrixProduct product{
            static_cast<int64_t>(layout_d->rows),
            static_cast<int64_t>(layout_d->columns),
            call.k(),
            1,
            cuda_emulation::LoadScalar(alpha, compute),
            cuda_emulation::LoadScalar(beta, compute),
            {static_cast<const char*>(a), matmul->op_a != BlasOperation::kNone, layout_a->leading, 0},
            {static_cast<const char*>(b), matmul->op_b != BlasOperation::kNone, layout_b->leading, 0},
            static_cast<char*>(d),
            layout_d->leading,
            0,
            IsUnusual("wrong") ? nullptr : static_cast<const char*>(matmul->bias),
            static_cast<int>(layout_d->type),
            compute};
    cudaLaunchConfig_t config{};
    config.stream = stream;
    auto work = [product, workspace] {
        std::memset(workspace, 0xff, kWorkspace);  // shows whether it is the product's own
        product.Compute();
    };
    return cudaEmulateLaunch(config, work) == cudaSuccess ? kSuccess : kExecutionFailed;
}

const char* cublasLtGetStatusName(int status) {
    switch (status) {
        case kSuccess:
            return "CUBLAS_STATUS_SUCCESS";
        case kNotInitialized:
            return "CUBLAS_STATUS_NOT_INITIALIZED";
        case kExecutionFailed:
            return "CUBLAS_STATUS_EXECUTION_FAILED";
        case kNotSupported:
            return "CUBLAS_STATUS_NOT_SUPPORTED";
        default:
            return "CUBLAS_STATUS_INVALID_VALUE";
    }
}

}  // extern "C"

}  // namespace chainerx::cuda::blaslt
