// Strings.

#include <algorithm>
#include <map>

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/operators/key_table.h"

namespace chainerx::onnx {
namespace {

// Places of elements of an array of a shape, as they are after it was broadcast to another.
Ints BroadcastPlaces(const Shape& from, const Shape& to) {
    return ReadInts(BroadcastTo(Reshape(Steps(from.GetTotalSize(), 0, HostDevice()), from), to));
}

Value StringConcat(const Value& left, const Value& right) {
    const Strings& a = StringsOf(left);
    const Strings& b = StringsOf(right);
    Shape shape = BroadcastShapes(a.shape, b.shape);
    CheckedShape(ToVector(shape), sizeof(std::string));
    Ints from_a = BroadcastPlaces(a.shape, shape);
    Ints from_b = BroadcastPlaces(b.shape, shape);
    Strings out{shape, {}};
    for (size_t i = 0; i < from_a.size(); ++i) out.items.push_back(a.items[from_a[i]] + b.items[from_b[i]]);
    return Value::Of(std::move(out));
}

constexpr const char* kSpaces = " \t\n\r\f\v";

// Parts between delimiters, or between runs of spaces if there is none; what is behind `most` splits is one part.
std::vector<std::string> SplitText(const std::string& text, const std::string& delimiter, size_t most) {
    std::vector<std::string> parts;
    bool by_spaces = delimiter.empty();
    size_t at = 0;
    for (;;) {
        if (by_spaces) at = text.find_first_not_of(kSpaces, at);
        if (at == std::string::npos) return parts;
        size_t end = std::string::npos;
        if (parts.size() < most) end = by_spaces ? text.find_first_of(kSpaces, at) : text.find(delimiter, at);
        parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
        if (end == std::string::npos) return parts;
        at = end + std::max<size_t>(delimiter.size(), 1);
    }
}

Values StringSplit(const Value& value, const std::optional<std::string>& delimiter, const std::optional<int64_t>& most,
                   Device& device) {
    const Strings& x = StringsOf(value);
    size_t limit = most && *most >= 0 ? static_cast<size_t>(*most) : SIZE_MAX;
    std::vector<std::vector<std::string>> rows;
    Ints counts;
    size_t width = 0;
    for (const std::string& text : x.items) {
        rows.push_back(SplitText(text, delimiter.value_or(""), limit));
        counts.push_back(static_cast<int64_t>(rows.back().size()));
        width = std::max(width, rows.back().size());
    }
    Ints dims = ToVector(x.shape);
    dims.push_back(static_cast<int64_t>(width));
    Strings out{CheckedShape(dims, sizeof(std::string)), {}};
    for (std::vector<std::string>& row : rows) {
        row.resize(width);
        std::move(row.begin(), row.end(), std::back_inserter(out.items));
    }
    return {Value::Of(std::move(out)), ToDevice(Reshape(IntsArray(counts), x.shape), device)};
}

enum class CaseChange { kLower, kUpper, kNone };

// Letters of ASCII.
std::string Changed(std::string text, CaseChange change) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) >= 0x80 && change != CaseChange::kNone) {
            throw ModelError{"the case of letters that are not in ASCII cannot be changed: '", text, "'"};
        }
        if (change == CaseChange::kLower && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (change == CaseChange::kUpper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
}

// Without stop words; one empty string if nothing is left.
Value StringNormalizer(const Value& value, CaseChange change, bool is_case_sensitive,
                       const std::vector<std::string>& stop_words) {
    const Strings& x = StringsOf(value);
    bool is_row = x.shape.ndim() == 2 && x.shape[0] == 1;
    if (x.shape.ndim() != 1 && !is_row) throw ModelError{"the shape is ", x.shape, ", not (n,) or (1, n)"};
    CaseChange folding = is_case_sensitive ? CaseChange::kNone : CaseChange::kLower;
    std::vector<std::string> stop;
    for (const std::string& word : stop_words) stop.push_back(Changed(word, folding));
    std::vector<std::string> kept;
    for (const std::string& text : x.items) {
        bool is_stopped = !stop.empty() && std::count(stop.begin(), stop.end(), Changed(text, folding)) > 0;
        if (!is_stopped) kept.push_back(Changed(text, change));
    }
    if (kept.empty()) kept.emplace_back();
    auto n = static_cast<int64_t>(kept.size());
    return Value::Of(Strings{is_row ? Shape{1, n} : Shape{n}, std::move(kept)});
}

// -- counts of n-grams

enum class GramWeight { kTf, kIdf, kTfIdf };

// The node's attributes, and the column of each gram.
class GramCounter {
public:
    explicit GramCounter(const Node& node)
        : alphabet_{PoolOf(node)},
          weight_{static_cast<GramWeight>(node.Choice("mode"))},
          shortest_{node.Int("min_gram_length")},
          longest_{node.Int("max_gram_length")},
          skips_{node.Int("max_skip_count")} {
        if (longest_ < shortest_) throw ModelError{"its grams have ", shortest_, " to ", longest_, " elements"};
        const Ints& indexes = node.Ints("ngram_indexes");
        ReadGrams(alphabet_.PlacesOf(PoolOf(node)), node.Ints("ngram_counts"), indexes);
        std::vector<float> given = node.FloatsOrNone("weights");
        scales_.assign(columns_, 0);
        if (!given.empty() && given.size() != indexes.size()) throw ModelError{"its weights are too few"};
        for (size_t i = 0; i < indexes.size(); ++i) scales_[indexes[i]] = given.empty() ? 1 : given[i];
    }

    Array operator()(const Value& value) const {
        if (value.As<Strings>() == nullptr && !value.array()) throw ModelError{"expected an array or strings"};
        const Shape& shape = ShapeOfElements(value);
        if (shape.ndim() > 2) throw ModelError{"the shape is ", shape};
        int64_t rows = shape.ndim() == 2 ? shape[0] : 1;
        int64_t width = shape.ndim() == 0 ? 1 : shape.back();
        Shape out_shape = shape.ndim() == 2 ? CheckedShape({rows, columns_}, 4) : Shape{columns_};
        Array out = Zeros(out_shape, Dtype::kFloat32, HostDevice());
        Ints elements = alphabet_.PlacesOf(value);
        for (int64_t i = 0; i < rows; ++i) Count(elements.data() + i * width, width, out.data<float>() + i * columns_);
        return out;
    }

private:
    static Value PoolOf(const Node& node) { return StringsOrInts(node, "pool_strings", "pool_int64s"); }

    void ReadGrams(const Ints& pool, const Ints& begins, const Ints& indexes) {
        for (int64_t index : indexes) columns_ = std::max(columns_, index + 1);
        CheckedShape({columns_}, 4);
        auto total = static_cast<int64_t>(pool.size());
        size_t used = 0;
        for (size_t k = 0; k < begins.size(); ++k) {
            int64_t end = k + 1 < begins.size() ? begins[k + 1] : total;
            auto size = static_cast<int64_t>(k + 1);
            if (end < begins[k] || end > total || (end - begins[k]) % size != 0) {
                throw ModelError{"its ngram_counts do not fit to a pool of ", total};
            }
            for (int64_t at = begins[k]; at < end; at += size) {
                if (used >= indexes.size()) throw ModelError{"it has more grams than ngram_indexes"};
                grams_[Ints{pool.begin() + at, pool.begin() + at + size}] = indexes[used++];
            }
        }
    }

    void Count(const int64_t* row, int64_t width, float* counts) const {
        Ints gram;
        for (int64_t length = shortest_; length <= std::min(longest_, width); ++length) {
            int64_t most = length == 1 ? 1 : skips_ + 1;  // grams of one element know no skips
            for (int64_t step = 1; step <= most && (length - 1) * step < width; ++step) {
                for (int64_t begin = 0; begin + (length - 1) * step < width; ++begin) {
                    gram.clear();
                    for (int64_t j = 0; j < length; ++j) gram.push_back(row[begin + j * step]);
                    auto it = grams_.find(gram);
                    if (it != grams_.end()) counts[it->second] += 1;
                }
            }
        }
        for (int64_t i = 0; i < columns_; ++i) {
            if (weight_ == GramWeight::kIdf && counts[i] > 0) counts[i] = scales_[i];
            if (weight_ == GramWeight::kTfIdf) counts[i] *= scales_[i];
        }
    }

    KeyTable alphabet_;
    GramWeight weight_;
    int64_t shortest_;
    int64_t longest_;
    int64_t skips_;
    int64_t columns_{0};
    std::map<Ints, int64_t> grams_;
    std::vector<float> scales_;
};

Array TfIdfVectorizer(const Value& x, const GramCounter& counter, Device& device) {
    return ToDevice(counter(x), device);
}

}  // namespace

const OperatorTable kTextOperators = {
        {"StringConcat", Call<StringConcat>, "", Purity::kPure, "", Operands::kValues},
        {"StringNormalizer", Call<StringNormalizer>, "case_change_action is_case_sensitive stopwords", Purity::kPure,
         "", Operands::kValues},
        {"StringSplit", Call<StringSplit>, "delimiter maxsplit", Purity::kPure, "", Operands::kValues},
        {"TfIdfVectorizer", Call<TfIdfVectorizer>, "", Purity::kPure, "", Operands::kValues},
};

}  // namespace chainerx::onnx
