#include "chainerx/python/doc.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chainerx::python {
namespace {

const std::pair<const char*, const char*> kCommon[] = {
        {"@axes", "axis (None, int or tuple of int): Axes to reduce; all unless given."},
        {"@out",
         "out (~chainerx.ndarray or None): Array to which the result is written, and which is returned.\n        "
         "Neither it "
         "nor the others may belong to a graph."},
        {"@keepdims", "keepdims (bool): Whether the reduced axes stay, with length one."},
        {"@axis_error", "~chainerx.DimensionError: If an axis is out of range or given twice."},
        {"@lapack_error", "~chainerx.DtypeError: If the dtype is none of float32, float64, complex64 and complex128."},
        {"@fft_n", "n (int or None): Length of the transform, to which the axis is cut off or continued by zeros."},
        {"@fft_n_real",
         "n (int or None): Length of the result, an even one unless given. The axis is cut off or continued by zeros "
         "to the length ``n // 2 + 1``."},
        {"@fft_s",
         "s (None, int or tuple of int): Lengths of the transform, to which the axes are cut off or continued by "
         "zeros. -1 keeps a length."},
        {"@fft_s_real",
         "s (None, int or tuple of int): Lengths of the result along the axes; for -1, the last one is even and others "
         "stay. The axes are cut off or continued by zeros."},
        {"@fft_axis", "axis (int): Axis."},
        {"@fft_axes",
         "axes (None, int or tuple of int): Axes; unless given, the last ones that ``s`` has lengths for, or all."},
        {"@fft_norm",
         "norm (str or None): What is divided by the number of elements: with ``'backward'``, as with None, inverse "
         "transforms, with ``'forward'`` the others, with ``'ortho'`` all, by the square root of the number."},
        {"@fft_complex", "Of dtype complex128 if ``a`` is float64 or complex128, otherwise complex64."},
        {"@fft_real", "Of dtype float64 if ``a`` is float64 or complex128, otherwise float32."},
        {"@fft_error",
         "~chainerx.DimensionError: If an axis is out of range or given twice, or lengths and axes differ."},
        {"@shape", "shape (int or tuple of int): Shape of the result."},
        {"@dtype",
         "dtype: Dtype of the result, as a name, type or :class:`numpy.dtype`; that of the elements unless given."},
        {"@device", "device (~chainerx.Device or str): Device of the result; the default one unless given."},
        {"@backprop_id", "backprop_id (~chainerx.BackpropId or None): Graph; the default one unless given."},
        {"@enable_double_backprop",
         "enable_double_backprop (bool): Whether the computation is recorded itself, so that gradients can be "
         "differentiated."},
        {"@loss_scale",
         "loss_scale (float or None): Factor of the gradients to start from; the results are divided by it."},
};

// Replaces the words after "@".
std::string Expand(std::string_view text) {
    std::string out;
    size_t begin = 0;
    for (size_t at = text.find('@'); at != text.npos; at = text.find('@', at + 1)) {
        for (const auto& [word, description] : kCommon) {
            std::string_view found = text.substr(at, text.find('\n', at) - at);
            if (found != word) continue;
            out += text.substr(begin, at - begin);
            out += description;
            begin = at + found.size();
        }
    }
    out += text.substr(begin);
    return out;
}

std::string Join(const std::vector<std::string>& words, const char* separator, const char* quote = "") {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : separator) + (quote + word) + quote;
    return out;
}

// The names in a signature such as "x, slope=0.2".
std::vector<std::string> GetNames(const std::string& signature) {
    std::vector<std::string> names;
    for (size_t begin = 0; begin < signature.size();) {
        size_t end = std::min(signature.find(", ", begin), signature.size());
        std::string item = signature.substr(begin, end - begin);
        names.push_back(item.substr(0, item.find('=')));
        begin = end + 2;
    }
    return names;
}

}  // namespace

std::string FormatDoc(std::string_view text) {
    while (text.front() == '\n') text.remove_prefix(1);
    while (text.back() == '\n') text.remove_suffix(1);
    size_t example = text.find("\n>>> ");
    std::string out = Expand(text.substr(0, example));
    if (example == text.npos) return out;
    out += "\n.. admonition:: Example\n";
    for (size_t begin = example; begin < text.size();) {
        size_t end = std::min(text.find('\n', begin + 1), text.size());
        out += end == begin + 1 ? "\n" : "\n    ";
        out += text.substr(begin + 1, end - begin - 1);
        begin = end;
    }
    return out;
}

std::string FormatMethodDoc(const std::string& text) {
    constexpr std::string_view kArgs = "\nArgs:\n";
    size_t args = text.find(kArgs);
    if (args == text.npos) return FormatDoc(text);
    size_t first = args + kArgs.size();
    size_t next = text.find('\n', first) + 1;
    while (text.compare(next, 5, "     ") == 0) next = text.find('\n', next) + 1;  // the description continues
    bool is_only = text[next] == '\n';
    return FormatDoc(is_only ? text.substr(0, args) + text.substr(next) : text.substr(0, first) + text.substr(next));
}

std::string AddOut(const std::string& text) {
    std::string with_out = text;
    return with_out.insert(text.find("\nReturns:"), "    @out\n");
}

const char* KeepDoc(const char* text) { return (new std::string{FormatDoc(text)})->c_str(); }

const char* DescribeElementwise(const char* text, const char* signature, const ElementwiseInfo& info, int n_inputs,
                                unsigned grads) {
    std::vector<std::string> names = GetNames(signature);
    std::vector<std::string> inputs{names.begin(), names.begin() + n_inputs};
    std::vector<std::string> wanted;
    for (int i = 0; i < n_inputs; ++i) {
        if ((grads >> i & 1U) != 0) wanted.push_back(inputs[i]);
    }
    bool is_unary = n_inputs == 1;

    std::string out = wanted.empty() ? "Not differentiable" : "Differentiable any number of times";
    if (!wanted.empty() && wanted.size() < inputs.size()) out += " with respect to " + Join(wanted, " and ", "``");

    bool takes_complex = (info.dtypes & kComplexSet) != 0;
    std::string dtypes = takes_complex ? "any dtype" : "any real dtype";
    std::string refused;
    if ((info.dtypes & kAllSet) == kNumericSet) {
        dtypes += " except bool";
        refused = "bool";
    } else if (info.dtypes == (kIntSet | kBoolSet)) {
        dtypes = "integers or booleans";
        refused = "of floating point";
    } else if (info.dtypes == kIntSet) {
        dtypes = "integers";
        refused = "bool or of floating point";
    } else if (!Contains(info.dtypes, Dtype::kFloat16)) {
        dtypes += " except float16 and bfloat16";
        refused = "float16 or bfloat16";
    }
    if (!takes_complex) refused += refused.empty() ? "complex" : " or complex";
    out += ".\n\nArgs:\n    " + Join(inputs, ", ") + " (~chainerx.ndarray";
    out += is_unary ? " or number): Array of " + dtypes + ".\n"
                    : " or number): Arrays of " + dtypes +
                              " whose shapes broadcast;\n        all but one may be numbers.\n";
    for (size_t i = inputs.size(); i < names.size(); ++i) {
        out += names[i] == "out" ? "    @out\n" : "    " + names[i] + " (float): Parameter of the formula.\n";
    }

    out += "\nReturns:\n    ~chainerx.ndarray: Array of the ";
    std::string shape = is_unary ? "shape of ``" + inputs[0] + "``" : "broadcast shape";
    if (info.bool_out) {
        out += shape + ", of booleans.\n";
    } else if (info.rule == DtypeRule::kFloat) {
        out += shape + (is_unary ? ". A floating point dtype is kept; integers and"
                                 : " and the promoted dtype; but integers and");
        out += "\n        booleans become float32.\n";
    } else if (info.rule == DtypeRule::kShift) {
        out += shape + " and the dtype of ``" + inputs[0] +
               "``; a number counts as int64,\n        booleans as the promoted dtype.\n";
    } else if (info.rule == DtypeRule::kSelect) {
        out += shape + " and the promoted dtype of\n        ``" + inputs[1] + "`` and ``" + inputs[2] + "``.\n";
    } else {
        out += is_unary ? "shape and dtype of ``" + inputs[0] + "``.\n" : shape + " and the promoted dtype.\n";
    }

    out += "\nRaises:\n";
    if (!refused.empty()) {
        out += "    ~chainerx.DtypeError: If the " + std::string{is_unary ? "" : "promoted "} + "dtype is " + refused +
               ".\n";
    }
    out += is_unary ? "    TypeError: If ``" + inputs[0] + "`` is not an array of ChainerX.\n"
                    : "    ~chainerx.DimensionError: If the shapes do not broadcast.\n"
                      "    ~chainerx.DeviceError: If the arrays are on different devices.\n";

    std::string_view whole = text;
    size_t at = std::min(whole.find("\n>>> "), whole.size());
    static std::string result;
    result.assign(whole.substr(0, at)).append("\n").append(out).append(whole.substr(at));
    return result.c_str();
}

}  // namespace chainerx::python
