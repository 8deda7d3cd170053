#include "chainerx/core/dtype.h"

namespace chainerx {

Dtype GetDtype(const std::string& name) {
    for (int i = 0; i < kNumDtypes; ++i) {
        const internal::DtypeInfo& info = internal::kDtypeInfo[i];
        if (name == info.name || (name.size() == 1 && name[0] == info.character)) return static_cast<Dtype>(i);
    }
    if (name == "bool_") return Dtype::kBool;
    if (name == "int") return Dtype::kInt64;
    if (name == "float") return Dtype::kFloat64;
    throw DtypeError{"unsupported dtype '", name, "'"};
}

}  // namespace chainerx
