// Branches and loops.

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/plan.h"

namespace chainerx::onnx {
namespace {

using Body = std::shared_ptr<const Plan>;

bool IsTrue(const Array& a) {
    if (!a) throw ModelError{"the condition is missing"};
    if (a.GetTotalSize() != 1) throw ModelError{"the condition has the shape ", a.shape()};
    return static_cast<bool>(AsScalar(a));
}

Kernel If(const Node& node) {
    Body then_branch = node.Body("then_branch");
    Body else_branch = node.Body("else_branch");
    for (const Body& body : {then_branch, else_branch}) {
        if (body->input_count() != node.captured_count()) throw ModelError{"a branch has inputs"};
        if (body->output_count() < node.output_count()) throw ModelError{"a branch has too few outputs"};
    }
    return [then_branch, else_branch](const Inputs& in) {
        return (IsTrue(in[0]) ? then_branch : else_branch)->Run(in.ValuesFrom(1));
    };
}

// The results of all iterations, one array each.
Arrays StackAll(const std::vector<Values>& scanned, Device& device) {
    Arrays out;
    for (const Values& values : scanned) {
        Arrays each;
        for (const Value& a : values) {
            if (!a.array()) throw ModelError{"an iteration gives ", a.KindName()};
            each.push_back(a.array());
        }
        out.push_back(each.empty() ? Empty(Shape{0}, Dtype::kFloat32, device) : Stack(each, 0));
    }
    return out;
}

Kernel Loop(const Node& node) {
    Body body = node.Body("body");
    int captured = node.captured_count();
    int carried = node.input_count() - captured - 2;
    int inputs = body->input_count() - captured;
    int outputs = body->output_count();
    if (carried < 0 || inputs != carried + 2 || outputs < carried + 1) {
        throw ModelError{"the body has ", inputs, " inputs and ", outputs, " outputs for ", carried, " carried values"};
    }
    Device* device = &node.device();
    return [body, carried, device](const Inputs& in) {
        bool on = !in.Has(1) || IsTrue(in[1]);
        int64_t most = in.Has(0) ? static_cast<int64_t>(AsScalar(in[0])) : INT64_MAX;
        Values values = in.ValuesFrom(0);
        std::vector<Values> scanned(body->output_count() - 1 - carried);
        for (int64_t i = 0; on && i < most; ++i) {
            values[0] = Full(Shape{}, Scalar{i}, Dtype::kInt64, *device);
            values[1] = Full(Shape{}, Scalar{true}, Dtype::kBool, *device);
            Values ys = body->Run(values);
            on = IsTrue(ys[0].array());
            std::copy_n(ys.begin() + 1, carried, values.begin() + 2);
            for (size_t j = 0; j < scanned.size(); ++j) scanned[j].push_back(ys[1 + carried + j]);
        }
        Values out{values.begin() + 2, values.begin() + 2 + carried};
        for (Array& y : StackAll(scanned, *device)) out.emplace_back(std::move(y));
        return out;
    };
}

struct ScanAttributes {
    explicit ScanAttributes(const Node& node)
        : body{node.Body("body")},
          count{node.Int("num_scan_inputs")},
          captured{node.captured_count()},
          axes{node.IntsOrNone("scan_input_axes")},
          directions{node.IntsOrNone(node.opset() < 9 ? "directions" : "scan_input_directions")},
          out_axes{node.IntsOrNone("scan_output_axes")},
          out_directions{node.IntsOrNone("scan_output_directions")} {
        int64_t inputs = node.input_count() - captured - (node.opset() < 9 ? 1 : 0);
        if (count < 1 || count > inputs || body->input_count() != inputs + captured ||
            body->output_count() < inputs - count) {
            throw ModelError{"the body has ", body->input_count() - captured, " inputs for ", inputs};
        }
        for (Ints* each : {&axes, &directions}) each->resize(count);
        for (Ints* each : {&out_axes, &out_directions}) each->resize(body->output_count());
    }

    // `values`: states, scanned inputs, captured values.
    Values Run(Values values) const {
        size_t n_states = values.size() - captured - count;
        Arrays inputs;
        for (size_t i = n_states; i < values.size() - captured; ++i) inputs.push_back(values[i].array());
        int64_t length = -1;
        for (size_t i = 0; i < inputs.size(); ++i) {
            if (!inputs[i]) throw ModelError{"an input is missing"};
            inputs[i] = Moveaxis(inputs[i], Axes{CheckAxis(axes[i], inputs[i].ndim())}, Axes{0});
            if (length >= 0 && inputs[i].shape()[0] != length) throw ModelError{"the inputs differ in their lengths"};
            length = inputs[i].shape()[0];
        }
        std::vector<Values> scanned(body->output_count() - n_states);
        for (int64_t t = 0; t < length; ++t) {
            for (size_t i = 0; i < inputs.size(); ++i) {
                int64_t place = directions[i] != 0 ? length - 1 - t : t;
                values[n_states + i] = At(inputs[i], {place});
            }
            Values ys = body->Run(values);
            std::copy_n(ys.begin(), n_states, values.begin());
            for (size_t j = 0; j < scanned.size(); ++j) scanned[j].push_back(ys[n_states + j]);
        }
        Values out{values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n_states)};
        Arrays stacked = StackAll(scanned, inputs[0].device());
        for (size_t j = 0; j < stacked.size(); ++j) {
            Array y = out_directions[j] != 0 ? Flip(stacked[j], Axes{0}) : stacked[j];
            out.emplace_back(Moveaxis(y, Axes{0}, Axes{CheckAxis(out_axes[j], y.ndim())}));
        }
        return out;
    }

    Body body;
    int64_t count;
    int captured;
    Ints axes;
    Ints directions;
    Ints out_axes;
    Ints out_directions;
};

Kernel Scan(const Node& node) {
    ScanAttributes scan{node};
    if (node.opset() >= 9) {
        return [scan](const Inputs& in) { return scan.Run(in.ValuesFrom(0)); };
    }
    // Opset 8 has lengths first, and a batch in front of all others.
    if (node.HasInput(0)) throw ModelError{"sequence_lens of opset 8 is not supported"};
    return [scan](const Inputs& in) {
        Values values = in.ValuesFrom(1);
        size_t n = values.size() - scan.captured;
        for (size_t i = 0; i < n; ++i) {
            if (!values[i].array() || values[i].array().ndim() == 0)
                throw ModelError{"an input is missing or has no batch"};
        }
        int64_t batch = n > 0 ? values[0].array().shape()[0] : 0;
        std::vector<Values> rows(scan.body->output_count());
        for (int64_t b = 0; b < batch; ++b) {
            Values row = values;
            for (size_t i = 0; i < n; ++i) row[i] = At(values[i].array(), {b});
            Values ys = scan.Run(row);
            for (size_t j = 0; j < rows.size(); ++j) rows[j].push_back(ys[j]);
        }
        return StackAll(rows, values[0].array().device());
    };
}

}  // namespace

const OperatorTable kControlOperators = {
        {"If", If, "", Purity::kRandom, "", Operands::kValues},
        {"Loop", Loop, "", Purity::kRandom, "", Operands::kValues},
        {"Scan", Scan, "", Purity::kRandom, "", Operands::kValues},
};

}  // namespace chainerx::onnx
