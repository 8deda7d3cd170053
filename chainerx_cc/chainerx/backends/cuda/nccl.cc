#include "chainerx/backends/cuda/nccl.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/library.h"
#include "chainerx/backends/cuda/nccl_api.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace {

using nccl::Functions;

const Functions& GetFunctions() {
    static const auto* functions = [] {
        // The wheels for CUDA 12 and 13 have it in the same place.
        static Library library{"NCCL", {"nvidia/nccl/lib/libnccl.so.2"}, "nvidia-nccl-cu13"};
        library.Require("groups of GPUs");
        auto* f = new Functions;
#define CHAINERX_NCCL_GET(result, name, parameters) library.Get(f->name, "nccl" #name);
        CHAINERX_NCCL_FUNCTIONS(CHAINERX_NCCL_GET)
#undef CHAINERX_NCCL_GET
        return f;
    }();
    return *functions;
}

void Check(nccl::Result result, const char* what) {
    if (result != nccl::Result::kSuccess) {
        throw DeviceError{"NCCL error in ", what, ": ", GetFunctions().GetErrorString(result)};
    }
}

nccl::Type GetType(Dtype dtype) {
    switch (dtype) {
        case Dtype::kInt8:
            return nccl::Type::kInt8;
        case Dtype::kUInt8:
            return nccl::Type::kUInt8;
        case Dtype::kInt32:
            return nccl::Type::kInt32;
        case Dtype::kInt64:
            return nccl::Type::kInt64;
        case Dtype::kUInt32:
            return nccl::Type::kUInt32;
        case Dtype::kUInt64:
            return nccl::Type::kUInt64;
        case Dtype::kFloat16:
            return nccl::Type::kFloat16;
        case Dtype::kBfloat16:
            return nccl::Type::kBfloat16;
        case Dtype::kFloat32:
            return nccl::Type::kFloat32;
        case Dtype::kFloat64:
            return nccl::Type::kFloat64;
        default:
            throw DtypeError{"groups of GPUs cannot combine arrays of dtype ", dtype};
    }
}

class NcclGroup final : public DeviceGroup {
public:
    NcclGroup(Device& device, int size, const nccl::Id& id, int rank) : device_{device} {
        BlockingScope blocking;
        CurrentDevice current{device};
        Check(GetFunctions().CommInitRank(&communicator_, size, id, rank), "joining a group of GPUs");
        device.AddUser();
    }
    ~NcclGroup() override {
        {
            CurrentDevice current{device_};
            cudaStreamSynchronize(current.stream());
            GetFunctions().CommDestroy(communicator_);
        }
        device_.DropUser();
    }

    void SumToAll(const Array& a) override {
        Call(a, "a sum over GPUs", [&](const Functions& f, nccl::Type type, cudaStream_t stream) {
            return f.AllReduce(a.raw_data(), a.raw_data(), a.GetTotalSize(), type, nccl::Operation::kSum, communicator_,
                               stream);
        });
    }
    void Sum(const Array& a, int root) override {
        Call(a, "a sum over GPUs", [&](const Functions& f, nccl::Type type, cudaStream_t stream) {
            return f.Reduce(a.raw_data(), a.raw_data(), a.GetTotalSize(), type, nccl::Operation::kSum, root,
                            communicator_, stream);
        });
    }
    void Broadcast(const Array& a, int root) override {
        Call(a, "a broadcast between GPUs", [&](const Functions& f, nccl::Type type, cudaStream_t stream) {
            return f.Broadcast(a.raw_data(), a.raw_data(), a.GetTotalSize(), type, root, communicator_, stream);
        });
    }

private:
    template <class F>
    void Call(const Array& a, const char* what, F&& f) {
        if (&a.device() != &device_) {
            throw DeviceError{what, ": the array is on ", a.device().name(), ", not on ", device_.name()};
        }
        if (!a.IsContiguous()) throw ChainerxError{what, ": the array must be contiguous"};
        nccl::Type type = GetType(a.dtype());
        // The first call connects the GPUs.
        BlockingScope blocking;
        CurrentDevice current{device_};
        Check(f(GetFunctions(), type, current.stream()), what);
    }

    Device& device_;
    nccl::Communicator communicator_{};
};

// Names are ids in hexadecimal digits.
std::string MakeName() {
    nccl::Id id;
    Check(GetFunctions().GetUniqueId(&id), "making a group of GPUs");
    std::string name;
    for (char byte : id.bytes) {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(byte));
        name += digits;
    }
    return name;
}

nccl::Id ParseName(const std::string& name) {
    nccl::Id id;
    if (name.size() != 2 * sizeof(id.bytes) || name.find_first_not_of("0123456789abcdef") != std::string::npos) {
        throw ValueError{"'", name, "' is not the name of a group of GPUs"};
    }
    for (size_t i = 0; i < sizeof(id.bytes); ++i) {
        id.bytes[i] = static_cast<char>(std::strtol(name.substr(2 * i, 2).c_str(), nullptr, 16));
    }
    return id;
}

std::shared_ptr<DeviceGroup> Join(Device& device, int size, const std::string& name, int rank) {
    if (rank < 0 || rank >= size) throw ValueError{"rank ", rank, " is not below the size ", size, " of the group"};
    return std::make_shared<NcclGroup>(device, size, ParseName(name), rank);
}

}  // namespace

const DeviceGroupFunctions g_nccl_groups{&MakeName, &Join};

}  // namespace chainerx::cuda
