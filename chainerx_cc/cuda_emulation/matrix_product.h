#pragma once

// What the stand-ins for cuBLAS and cuBLASLt compute.

#include <cstdint>

#include "cuda_runtime.h"
#include "numbers.h"

namespace cuda_emulation {

enum Compute { kIn32 = 68, kIn64 = 70, kFromFloat16 = 74, kFromBfloat16 = 75, kFromTf32 = 77 };

struct Factor {
    const char* data;
    bool is_transposed;
    int64_t leading;
    int64_t stride;

    double Get(int64_t i, int64_t row, int64_t column, int type, int bits) const {
        int64_t place = is_transposed ? row * leading + column : column * leading + row;
        return Round(Load(data, type, i * stride + place), bits);
    }
};

// c = alpha op(a) op(b) + beta c + bias, by columns; a bias of m elements or null.
struct MatrixProduct {
    int64_t m, n, k, batch;
    double alpha, beta;
    Factor a, b;
    char* c;
    int64_t ldc, stride_c;
    const char* bias;
    int type, compute;

    void Compute() const {
        // The bits after the point that the units for matrices read.
        int bits = compute == kFromBfloat16 ? 7 : compute == kIn32 || compute == kIn64 ? kAllBits : 10;
        for (int64_t i = 0; i < batch; ++i) {
            for (int64_t column = 0; column < n; ++column) {
                for (int64_t row = 0; row < m; ++row) {
                    double sum = 0;
                    for (int64_t j = 0; j < k; ++j) {
                        sum += a.Get(i, row, j, type, bits) * b.Get(i, j, column, type, bits);
                    }
                    int64_t place = i * stride_c + column * ldc + row;
                    double before = beta == 0 ? 0 : beta * Load(c, type, place);
                    double added = bias == nullptr ? 0 : Load(bias, type, row);
                    Store(c, type, place, alpha * sum + before + added);
                }
            }
        }
    }

    bool Submit(cudaStream_t stream) const {
        cudaLaunchConfig_t config{};
        config.stream = stream;
        return cudaEmulateLaunch(config, [product = *this] { product.Compute(); }) == cudaSuccess;
    }
};

inline double LoadScalar(const void* p, int compute) {
    return compute == kIn64 ? *static_cast<const double*>(p) : *static_cast<const float*>(p);
}

inline bool IsKnown(int type, int compute) {
    if (type == kFloat64) return compute == kIn64;
    if (type == kFloat16 || type == kBfloat16) return compute == kIn32;
    return type == kFloat32 &&
           (compute == kIn32 || compute == kFromFloat16 || compute == kFromBfloat16 || compute == kFromTf32);
}

}  // namespace cuda_emulation
