// Compares cublaslt_api.h with NVIDIA's header. Compiled if that is found; nothing links it.

#include <cublasLt.h>

#include <cstddef>

#include "chainerx/backends/cuda/checks/same_call.h"
#include "chainerx/backends/cuda/cublaslt_api.h"

namespace chainerx::cuda::blaslt {
namespace {

using checks::kSame;
using checks::kSameCall;

#define CHAINERX_CHECK(result, name, parameters) static_assert(kSameCall<result parameters, decltype(cublasLt##name)>);
CHAINERX_CUBLASLT_FUNCTIONS(CHAINERX_CHECK)

static_assert(kSame(MatmulAttribute::kOperationA, CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(kSame(MatmulAttribute::kOperationB, CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(kSame(MatmulAttribute::kEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE));
static_assert(kSame(MatmulAttribute::kBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(kSame(PreferenceAttribute::kMaxWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(kSame(PreferenceAttribute::kAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
static_assert(kSame(PreferenceAttribute::kAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
static_assert(kSame(PreferenceAttribute::kAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
static_assert(kSame(PreferenceAttribute::kAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
static_assert(kSame(Epilogue::kBias, CUBLASLT_EPILOGUE_BIAS) && sizeof(Epilogue) == sizeof(cublasLtEpilogue_t));

static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, algorithm) == offsetof(cublasLtMatmulHeuristicResult_t, algo));
static_assert(offsetof(Heuristic, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Heuristic, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));

}  // namespace
}  // namespace chainerx::cuda::blaslt
