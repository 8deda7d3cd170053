// Stacked recurrent networks by cuDNN, which overlaps layers and time steps.

#include <cuda_runtime.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/cudnn.h"
#include "chainerx/backends/cuda/error.h"
#include "chainerx/backends/cuda/trust.h"
#include "chainerx/core/compute_mode.h"
#include "chainerx/core/dnn_settings.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/rnn_check.h"

namespace chainerx::cuda {
namespace {

using cudnn::CellMode;
using cudnn::DataType;
using cudnn::DirectionMode;
using cudnn::ForwardMode;
using cudnn::Functions;
using cudnn::MathType;
using cudnn::TensorDescriptor;

constexpr const char* kName = "a recurrent network";

using DropoutDescriptor =
        cudnn::Descriptor<cudnn::Dropout, &Functions::CreateDropoutDescriptor, &Functions::DestroyDropoutDescriptor>;
using RnnDescriptor = cudnn::Descriptor<cudnn::Rnn, &Functions::CreateRNNDescriptor, &Functions::DestroyRNNDescriptor>;
using UnsetTensorDescriptor =
        cudnn::Descriptor<cudnn::Tensor, &Functions::CreateTensorDescriptor, &Functions::DestroyTensorDescriptor>;

CellMode GetCellMode(RnnKind kind) {
    switch (kind) {
        case RnnKind::kLstm:
            return CellMode::kLstm;
        case RnnKind::kGru:
            return CellMode::kGru;
        case RnnKind::kTanh:
            return CellMode::kTanh;
        default:
            return CellMode::kRelu;
    }
}

MathType GetMathType(Dtype dtype) {
    ComputeMode mode = dtype == Dtype::kFloat64 ? ComputeMode::kFloat32 : GetComputeMode();
    if (mode == ComputeMode::kFloat32) return MathType::kFma;
    // There is no mode for bfloat16; TF32 rounds less.
    return mode == ComputeMode::kFloat16 ? MathType::kAllowConversion : MathType::kDefault;
}

// Rows of all time steps one after the other; each sequence is at least as long as the next.
class RowsDescriptor : public cudnn::Descriptor<cudnn::RnnData, &Functions::CreateRNNDataDescriptor,
                                                &Functions::DestroyRNNDataDescriptor> {
public:
    RowsDescriptor(DataType type, const std::vector<int64_t>& counts, int64_t width) {
        std::vector<int> lengths(static_cast<size_t>(counts.front()));
        for (int64_t count : counts) {
            for (int64_t i = 0; i < count; ++i) ++lengths[i];
        }
        cudnn::Check(cudnn::Find()->SetRNNDataDescriptor(
                get(), type, cudnn::RnnDataLayout::kSequenceMajorPacked, static_cast<int>(counts.size()),
                static_cast<int>(lengths.size()), static_cast<int>(width), lengths.data(), nullptr));
    }
};

// A network as cuDNN sees it.
class Plan {
public:
    Plan(const FusedRnn& network, const Dnn& dnn)
        : network_{network},
          dnn_{dnn},
          type_{cudnn::GetType(network.x.dtype())},
          x_{type_, network.lengths, network.x.shape()[1]},
          y_{type_, network.lengths, network.directions * network.h0.shape()[2]},
          states_{network.x.dtype(),
                  {static_cast<int>(network.h0.shape()[0]), static_cast<int>(network.h0.shape()[1]),
                   static_cast<int>(network.h0.shape()[2])}} {
        dnn.Use([&](cudnn::Handle handle) {
            cudnn::Check(cudnn::Find()->SetDropoutDescriptor(dropout_.get(), handle, 0, nullptr, 0, 0));
        });
        DirectionMode direction =
                network.directions == 1 ? DirectionMode::kUnidirectional : DirectionMode::kBidirectional;
        auto units = static_cast<int32_t>(network.h0.shape()[2]);
        cudnn::Check(cudnn::Find()->SetRNNDescriptor_v8(
                rnn_.get(), cudnn::RnnAlgorithm::kStandard, GetCellMode(network.kind), cudnn::BiasMode::kDouble,
                direction, cudnn::InputMode::kLinear, type_, type_, GetMathType(network.x.dtype()),
                static_cast<int32_t>(network.x.shape()[1]), units, units, static_cast<int32_t>(network.layers),
                dropout_.get(), 0));
    }

    size_t CountWeightBytes() const {
        size_t size{};
        dnn_.Call(&Functions::GetRNNWeightSpaceSize, rnn_.get(), &size);
        return size;
    }
    size_t CountReserveBytes() const { return GetSizes(ForwardMode::kTraining).second; }

    void Forward(const std::vector<Array>& ws, const std::vector<Array>& bs, const Array& h, const Array& c) const {
        const FusedRnn& n = network_;
        ForParameters(n.weights, [&](size_t i, void* matrix, void* bias) {
            Copy(ws[i].raw_data(), matrix, ws[i]);
            Copy(bs[i].raw_data(), bias, bs[i]);
        });
        ForwardMode mode = n.reserve ? ForwardMode::kTraining : ForwardMode::kInference;
        size_t workspace_size = GetSizes(mode).first;
        StoragePtr workspace = Allocate(workspace_size);
        dnn_.Call(&Functions::RNNForward, rnn_.get(), mode, nullptr, x_.get(), Data(n.x), y_.get(), Data(n.y),
                  states_.get(), Data(n.h0), Data(h), states_.get(), Data(n.c0), Data(c), Bytes(n.weights),
                  Data(n.weights), workspace_size, workspace->data(), Bytes(n.reserve), Data(n.reserve));
    }

    void Backward(const FusedRnnGrads& grads, const std::vector<Array>& gws, const std::vector<Array>& gbs) const {
        const FusedRnn& n = network_;
        // cuDNN writes there, but there may be further backward passes.
        Array reserve = Empty(n.reserve.shape(), n.reserve.dtype(), n.reserve.device());
        Copy(n.reserve.raw_data(), reserve.raw_data(), reserve);
        Array gy = grads.gy ? grads.gy : FilledArray(n.y.shape(), Scalar{0}, n.y.dtype(), n.y.device());
        Array gweights = FilledArray(n.weights.shape(), Scalar{0}, n.weights.dtype(), n.weights.device());
        size_t workspace_size = GetSizes(ForwardMode::kTraining).first;
        StoragePtr workspace = Allocate(workspace_size);
        dnn_.Call(&Functions::RNNBackwardData_v8, rnn_.get(), nullptr, y_.get(), Data(n.y), Data(gy), x_.get(),
                  Data(grads.gx), states_.get(), Data(n.h0), Data(grads.gh), Data(grads.gh0), states_.get(), Data(n.c0),
                  Data(grads.gc), Data(grads.gc0), Bytes(n.weights), Data(n.weights), workspace_size, workspace->data(),
                  Bytes(reserve), Data(reserve));
        dnn_.Call(&Functions::RNNBackwardWeights_v8, rnn_.get(), cudnn::WeightGradMode::kAdd, nullptr, x_.get(),
                  Data(n.x), states_.get(), Data(n.h0), y_.get(), Data(n.y), Bytes(gweights), Data(gweights),
                  workspace_size, workspace->data(), Bytes(reserve), Data(reserve));
        ForParameters(gweights, [&](size_t i, const void* matrix, const void* bias) {
            Copy(matrix, gws[i].raw_data(), gws[i]);
            Copy(bias, gbs[i].raw_data(), gbs[i]);
        });
    }

private:
    // No array has no data.
    static void* Data(const Array& a) { return a ? a.raw_data() : nullptr; }
    static size_t Bytes(const Array& a) { return a ? static_cast<size_t>(a.GetTotalSize()) : 0; }

    StoragePtr Allocate(size_t bytes) const { return network_.x.device().Allocate(bytes); }

    void Copy(const void* from, void* to, const Array& a) const {
        auto size = static_cast<size_t>(a.GetTotalSize() * GetItemSize(a.dtype()));
        Check(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, dnn_.stream()), kName);
    }

    // Of the workspace and the reserve.
    std::pair<size_t, size_t> GetSizes(ForwardMode mode) const {
        size_t workspace{};
        size_t reserve{};
        dnn_.Call(&Functions::GetRNNTempSpaceSizes, rnn_.get(), mode, x_.get(), &workspace, &reserve);
        return {workspace, reserve};
    }

    // Calls f(index, matrix, bias) with the places that cuDNN gives parameters in the memory of all.
    template <class F>
    void ForParameters(const Array& memory, F&& f) const {
        auto gates = static_cast<int32_t>(2 * CountGates(network_.kind));
        auto cells = static_cast<int32_t>(network_.layers * network_.directions);
        UnsetTensorDescriptor matrix_desc;
        UnsetTensorDescriptor bias_desc;
        size_t i = 0;
        for (int32_t cell = 0; cell < cells; ++cell) {
            for (int32_t gate = 0; gate < gates; ++gate) {
                void* matrix{};
                void* bias{};
                dnn_.Call(&Functions::GetRNNWeightParams, rnn_.get(), cell, Bytes(memory), Data(memory), gate,
                          matrix_desc.get(), &matrix, bias_desc.get(), &bias);
                f(i++, matrix, bias);
            }
        }
    }

    const FusedRnn& network_;
    const Dnn& dnn_;
    DataType type_;
    RowsDescriptor x_;
    RowsDescriptor y_;
    TensorDescriptor states_;
    DropoutDescriptor dropout_;
    RnnDescriptor rnn_;
};

// Nothing if cuDNN is not there, not to be used or cannot do it.
std::optional<FusedRnnSizes> AskForSizes(const FusedRnn& network) {
    std::optional<FusedRnnSizes> sizes;
    TryDnn(kName, network.x.device(), [&](const Dnn& dnn) {
        Plan plan{network, dnn};
        sizes = FusedRnnSizes{static_cast<int64_t>(plan.CountWeightBytes()),
                              static_cast<int64_t>(plan.CountReserveBytes())};
    });
    return sizes;
}

// Whether cuDNN has been seen to compute networks of this kind and dtype as layers do.
bool IsTrusted(const FusedRnn& network) {
    using Key = std::tuple<int, RnnKind, Dtype, ComputeMode>;  // with the device
    static auto* trust = new Trust<Key>;
    Device& device = network.x.device();
    Dtype dtype = network.x.dtype();
    auto compare = [&] {
        bool is_right = internal::IsFusedRnnRight(network.kind, dtype, device, AskForSizes);
        return is_right ? Verdict::kSame : Verdict::kDifferent;
    };
    auto warn = [dtype] {
        if (g_warn_of_dnn == nullptr) return;
        g_warn_of_dnn(internal::Concat("cuDNN does not compute recurrent networks in ", GetDtypeName(dtype),
                                       " as the kernels of ChainerX do, which take its place"));
    };
    return trust->Ask(Key{device.index(), network.kind, dtype, GetComputeMode()}, device, compare, warn);
}

std::optional<FusedRnnSizes> FindSizes(const FusedRnn& network) {
    // Its products may differ from run to run.
    if (GetDnnSettings().deterministic) return std::nullopt;
    // It takes no sequences without steps.
    if (network.lengths.empty() || network.lengths.front() != network.h0.shape()[1]) return std::nullopt;
    if (network.x.shape()[1] == 0 || network.h0.shape()[2] == 0) return std::nullopt;
    std::optional<FusedRnnSizes> sizes = AskForSizes(network);
    return sizes && IsTrusted(network) ? sizes : std::nullopt;
}

// Calls f(plan). The settings were asked for the sizes; from then on only cuDNN knows what is in the memory.
template <class F>
void WithPlan(const FusedRnn& network, F&& f) {
    const Device& device = network.x.device();
    CurrentDevice current{device};
    try {
        Dnn dnn{current, device.index(), GetDnnSettings()};
        f(Plan{network, dnn});
    } catch (const cudnn::Failure& failure) {
        cudnn::ThrowError(failure, kName);
    }
}

void Forward(const FusedRnn& network, const std::vector<Array>& ws, const std::vector<Array>& bs, const Array& h,
             const Array& c) {
    WithPlan(network, [&](const Plan& plan) { plan.Forward(ws, bs, h, c); });
}

void Backward(const FusedRnn& network, const FusedRnnGrads& grads, const std::vector<Array>& gws,
              const std::vector<Array>& gbs) {
    WithPlan(network, [&](const Plan& plan) { plan.Backward(grads, gws, gbs); });
}

}  // namespace

const CudaKernels g_fused_rnn_kernels{[](Backend& backend) {
    kFusedRnnSizesKernel.Register(backend, &FindSizes);
    kFusedRnnKernel.Register(backend, &Forward);
    kFusedRnnGradKernel.Register(backend, &Backward);
}};

}  // namespace chainerx::cuda
