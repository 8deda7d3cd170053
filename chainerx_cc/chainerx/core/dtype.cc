#include "chainerx/core/dtype.h"

namespace chainerx {

void ThrowComplex(const char* function, Dtype dtype) { throw DtypeError{function, " does not support dtype ", dtype}; }

Dtype GetDtype(const std::string& name) {
    for (int i = 0; i < kNumDtypes; ++i) {
        const internal::DtypeInfo& info = internal::kDtypeInfo[i];
        if (name == info.name || (name.size() == 1 && name[0] == info.character)) return static_cast<Dtype>(i);
    }
    if (name == "bool_") return Dtype::kBool;
    if (name == "int") return Dtype::kInt64;
    if (name == "float") return Dtype::kFloat64;
    if (name == "complex") return Dtype::kComplex128;
    throw DtypeError{"unsupported dtype '", name, "'"};
}

}  // namespace chainerx
