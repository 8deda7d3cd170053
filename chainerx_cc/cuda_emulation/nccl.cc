// The functions of NCCL that the CUDA backend loads: libnccl.so.2. Members send arrays over sockets to the first one,
// which combines them. Unlike NCCL's, calls return when that is done.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "chainerx/core/compute_type.h"
#include "cuda_runtime.h"

namespace {

enum Result { kSuccess = 0, kSystemError = 2, kInvalidArgument = 4 };
enum Type {
    kInt8 = 0,
    kUInt8 = 1,
    kInt32 = 2,
    kUInt32 = 3,
    kInt64 = 4,
    kUInt64 = 5,
    kFloat16 = 6,
    kFloat32 = 7,
    kFloat64 = 8,
    kBfloat16 = 9
};

// The path of the first member's socket.
struct Id {
    char path[128];
};

struct Communicator {
    int device;
    int rank;
    std::vector<int> sockets;  // to the others, by rank; only the first member has more than that to the first
};

using Bytes = std::vector<char>;

bool Send(int socket, const void* data, size_t size) {
    const char* p = static_cast<const char*>(data);
    while (size != 0) {
        ssize_t n = send(socket, p, size, MSG_NOSIGNAL);
        if (n <= 0) return false;
        p += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

bool Receive(int socket, void* data, size_t size) {
    char* p = static_cast<char*>(data);
    while (size != 0) {
        ssize_t n = recv(socket, p, size, 0);
        if (n <= 0) return false;
        p += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

size_t SizeOf(int type) {
    if (type == kInt8 || type == kUInt8) return 1;
    if (type == kFloat16 || type == kBfloat16) return 2;
    return type == kInt64 || type == kUInt64 || type == kFloat64 ? 8 : 4;
}

template <class T>
void AddAs(Bytes* to, const Bytes& from) {
    using C = typename chainerx::ComputeType<T>::type;
    T* a = reinterpret_cast<T*>(to->data());
    const T* b = reinterpret_cast<const T*>(from.data());
    for (size_t i = 0; i < to->size() / sizeof(T); ++i)
        a[i] = static_cast<T>(static_cast<C>(a[i]) + static_cast<C>(b[i]));
}

void Add(int type, Bytes* to, const Bytes& from) {
    switch (type) {
        case kInt8:
            return AddAs<int8_t>(to, from);
        case kUInt8:
            return AddAs<uint8_t>(to, from);
        case kInt32:
            return AddAs<int32_t>(to, from);
        case kUInt32:
            return AddAs<uint32_t>(to, from);
        case kInt64:
            return AddAs<int64_t>(to, from);
        case kUInt64:
            return AddAs<uint64_t>(to, from);
        case kFloat16:
            return AddAs<chainerx::Float16>(to, from);
        case kBfloat16:
            return AddAs<chainerx::Bfloat16>(to, from);
        case kFloat32:
            return AddAs<float>(to, from);
        default:
            return AddAs<double>(to, from);
    }
}

// The first member combines the arrays of all by combine(all, next, rank) and sends the result to all.
template <class F>
int Exchange(Communicator* c, const void* from, void* to, size_t count, int type, cudaStream_t stream, F&& combine) {
    int device = -1;
    cudaGetDevice(&device);
    if (device != c->device) return kInvalidArgument;
    Bytes own(count * SizeOf(type));
    cudaMemcpyAsync(own.data(), from, own.size(), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    if (c->rank != 0) {
        if (!Send(c->sockets[0], own.data(), own.size()) || !Receive(c->sockets[0], own.data(), own.size())) {
            return kSystemError;
        }
    } else {
        Bytes next(own.size());
        for (size_t i = 1; i < c->sockets.size(); ++i) {
            if (!Receive(c->sockets[i], next.data(), next.size())) return kSystemError;
            combine(&own, next, static_cast<int>(i));
        }
        for (size_t i = 1; i < c->sockets.size(); ++i) {
            if (!Send(c->sockets[i], own.data(), own.size())) return kSystemError;
        }
    }
    if (to != nullptr) {
        cudaMemcpyAsync(to, own.data(), own.size(), cudaMemcpyHostToDevice, stream);
        cudaStreamSynchronize(stream);
    }
    return kSuccess;
}

}  // namespace

extern "C" {

const char* ncclGetErrorString(int result) {
    return result == kSystemError ? "unhandled system error" : "invalid argument";
}

int ncclGetUniqueId(Id* id) {
    char folder[] = "/tmp/ncclXXXXXX";
    if (mkdtemp(folder) == nullptr) return kSystemError;
    *id = {};
    (std::string{folder} + "/socket").copy(id->path, sizeof(id->path) - 1);
    return kSuccess;
}

int ncclCommInitRank(Communicator** result, int size, Id id, int rank) {
    auto* c = new Communicator{0, rank, std::vector<int>(static_cast<size_t>(rank == 0 ? size : 1), -1)};
    cudaGetDevice(&c->device);
    *result = c;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, id.path, std::min(sizeof(address.sun_path), sizeof(id.path)) - 1);
    auto* where = reinterpret_cast<sockaddr*>(&address);
    int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (rank != 0) {
        int tries = 0;
        while (connect(own, where, sizeof(address)) != 0) {
            if (++tries == 3000) return kSystemError;
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        c->sockets[0] = own;
        return Send(own, &rank, sizeof(rank)) ? kSuccess : kSystemError;
    }
    if (bind(own, where, sizeof(address)) != 0 || listen(own, size) != 0) return kSystemError;
    for (int i = 1; i < size; ++i) {
        int other = accept(own, nullptr, nullptr);
        int its_rank = 0;
        if (other < 0 || !Receive(other, &its_rank, sizeof(its_rank))) return kSystemError;
        c->sockets[static_cast<size_t>(its_rank)] = other;
    }
    close(own);
    std::string path{id.path};
    unlink(path.c_str());
    rmdir(path.substr(0, path.rfind('/')).c_str());
    return kSuccess;
}

int ncclCommDestroy(Communicator* c) {
    for (int socket : c->sockets) {
        if (socket >= 0) close(socket);
    }
    delete c;
    return kSuccess;
}

int ncclAllReduce(const void* from, void* to, size_t count, int type, int, Communicator* c, cudaStream_t stream) {
    return Exchange(c, from, to, count, type, stream,
                    [type](Bytes* all, const Bytes& next, int) { Add(type, all, next); });
}

int ncclReduce(const void* from, void* to, size_t count, int type, int, int root, Communicator* c,
               cudaStream_t stream) {
    return Exchange(c, from, c->rank == root ? to : nullptr, count, type, stream,
                    [type](Bytes* all, const Bytes& next, int) { Add(type, all, next); });
}

int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, Communicator* c, cudaStream_t stream) {
    return Exchange(c, from, to, count, type, stream, [root](Bytes* all, const Bytes& next, int rank) {
        if (rank == root) *all = next;
    });
}

}  // extern "C"
