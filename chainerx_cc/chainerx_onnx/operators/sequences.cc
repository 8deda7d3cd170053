// Sequences, and optional values, which may be nothing.

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/places_of_strings.h"
#include "chainerx_onnx/plan.h"

namespace chainerx::onnx {
namespace {

const Values& ItemsOf(const Value& value) {
    const auto* sequence = value.As<Sequence>();
    if (sequence == nullptr) throw ModelError{"expected a sequence, and there is ", value.KindName()};
    return sequence->items;
}

// Elements of sequences are no sequences, so that no value is nested deeply.
const Value& AsItem(const Value& value) {
    if (!value.array() && value.As<Strings>() == nullptr) {
        throw ModelError{"a sequence has arrays or strings, not ", value.KindName()};
    }
    return value;
}

// A place that may count from the end; `none` if it is not given.
int64_t PlaceIn(const Value& position, int64_t length, int64_t last, int64_t none) {
    if (!position) return none;
    if (!position.array()) throw ModelError{"the position is ", position.KindName()};
    auto i = static_cast<int64_t>(AsScalar(position.array()));
    if (i < -length || i > last) throw ModelError{"there is no position ", i, " in a sequence of ", length};
    return i < 0 ? i + length : i;
}

Value SequenceEmpty() { return Value::Of(Sequence{}); }

Value SequenceConstruct(const Values& values) {
    for (const Value& value : values) AsItem(value);
    return Value::Of(Sequence{values});
}

Value SequenceAt(const Value& sequence, const Value& position) {
    const Values& items = ItemsOf(sequence);
    auto n = static_cast<int64_t>(items.size());
    if (!position) throw ModelError{"the position is missing"};
    return items[PlaceIn(position, n, n - 1, 0)];
}

Value SequenceInsert(const Value& sequence, const Value& value, const Value& position) {
    Values items = ItemsOf(sequence);
    auto n = static_cast<int64_t>(items.size());
    items.insert(items.begin() + PlaceIn(position, n, n, n), AsItem(value));
    return Value::Of(Sequence{std::move(items)});
}

Value SequenceErase(const Value& sequence, const Value& position) {
    Values items = ItemsOf(sequence);
    auto n = static_cast<int64_t>(items.size());
    if (n == 0) throw ModelError{"the sequence is empty"};
    items.erase(items.begin() + PlaceIn(position, n, n - 1, n - 1));
    return Value::Of(Sequence{std::move(items)});
}

Array SequenceLength(const Value& sequence, Device& device) {
    return Full(Shape{}, Scalar{static_cast<int64_t>(ItemsOf(sequence).size())}, Dtype::kInt64, device);
}

Value ConcatFromSequence(const Value& sequence, int64_t axis, bool new_axis) {
    Kernel join = [axis, new_axis](const Inputs& in) {
        Arrays xs = in.From(0);
        if (xs.empty() || !xs[0]) throw ModelError{"there is nothing to join"};
        int at = CheckAxis(axis, xs[0].ndim() + (new_axis ? 1 : 0));
        return new_axis ? Stack(xs, at) : Concatenate(xs, at);
    };
    return RunOnPlaces(join, ItemsOf(sequence), 1, true)[0];
}

// The parts have sizes, or one size but for the last, or one element, whose axis stays if `keepdims` says so.
Value SplitToSequence(const Array& x, const Array& split, int8_t axis, bool keepdims) {
    int64_t length = x.shape()[axis];
    Ints sizes;
    if (split && split.ndim() > 0) {
        sizes = ReadInts(split);
    } else {
        int64_t each = split ? static_cast<int64_t>(AsScalar(split)) : 1;
        if (each <= 0) throw ModelError{"the parts have the size ", each};
        for (int64_t at = 0; at < length; at += std::min(each, length - at))
            sizes.push_back(std::min(each, length - at));
    }
    Values items;
    for (const Array& part : SplitAxis(x, axis, sizes)) {
        items.emplace_back(split || keepdims ? part : Squeeze(part, Axes{axis}));
    }
    return Value::Of(Sequence{std::move(items)});
}

Kernel SequenceMap(const Node& node) {
    std::shared_ptr<const Plan> body = node.Body("body");
    int n = node.input_count() - node.captured_count();
    if (body->input_count() != node.input_count() || body->output_count() < node.output_count()) {
        throw ModelError{"the body has ", body->input_count() - node.captured_count(), " inputs for ", n};
    }
    return [body, n](const Inputs& in) {
        Values row = in.ValuesFrom(0);
        size_t length = ItemsOf(in.value(0)).size();
        std::vector<Sequence> out(body->output_count());
        for (size_t i = 0; i < length; ++i) {
            for (int j = 0; j < n; ++j) {
                const auto* sequence = in.value(j).As<Sequence>();
                if (sequence == nullptr) continue;
                if (sequence->items.size() != length) throw ModelError{"the sequences differ in their lengths"};
                row[j] = sequence->items[i];
            }
            Values ys = body->Run(row);
            for (size_t j = 0; j < out.size(); ++j) out[j].items.push_back(AsItem(ys[j]));
        }
        Values results;
        for (Sequence& each : out) results.push_back(Value::Of(std::move(each)));
        return results;
    };
}

Value Optional(const Value& value) { return value; }

Value OptionalGetElement(const Value& value) {
    if (!value) throw ModelError{"the optional value is empty"};
    return value;
}

Array OptionalHasElement(const Value& value, Device& device) {
    return Full(Shape{}, Scalar{static_cast<bool>(value)}, Dtype::kBool, device);
}

}  // namespace

const OperatorTable kSequencesOperators = {
        {"ConcatFromSequence", Call<ConcatFromSequence>, "axis new_axis", Purity::kPure, "", Operands::kValues},
        {"Optional", Call<Optional>, "", Purity::kPure, "", Operands::kValues},
        {"OptionalGetElement", Call<OptionalGetElement>, "", Purity::kPure, "", Operands::kValues},
        {"OptionalHasElement", Call<OptionalHasElement>, "", Purity::kPure, "", Operands::kValues},
        {"SequenceAt", Call<SequenceAt>, "", Purity::kPure, "", Operands::kValues},
        {"SequenceConstruct", Call<SequenceConstruct>, "", Purity::kPure, "", Operands::kValues},
        {"SequenceEmpty", Call<SequenceEmpty>, "", Purity::kPure, "", Operands::kValues},
        {"SequenceErase", Call<SequenceErase>, "", Purity::kPure, "", Operands::kValues},
        {"SequenceInsert", Call<SequenceInsert>, "", Purity::kPure, "", Operands::kValues},
        {"SequenceLength", Call<SequenceLength>, "", Purity::kPure, "", Operands::kValues},
        {"SequenceMap", SequenceMap, "", Purity::kRandom, "", Operands::kValues},
        {"SplitToSequence", Call<SplitToSequence>, "axis keepdims", Purity::kPure, "", Operands::kMoved},
};

}  // namespace chainerx::onnx
