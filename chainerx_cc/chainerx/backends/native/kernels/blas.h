#pragma once

// Names in OpenBLAS. The scipy-openblas32 wheel prefixes them; define CHAINERX_BLAS_PREFIX as empty for a
// plain OpenBLAS. Integers are 32-bit.

#ifndef CHAINERX_BLAS_PREFIX
#define CHAINERX_BLAS_PREFIX scipy_
#endif

#define CHAINERX_BLAS_JOIN2(prefix, name) prefix##name
#define CHAINERX_BLAS_JOIN(prefix, name) CHAINERX_BLAS_JOIN2(prefix, name)
#define CHAINERX_BLAS(name) CHAINERX_BLAS_JOIN(CHAINERX_BLAS_PREFIX, name)
