// Recurrent networks of the stand-in for cuDNN.

#include <algorithm>

#include "cudnn_rnn_network.h"
#include "cudnn_stand_in.h"

namespace chainerx::cuda::cudnn {

struct DropoutStruct {
    float ratio{1};
};

namespace {

constexpr size_t kWorkspace = 64;

size_t CountReserveBytes(const RnnStruct& rnn, const RnnDataStruct& rows) {
    return static_cast<size_t>(Network{rnn, rows}.CountReserve()) * sizeof(double);
}

size_t CountWeightBytes(const RnnStruct& rnn) {
    return static_cast<size_t>(ForParameters(rnn, [](auto...) {}) * SizeOf(rnn.type));
}

// Whether rows and states are those of the network.
bool Fit(const RnnStruct& rnn, const RnnDataStruct& x, const RnnDataStruct& y, const TensorStruct& states) {
    Sizes expected{static_cast<int>(rnn.cells()), static_cast<int>(x.lengths.size()), static_cast<int>(rnn.units)};
    return x.type == rnn.type && y.type == rnn.type && states.type == rnn.type && x.width == rnn.inputs &&
           y.width == rnn.directions * rnn.units && x.lengths == y.lengths && states.shape == expected;
}

// Whether the pointers of cell states are those of the kind of cell.
bool FitCells(const RnnStruct& rnn, const void* first, const void* second) {
    return rnn.cell == CellMode::kLstm || (first == nullptr && second == nullptr);
}

}  // namespace

extern "C" {

Status cudnnCreateDropoutDescriptor(Dropout* desc) {
    *desc = new DropoutStruct;
    return Note("CreateDropoutDescriptor");
}
Status cudnnSetDropoutDescriptor(Dropout desc, Handle, float ratio, void* states, size_t state_size,
                                 unsigned long long) {
    desc->ratio = ratio;
    return ratio == 0 && states == nullptr && state_size == 0 ? Status::kSuccess : Status::kNotSupported;
}
Status cudnnDestroyDropoutDescriptor(Dropout desc) {
    delete desc;
    return Status::kSuccess;
}

Status cudnnCreateRNNDescriptor(Rnn* desc) {
    *desc = new RnnStruct{};
    return Note("CreateRNNDescriptor");
}
Status cudnnSetRNNDescriptor_v8(Rnn desc, RnnAlgorithm algorithm, CellMode cell, BiasMode bias, DirectionMode direction,
                                InputMode input, DataType type, DataType compute_type, MathType math,
                                int32_t input_size, int32_t units, int32_t projection, int32_t layers, Dropout dropout,
                                uint32_t flags) {
    *desc = {cell, type, input_size, units, layers, direction == DirectionMode::kBidirectional ? 2 : 1};
    Status status = Note("SetRNNDescriptor_v8", {{"cell", static_cast<int>(cell)}, {"math", static_cast<int>(math)}});
    if (status != Status::kSuccess) return status;
    bool is_valid = algorithm == RnnAlgorithm::kStandard && bias == BiasMode::kDouble && input == InputMode::kLinear &&
                    type != DataType::kFloat16 && compute_type == type && input_size > 0 && units > 0 &&
                    projection == units && layers > 0 && dropout->ratio == 0 && flags == 0;
    return is_valid ? Status::kSuccess : Status::kBadParameter;
}
Status cudnnDestroyRNNDescriptor(Rnn desc) {
    delete desc;
    return Status::kSuccess;
}

Status cudnnCreateRNNDataDescriptor(RnnData* desc) {
    *desc = new RnnDataStruct{};
    return Note("CreateRNNDataDescriptor");
}
Status cudnnSetRNNDataDescriptor(RnnData desc, DataType type, RnnDataLayout layout, int steps, int batch,
                                 int vector_size, const int* lengths, void* padding) {
    *desc = {type, vector_size, Sizes(lengths, lengths + batch)};
    bool is_valid = layout == RnnDataLayout::kSequenceMajorPacked && batch > 0 && vector_size > 0 &&
                    padding == nullptr && desc->lengths.front() == steps && desc->lengths.back() > 0 &&
                    std::is_sorted(desc->lengths.rbegin(), desc->lengths.rend());
    return is_valid ? Status::kSuccess : Status::kBadParameter;
}
Status cudnnDestroyRNNDataDescriptor(RnnData desc) {
    delete desc;
    return Status::kSuccess;
}

Status cudnnGetRNNTempSpaceSizes(Handle, Rnn desc, ForwardMode mode, RnnData x_desc, size_t* workspace_size,
                                 size_t* reserve_size) {
    *workspace_size = kWorkspace;
    *reserve_size = mode == ForwardMode::kTraining ? CountReserveBytes(*desc, *x_desc) : 0;
    return Note("GetRNNTempSpaceSizes");
}
Status cudnnGetRNNWeightSpaceSize(Handle, Rnn desc, size_t* size) {
    *size = CountWeightBytes(*desc);
    return Note("GetRNNWeightSpaceSize");
}
Status cudnnGetRNNWeightParams(Handle, Rnn desc, int32_t cell, size_t weight_size, const void* weights, int32_t gate,
                               Tensor matrix_desc, void** matrix, Tensor bias_desc, void** bias) {
    bool is_valid = weight_size == CountWeightBytes(*desc) && weights != nullptr;
    bool is_found = false;
    auto* base = const_cast<char*>(static_cast<const char*>(weights));
    ForParameters(*desc, [&](int64_t of_cell, int64_t of_gate, int64_t m, int64_t columns, int64_t b) {
        if (of_cell != cell || of_gate != gate) return;
        is_found = true;
        *matrix = base + m * SizeOf(desc->type);
        *bias = base + b * SizeOf(desc->type);
        auto units = static_cast<int>(desc->units);
        *matrix_desc = {desc->type, {1, units, static_cast<int>(columns)}};
        *bias_desc = {desc->type, {1, units, 1}};
    });
    return is_valid && is_found ? Status::kSuccess : Status::kBadParameter;
}

Status cudnnRNNForward(Handle handle, Rnn desc, ForwardMode mode, const int32_t* device_lengths, RnnData x_desc,
                       const void* x, RnnData y_desc, void* y, Tensor h_desc, const void* h0, void* h, Tensor c_desc,
                       const void* c0, void* c, size_t weight_size, const void* weights, size_t workspace_size, void*,
                       size_t reserve_size, void* reserve) {
    size_t expected = mode == ForwardMode::kTraining ? CountReserveBytes(*desc, *x_desc) : 0;
    bool is_valid = device_lengths == nullptr && Fit(*desc, *x_desc, *y_desc, *h_desc) && *c_desc == *h_desc &&
                    FitCells(*desc, c0, c) && weight_size == CountWeightBytes(*desc) && workspace_size >= kWorkspace &&
                    reserve_size >= expected;
    DataType type = desc->type;
    auto work = [=, network = Network{*desc, *x_desc}] {
        network.Forward({type, weights}, {type, x}, {type, h0}, {type, c0}, {type, y}, {type, h}, {type, c},
                        mode == ForwardMode::kTraining ? static_cast<double*>(reserve) : nullptr);
    };
    return Submit("RNNForward", handle, is_valid, work, {{"training", static_cast<int>(mode)}});
}

Status cudnnRNNBackwardData_v8(Handle handle, Rnn desc, const int32_t* device_lengths, RnnData y_desc, const void* y,
                               const void* gy, RnnData x_desc, void* gx, Tensor h_desc, const void* h0, const void* gh,
                               void* gh0, Tensor c_desc, const void* c0, const void* gc, void* gc0, size_t weight_size,
                               const void* weights, size_t workspace_size, void*, size_t reserve_size, void* reserve) {
    bool is_valid = device_lengths == nullptr && Fit(*desc, *x_desc, *y_desc, *h_desc) && *c_desc == *h_desc &&
                    FitCells(*desc, gc, gc0) && y != nullptr && gy != nullptr &&
                    weight_size == CountWeightBytes(*desc) && workspace_size >= kWorkspace &&
                    reserve_size >= CountReserveBytes(*desc, *x_desc);
    DataType type = desc->type;
    auto work = [=, network = Network{*desc, *x_desc}] {
        network.BackwardData({type, weights}, {type, h0}, {type, c0}, {type, gy}, {type, gh}, {type, gc}, {type, gx},
                             {type, gh0}, {type, gc0}, static_cast<double*>(reserve));
    };
    return Submit("RNNBackwardData_v8", handle, is_valid, work);
}

Status cudnnRNNBackwardWeights_v8(Handle handle, Rnn desc, WeightGradMode mode, const int32_t* device_lengths,
                                  RnnData x_desc, const void* x, Tensor h_desc, const void* h0, RnnData y_desc,
                                  const void* y, size_t weight_size, void* gweights, size_t workspace_size, void*,
                                  size_t reserve_size, void* reserve) {
    bool is_valid = mode == WeightGradMode::kAdd && device_lengths == nullptr &&
                    Fit(*desc, *x_desc, *y_desc, *h_desc) && y != nullptr && weight_size == CountWeightBytes(*desc) &&
                    workspace_size >= kWorkspace && reserve_size >= CountReserveBytes(*desc, *x_desc);
    DataType type = desc->type;
    auto work = [=, network = Network{*desc, *x_desc}] {
        network.BackwardWeights({type, x}, {type, h0}, {type, gweights}, static_cast<const double*>(reserve));
    };
    return Submit("RNNBackwardWeights_v8", handle, is_valid, work);
}

}  // extern "C"

}  // namespace chainerx::cuda::cudnn
