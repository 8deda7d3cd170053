// The functions of chainerx.linalg.

#include "chainerx/python/docs/linalg.h"

#include "chainerx/ops/factorization.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {
namespace {

PyRef PySvd(const Array& a, bool full_matrices, bool compute_uv) {
    return Check(compute_uv ? ToPython(Svd(a, full_matrices)) : ToPython(SingularValues(a)));
}

PyRef PyQr(const Array& a, QrMode mode) {
    std::tuple<Array, Array> out = Qr(a, mode);
    return Check(mode == QrMode::kR ? ToPython(std::get<1>(out)) : ToPython(out));
}

}  // namespace

void BindLinalg() {
    const char* family = "factorization";
    Bind<&Solve>({family, "linalg.solve", "a, b", docs::kSolve, false, "solve"});
    Bind<&Inverse>({family, "linalg.inv", "a", docs::kInv, false, "inverse"});
    Bind<&PseudoInverse>({family, "linalg.pinv", "a, rcond=1e-15", docs::kPinv, false, "svd"});
    Bind<&PyQr>({family, "linalg.qr", "a, mode='reduced'", docs::kQr, false, "qr solve"});
    Bind<&PySvd>({family, "linalg.svd", "a, full_matrices=True, compute_uv=True", docs::kSvd, false, "svd"});
    Bind<&Cholesky>({family, "linalg.cholesky", "a", docs::kCholesky, false, "cholesky solve"});
    Bind<&Eigh>({family, "linalg.eigh", "a, UPLO='L'", docs::kEigh, false, "eigh"});
    Bind<&Eigvalsh>({family, "linalg.eigvalsh", "a, UPLO='L'", docs::kEigvalsh, false, "eigh"});
    Bind<&Slogdet>({family, "linalg.slogdet", "a", docs::kSlogdet, false, "slogdet inverse"});
    Bind<&Norm>({family, "linalg.norm", "x, ord=None, axis=None, keepdims=False", docs::kNorm, false, "svd"});
    Bind<&Det>({family, "linalg.det", "a", docs::kDet, false, "slogdet inverse"});
}

}  // namespace chainerx::python
