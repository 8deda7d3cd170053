#pragma once

#include <complex>
#include <string>
#include <type_traits>

#include "chainerx/backends/native/kernels/isa.h"
#include "chainerx/backends/native/kernels/lapack.h"

namespace chainerx::native {

// Functions of OpenBLAS, which is loaded from the folder of this code. Integers are 32-bit.
struct Blas {
    void (*cblas_sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
    void (*cblas_dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                        int);
    // Complex numbers are passed by their addresses.
    using ComplexGemm = void (*)(int, int, int, int, int, int, const void*, const void*, int, const void*, int,
                                 const void*, void*, int);
    ComplexGemm cblas_cgemm;
    ComplexGemm cblas_zgemm;
    float (*cblas_sdot)(int, const float*, int, const float*, int);
    double (*cblas_ddot)(int, const double*, int, const double*, int);
    Lapack<float> slapack;
    Lapack<double> dlapack;
    Lapack<std::complex<float>> clapack;
    Lapack<std::complex<double>> zlapack;

    // The type of processor whose kernels it uses. By itself, it takes some processors for lesser ones.
    std::string core_type;
    // "OPENBLAS_CORETYPE=...", which the user has set, "chosen by ChainerX" or "detected by OpenBLAS".
    std::string reason;
};

// Loads OpenBLAS at the first call, with one thread: the thread pool is what runs in parallel. While it loads,
// environment variables of this process tell it the number of threads and, unless the user has set it, the core type.
// They are as before when the function returns, so that neither other copies of OpenBLAS, such as NumPy's, nor
// processes started later see them. Throws std::runtime_error if the library cannot be loaded.
const Blas& GetBlas();

template <class T>
const Lapack<T>& GetLapack() {
    if constexpr (std::is_same_v<T, float>) {
        return GetBlas().slapack;
    } else if constexpr (std::is_same_v<T, double>) {
        return GetBlas().dlapack;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
        return GetBlas().clapack;
    } else {
        return GetBlas().zlapack;
    }
}

// What the choice of a core type goes by.
struct CpuFeatures {
    Isa isa;
    bool amx;
};

CpuFeatures GetCpuFeatures();

// The core type with the fastest products for a processor (see benchmarks/core_types.py), or an empty string where
// OpenBLAS knows as much.
const char* ChooseCoreType(const CpuFeatures& cpu);

// Whether the kernels of a core type sum float32 in one order wherever a block of the product begins, so that threads
// may take blocks of any 16 rows or columns. Those with AVX-512 do.
bool HasOneOrder(const std::string& core_type);

}  // namespace chainerx::native
