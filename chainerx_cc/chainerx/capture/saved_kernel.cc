#include "chainerx/capture/saved_kernel.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "chainerx/core/error.h"

namespace chainerx {
namespace {

// Operations without parameters have one byte, which nobody reads.
size_t FunctorBytes(const KernelSlotBase& slot) {
    return slot.functor_bytes() > 1 ? static_cast<size_t>(slot.functor_bytes()) : 0;
}

}  // namespace

const SavedKernels& GetSavedKernels() {
    static const SavedKernels kernels = [] {
        SavedKernels all;
        AddSavedOps(all);
        AddSavedLayers(all);
        return all;
    }();
    return kernels;
}

const SavedKernel* FindSavedKernel(std::string_view name) {
    static const auto by_name = [] {
        std::unordered_map<std::string_view, const SavedKernel*> map;
        for (const auto& kernel : GetSavedKernels()) map.emplace(kernel->slot().name(), kernel.get());
        return map;
    }();
    auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : it->second;
}

void SavedArgument<double>::Write(const double& value, ProgramWriter& out) { out.bytes.Double(value); }
SavedArgument<double>::SavedArgument(ProgramReader& in, const KernelSlotBase&) : value{in.bytes.Double()} {}

void SavedArgument<Array>::Write(const Array& value, ProgramWriter& out) { out.Write(value); }
SavedArgument<Array>::SavedArgument(ProgramReader& in, const KernelSlotBase&) : value{in.ReadOptionalArray()} {}

void SavedArgument<std::vector<Array>>::Write(const std::vector<Array>& value, ProgramWriter& out) {
    out.bytes.Number(value.size());
    for (const Array& a : value) out.Write(a);
}
SavedArgument<std::vector<Array>>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    // Each takes bytes of the file, which bounds their number.
    for (uint64_t n = in.bytes.Number(); n > 0; --n) value.push_back(in.ReadArray());
}

void SavedArgument<std::vector<double>>::Write(const std::vector<double>& value, ProgramWriter& out) {
    out.bytes.Number(value.size());
    for (double v : value) out.bytes.Double(v);
}
SavedArgument<std::vector<double>>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    for (uint64_t n = in.bytes.Number(); n > 0; --n) value.push_back(in.bytes.Double());
}

void SavedArgument<Scalar>::Write(const Scalar& value, ProgramWriter& out) {
    out.bytes.Number(static_cast<uint64_t>(value.kind()));
    switch (value.kind()) {
        case DtypeKind::kFloat:
            return out.bytes.Double(static_cast<double>(value));
        case DtypeKind::kUInt:
            return out.bytes.Number(value.To<uint64_t>());
        case DtypeKind::kComplex:
            out.bytes.Double(value.To<std::complex<double>>().real());
            return out.bytes.Double(value.To<std::complex<double>>().imag());
        default:
            return out.bytes.Integer(static_cast<int64_t>(value));
    }
}
SavedArgument<Scalar>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    switch (static_cast<DtypeKind>(in.bytes.Index(static_cast<size_t>(DtypeKind::kComplex) + 1))) {
        case DtypeKind::kBool:
            value = Scalar{in.bytes.Integer() != 0};
            break;
        case DtypeKind::kInt:
            value = Scalar{in.bytes.Integer()};
            break;
        case DtypeKind::kUInt:
            value = Scalar{in.bytes.Number()};
            break;
        case DtypeKind::kFloat:
            value = Scalar{in.bytes.Double()};
            break;
        case DtypeKind::kComplex: {
            double real = in.bytes.Double();
            value = Scalar{std::complex<double>{real, in.bytes.Double()}};
            break;
        }
    }
}

void SavedArgument<Axes>::Write(const Axes& value, ProgramWriter& out) {
    out.bytes.Number(value.size());
    for (int8_t axis : value) out.bytes.Number(static_cast<uint64_t>(axis));
}
SavedArgument<Axes>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    for (size_t n = in.bytes.Index(kMaxNdim + 1); n > 0; --n) {
        value.push_back(static_cast<int8_t>(in.bytes.Index(kMaxNdim)));
    }
}

void SavedArgument<RandomStream>::Write(const RandomStream& value, ProgramWriter& out) {
    out.bytes.Number(value.key);
    out.bytes.Number(value.position);
}
SavedArgument<RandomStream>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    value.key = in.bytes.Number();
    value.position = in.bytes.Number();
}

void SavedArgument<WindowGeometry>::Write(const WindowGeometry& g, ProgramWriter& out) {
    out.bytes.Number(static_cast<uint64_t>(g.ndim));
    auto write = [&out](int64_t size) { out.bytes.Number(static_cast<uint64_t>(size)); };
    for (int64_t size : {g.batch, g.groups, g.in_channels, g.out_channels}) write(size);
    for (const int64_t* sizes : {g.in, g.kernel, g.out, g.stride, g.pad, g.dilation})
        std::for_each_n(sizes, g.ndim, write);
}
SavedArgument<WindowGeometry>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    // Within 32 bits, products and sums of a few of them do not overflow.
    auto read = [&in] { return static_cast<int64_t>(in.bytes.Index(size_t{INT32_MAX})); };
    value.ndim = static_cast<int>(in.bytes.Index(kMaxWindowDims + 1));
    for (int64_t* size : {&value.batch, &value.groups, &value.in_channels, &value.out_channels}) *size = read();
    for (int64_t* sizes : {value.in, value.kernel, value.out, value.stride, value.pad, value.dilation}) {
        for (int d = 0; d < value.ndim; ++d) sizes[d] = read();
    }
}

void SavedArgument<TakeGeometry>::Write(const TakeGeometry& g, ProgramWriter& out) {
    for (int64_t size : {g.outer, g.length, g.inner}) out.bytes.Number(static_cast<uint64_t>(size));
}
SavedArgument<TakeGeometry>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    for (int64_t* size : {&value.outer, &value.length, &value.inner})
        *size = static_cast<int64_t>(in.bytes.Index(Program::kMostBytes));
}

void SavedArgument<BatchNormOptions>::Write(const BatchNormOptions& options, ProgramWriter& out) {
    out.bytes.Double(options.eps);
    out.bytes.Double(options.decay);
}
SavedArgument<BatchNormOptions>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    value.eps = in.bytes.Double();
    value.decay = in.bytes.Double();
}

void SavedArgument<AttentionOptions>::Write(const AttentionOptions& options, ProgramWriter& out) {
    out.bytes.Double(options.scale);
    out.bytes.Number(options.causal ? 1 : 0);
}
SavedArgument<AttentionOptions>::SavedArgument(ProgramReader& in, const KernelSlotBase&) {
    value.scale = in.bytes.Double();
    value.causal = in.bytes.Flag();
}

void SavedArgument<ElementwiseCall>::Write(const ElementwiseCall& call, const KernelSlotBase& slot,
                                           ProgramWriter& out) {
    out.bytes.Raw(call.op, FunctorBytes(slot));
    out.bytes.Number(static_cast<uint64_t>(call.n_inputs));
    out.bytes.Number(static_cast<uint64_t>(call.dtype));
    out.Write(*call.out);
    for (int i = 0; i < call.n_inputs; ++i) {
        out.Write(call.in[i] == nullptr ? Array{} : *call.in[i]);
        if (call.in[i] == nullptr) out.bytes.Raw(call.scalars[i], sizeof(call.scalars[i]));
    }
}
SavedArgument<ElementwiseCall>::SavedArgument(ProgramReader& in, const KernelSlotBase& slot)
    : parts{std::make_unique<Parts>()} {
    ElementwiseCall& call = parts->call;
    size_t bytes = FunctorBytes(slot);
    parts->functor.resize(bytes / sizeof(std::max_align_t) + 1);
    if (bytes != 0) std::memcpy(parts->functor.data(), in.bytes.Raw(bytes).data(), bytes);
    call.op = parts->functor.data();
    call.n_inputs = static_cast<int>(in.bytes.Index(kMaxElementwiseInputs + 1));
    call.dtype = in.ReadDtype();
    parts->arrays[0] = in.ReadArray();
    call.out = &parts->arrays[0];
    for (int i = 0; i < call.n_inputs; ++i) {
        parts->arrays[1 + i] = in.ReadOptionalArray();
        if (parts->arrays[1 + i]) {
            call.in[i] = &parts->arrays[1 + i];
        } else {
            std::memcpy(call.scalars[i], in.bytes.Raw(sizeof(call.scalars[i])).data(), sizeof(call.scalars[i]));
        }
    }
}

}  // namespace chainerx
