// Changes of element types.

#include <charconv>
#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// The shortest digits that give the number again, as Python writes them: 1.0, 0.1, 1e-05, 1.5e+16, nan, -inf.
template <class T>
std::string TextOfFloat(T value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    double size = std::abs(static_cast<double>(value));
    bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
    char buffer[64];
    auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
    std::string text{buffer, std::to_chars(buffer, std::end(buffer), value, format).ptr};
    return is_plain && text.find('.') == std::string::npos ? text + ".0" : text;
}

Strings TextOf(const Array& x) {
    Strings out{x.shape(), {}};
    Array host = AsContiguous(ToDevice(x, HostDevice()));
    if (host.dtype() == Dtype::kFloat16 || host.dtype() == Dtype::kBfloat16) host = Cast(host, Dtype::kFloat32);
    VisitDtype(host.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (int64_t i = 0; i < host.GetTotalSize(); ++i) {
            if constexpr (std::is_same_v<T, bool>) {
                out.items.emplace_back(host.data<T>()[i] ? "True" : "False");
            } else if constexpr (std::is_integral_v<T>) {
                out.items.push_back(std::to_string(host.data<T>()[i]));
            } else if constexpr (std::is_floating_point_v<T>) {
                out.items.push_back(TextOfFloat(host.data<T>()[i]));
            }
        }
    });
    return out;
}

double NumberOf(const std::string& text) {
    size_t begin = text.find_first_not_of(" \t\n\r\f\v");
    size_t end = text.find_last_not_of(" \t\n\r\f\v") + 1;
    if (begin != std::string::npos && text[begin] == '+') ++begin;
    double value = 0;
    const char* last = text.data() + end;
    if (begin < end) {
        auto [at, error] = std::from_chars(text.data() + begin, last, value);
        if (error == std::errc{} && at == last) return value;
    }
    throw ModelError{"'", text, "' is no number"};
}

Array NumbersOf(const Strings& x, Dtype dtype, Device& device) {
    Array out = EmptyInHostMemory(x.shape);
    for (size_t i = 0; i < x.items.size(); ++i) out.data<double>()[i] = NumberOf(x.items[i]);
    return ToDevice(Cast(out, dtype), device);
}

// Without a dtype, to strings.
Value CastTo(const Value& x, const std::optional<Dtype>& dtype, Device& device) {
    if (const auto* strings = x.As<Strings>()) return dtype ? Value{NumbersOf(*strings, *dtype, device)} : x;
    if (!x.array()) throw ModelError{"its input 0 is ", x.KindName()};
    return dtype ? Value{Cast(x.array(), *dtype)} : Value::Of(TextOf(x.array()));
}

Value CastLike(const Value& x, const Value& target, Device& device) {
    if (target.array()) return CastTo(x, target.array().dtype(), device);
    if (target.As<Strings>() == nullptr) throw ModelError{"its input 1 is ", target.KindName()};
    return CastTo(x, std::nullopt, device);
}

Kernel CastNode(const Node& node) {
    auto type = static_cast<int32_t>(node.Int("to"));
    std::optional<Dtype> dtype;
    if (type != static_cast<int32_t>(ElementType::kString)) dtype = DtypeOf(type);
    return [dtype, &device = node.device()](const Inputs& in) { return CastTo(in.value(0), dtype, device); };
}

Array BitCast(const Array& input, Dtype to) {
    Array x = AsContiguous(input);
    if (GetItemSize(to) != x.GetItemSize() || to == Dtype::kBool) {
        throw ModelError{"numbers of ", x.dtype(), " cannot be read as ", to};
    }
    return internal::MakeArray(x.shape(), x.strides(), to, x.device(), x.body()->storage, x.offset());
}

}  // namespace

const OperatorTable kTypesOperators = {
        {"BitCast", Call<BitCast>, "to"},
        {"Cast", CastNode, "", Purity::kPure, "", Operands::kValues},
        {"CastLike", Call<CastLike>, "", Purity::kPure, "", Operands::kValues},
};

}  // namespace chainerx::onnx
