#pragma once

#include "chainerx/core/backend.h"

namespace chainerx::native {

// One function per source file with kernels.
void RegisterArithmeticKernels(Backend& backend);
void RegisterComparisonKernels(Backend& backend);
void RegisterExplogKernels(Backend& backend);
void RegisterTrigonometricKernels(Backend& backend);
void RegisterSpecialKernels(Backend& backend);
void RegisterActivationKernels(Backend& backend);
void RegisterCopyKernels(Backend& backend);
void RegisterReduceKernels(Backend& backend);
void RegisterArgReduceKernels(Backend& backend);
void RegisterScanKernels(Backend& backend);
void RegisterIndexingKernels(Backend& backend);
void RegisterGemmKernels(Backend& backend);
void RegisterFactorizationKernels(Backend& backend);
void RegisterSoftmaxKernels(Backend& backend);
void RegisterConvolutionKernels(Backend& backend);
void RegisterPoolingKernels(Backend& backend);
void RegisterNormalizationKernels(Backend& backend);
void RegisterRnnKernels(Backend& backend);
void RegisterRnnLayerKernels(Backend& backend);
void RegisterSortingKernels(Backend& backend);
void RegisterRandomKernels(Backend& backend);
void RegisterAttentionKernels(Backend& backend);
void RegisterOptimizerKernels(Backend& backend);

}  // namespace chainerx::native
