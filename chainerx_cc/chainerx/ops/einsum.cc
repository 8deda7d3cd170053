// Einstein summation, made of diagonals, sums and matrix products.

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"

namespace chainerx {
namespace {

// Letters by their codes; dimensions of the ellipsis by -1, -2, ... from the last one.
using Labels = std::vector<int>;
using Lengths = std::map<int, int64_t>;

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// An array and the labels of its axes.
struct Factor {
    Array array;
    Labels labels;

    int8_t AxisOf(int label) const {
        return static_cast<int8_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
    }
    int64_t Length(int label) const { return array.shape()[AxisOf(label)]; }
    void Drop(int8_t axis) { labels.erase(labels.begin() + axis); }
};

// The subscripts of one array, as written.
struct Term {
    Labels letters;
    bool has_ellipsis{false};
    size_t ellipsis{0};  // letters before it

    Labels Expand(int n) const {
        Labels out = letters;
        Labels dims;
        for (int i = has_ellipsis ? n : 0; i > 0; --i) dims.push_back(-i);
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(ellipsis), dims.begin(), dims.end());
        return out;
    }
};

struct Equation {
    std::vector<Term> inputs;
    bool has_output{false};
    Term output;
};

Equation Parse(const std::string& text) {
    Equation out;
    Term term;
    auto fail = [&text](const char* why) { throw ChainerxError{"einsum: subscripts '", text, "': ", why}; };
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ' ') continue;
        if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
            term.letters.push_back(text[i]);
        } else if (text.compare(i, 3, "...") == 0) {
            if (term.has_ellipsis) fail("an array has more than one ellipsis");
            term.has_ellipsis = true;
            term.ellipsis = term.letters.size();
            i += 2;
        } else if (text[i] == ',' && !out.has_output) {
            out.inputs.push_back(std::exchange(term, {}));
        } else if (text.compare(i, 2, "->") == 0 && !out.has_output) {
            out.inputs.push_back(std::exchange(term, {}));
            out.has_output = true;
            ++i;
        } else {
            fail("only letters, commas, an ellipsis '...' for each array, and one '->' are allowed");
        }
    }
    if (out.has_output) {
        out.output = term;
    } else {
        out.inputs.push_back(term);
    }
    return out;
}

// The labels of the output: the given ones, or the dimensions of the ellipsis and the letters that appear once.
Labels MakeOutput(const Equation& equation, int n_ellipsis) {
    std::map<int, int> counts;
    for (const Term& term : equation.inputs) {
        for (int label : term.letters) ++counts[label];
    }
    if (!equation.has_output) {
        Term out;
        out.has_ellipsis = true;
        for (const auto& [label, count] : counts) {
            if (count == 1) out.letters.push_back(label);
        }
        return out.Expand(n_ellipsis);
    }
    const Labels& letters = equation.output.letters;
    for (int label : letters) {
        auto letter = static_cast<char>(label);
        if (counts.count(label) == 0) throw ChainerxError{"einsum: the output has '", letter, "', which no input has"};
        if (std::count(letters.begin(), letters.end(), label) > 1) {
            throw ChainerxError{"einsum: the output has '", letter, "' more than once"};
        }
    }
    if (!equation.output.has_ellipsis && n_ellipsis > 0) {
        throw DimensionError{"einsum: the output needs an ellipsis, since the inputs have dimensions in theirs"};
    }
    return equation.output.Expand(n_ellipsis);
}

Array AsDtype(const Array& a, Dtype dtype) { return AsType(a, dtype, false); }

// Leaves one axis for each label.
void TakeDiagonals(Factor& x) {
    for (size_t i = 0; i < x.labels.size(); ++i) {
        int label = x.labels[i];
        int8_t axis2 = static_cast<int8_t>(x.labels.size() - 1);
        while (x.labels[axis2] != label) --axis2;
        auto axis1 = static_cast<int8_t>(i);
        if (axis1 == axis2) continue;
        if (x.array.shape()[axis1] != x.array.shape()[axis2]) {
            throw DimensionError{"einsum: '", static_cast<char>(label), "' names axes of different lengths in shape ",
                                 x.array.shape()};
        }
        x.array = Diagonal(x.array, 0, axis1, axis2);
        x.Drop(axis2);
        x.Drop(axis1);
        x.labels.push_back(label);
        --i;
    }
}

Lengths GetLengths(const std::vector<Factor>& operands) {
    Lengths out;
    for (const Factor& x : operands) {
        for (int label : x.labels) {
            int64_t n = x.Length(label);
            int64_t& known = out.try_emplace(label, n).first->second;
            if (known == 1) known = n;
            if (n == known || n == 1) continue;
            std::string name =
                    label < 0 ? "a dimension of the ellipsis" : std::string{'\'', static_cast<char>(label), '\''};
            throw DimensionError{"einsum: ", name, " has the lengths ", known, " and ", n};
        }
    }
    return out;
}

// Removes axes of length one that other operands broadcast.
void DropBroadcast(Factor& x, const Lengths& lengths) {
    Axes axes;
    Labels rest;
    for (size_t i = 0; i < x.labels.size(); ++i) {
        if (x.array.shape()[i] == 1 && lengths.at(x.labels[i]) != 1) {
            axes.push_back(static_cast<int8_t>(i));
        } else {
            rest.push_back(x.labels[i]);
        }
    }
    if (!axes.empty()) x = {Squeeze(x.array, axes), rest};
}

// Sums over axes that nothing else needs.
void SumOthers(Factor& x, const std::set<int>& needed) {
    Axes axes;
    Labels rest;
    for (size_t i = 0; i < x.labels.size(); ++i) {
        if (needed.count(x.labels[i]) == 0) {
            axes.push_back(static_cast<int8_t>(i));
        } else {
            rest.push_back(x.labels[i]);
        }
    }
    if (!axes.empty()) x = {AsDtype(Sum(x.array, axes), x.array.dtype()), rest};
}

// The array with its axes in another order, gathered into groups of the given lengths.
Array Arrange(const Factor& x, std::initializer_list<const Labels*> order, const Shape& shape) {
    Axes axes;
    for (const Labels* labels : order) {
        for (int label : *labels) axes.push_back(x.AxisOf(label));
    }
    return Reshape(Transpose(x.array, axes), shape);
}

Array Product(const Array& a, const Array& b) { return a.dtype() == Dtype::kBool ? LogicalAnd(a, b) : a * b; }

// The product of two operands, summed over labels that nothing else needs.
Factor Contract(const Factor& x, const Factor& y, const std::set<int>& needed) {
    Labels batch;
    Labels inner;
    Labels left;
    Labels right;
    Shape batch_shape;
    Shape out_shape;
    int64_t rows = 1;
    int64_t depth = 1;
    int64_t columns = 1;
    for (int label : x.labels) {
        if (!Has(y.labels, label)) {
            left.push_back(label);
            rows *= x.Length(label);
        } else if (needed.count(label) != 0) {
            batch.push_back(label);
            batch_shape.push_back(x.Length(label));
        } else {
            inner.push_back(label);
            depth *= x.Length(label);
        }
    }
    out_shape = batch_shape;
    for (int label : left) out_shape.push_back(x.Length(label));
    for (int label : y.labels) {
        if (Has(x.labels, label)) continue;
        right.push_back(label);
        columns *= y.Length(label);
        out_shape.push_back(y.Length(label));
    }
    auto matrix = [&batch_shape](int64_t m, int64_t n) {
        Shape shape = batch_shape;
        shape.push_back(m);
        shape.push_back(n);
        return shape;
    };
    Array a = Arrange(x, {&batch, &left, &inner}, matrix(rows, depth));
    Array b = Arrange(y, {&batch, &inner, &right}, matrix(depth, columns));
    Array product;
    if (inner.empty()) {
        product = Product(a, b);
    } else if (rows == 1 && columns == 1 && !batch.empty()) {
        // Many short sums: matrix products would not be faster.
        Axes last{-1};
        product = AsDtype(Sum(Product(Squeeze(a, Axes{-2}), Squeeze(b, last)), last), a.dtype());
    } else {
        product = Matmul(a, b);
    }
    Factor out{Reshape(product, out_shape), batch};
    out.labels.insert(out.labels.end(), left.begin(), left.end());
    out.labels.insert(out.labels.end(), right.begin(), right.end());
    return out;
}

// Labels of the output and of all operands but two.
std::set<int> GetNeeded(const std::vector<Factor>& operands, const Labels& output, size_t i, size_t j) {
    std::set<int> out(output.begin(), output.end());
    for (size_t k = 0; k < operands.size(); ++k) {
        if (k != i && k != j) out.insert(operands[k].labels.begin(), operands[k].labels.end());
    }
    return out;
}

// Multiplications for the product of two operands.
double GetCost(const Factor& x, const Factor& y) {
    auto cost = static_cast<double>(x.array.GetTotalSize());
    for (int label : y.labels) {
        if (!Has(x.labels, label)) cost *= static_cast<double>(y.Length(label));
    }
    return cost;
}

}  // namespace

CHAINERX_ROUTINE(Einsum, "einsum", "*operands, optimize=True", "matmul", R"(
Einstein summation: products of elements, summed over labels that are not in the result.

Called as ``einsum(subscripts, *operands)``, or with alternating arrays and lists of labels, as NumPy's function.
``subscripts`` has a letter for each axis of each operand, and those of the result after ``->``; without them, the
labels that occur once, in alphabetic order. Three dots stand for axes that broadcast. A label that an operand has
twice takes its diagonal.

Differentiable any number of times.

Args:
    *operands: Subscripts (str) and arrays (:class:`chainerx.ndarray`), or arrays and lists of labels.
    optimize: Has no effect: the order of products is always chosen.

Returns:
    ~chainerx.ndarray: Array with an axis for each label of the result, in the promoted dtype.

Raises:
    ~chainerx.ChainerxError: If the subscripts cannot be understood.
    ~chainerx.DimensionError: If subscripts do not fit the shapes.

>>> a = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.einsum('ij,jk->ik', a, a)
array([[ 7., 10.],
       [15., 22.]], shape=(2, 2), dtype=float64, device='native:0')
>>> chainerx.einsum('ii', a)
array(5., shape=(), dtype=float64, device='native:0')
)");
Array Einsum(const std::string& subscripts, const std::vector<Array>& operands) {
    Equation equation = Parse(subscripts);
    if (equation.inputs.size() != operands.size()) {
        throw ChainerxError{"einsum: subscripts '",
                            subscripts,
                            "' are for ",
                            equation.inputs.size(),
                            " arrays, but the number of arrays is ",
                            operands.size()};
    }
    Dtype dtype = operands[0].dtype();
    int n_ellipsis = 0;
    std::vector<Factor> rest;
    for (size_t i = 0; i < operands.size(); ++i) {
        const Term& term = equation.inputs[i];
        int n = operands[i].ndim() - static_cast<int>(term.letters.size());
        if (n < 0 || (n > 0 && !term.has_ellipsis)) {
            throw DimensionError{"einsum: subscripts '", subscripts,         "' do not fit array ", i,
                                 " of shape ",           operands[i].shape()};
        }
        n_ellipsis = std::max(n_ellipsis, n);
        dtype = PromoteTypes(dtype, operands[i].dtype());
        rest.push_back({operands[i], term.Expand(n)});
    }
    Labels output = MakeOutput(equation, n_ellipsis);
    // Computes partial products of half precision in float32.
    Dtype compute = IsHalf(dtype) && rest.size() > 1 ? Dtype::kFloat32 : dtype;
    for (Factor& x : rest) {
        x.array = AsDtype(x.array, compute);
        TakeDiagonals(x);
    }
    Lengths lengths = GetLengths(rest);
    for (Factor& x : rest) DropBroadcast(x, lengths);
    for (size_t i = 0; i < rest.size(); ++i) SumOthers(rest[i], GetNeeded(rest, output, i, i));
    while (rest.size() > 1) {
        size_t left = 0;
        size_t right = 1;
        for (size_t i = 0; i < rest.size(); ++i) {
            for (size_t j = i + 1; j < rest.size(); ++j) {
                if (GetCost(rest[i], rest[j]) < GetCost(rest[left], rest[right]))
                    std::tie(left, right) = std::pair{i, j};
            }
        }
        Factor product = Contract(rest[left], rest[right], GetNeeded(rest, output, left, right));
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(right));
        rest[left] = std::move(product);
    }
    Axes order;
    for (int label : output) order.push_back(rest[0].AxisOf(label));
    return AsDtype(Transpose(rest[0].array, order), dtype);
}

}  // namespace chainerx
