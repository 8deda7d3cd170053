#include "chainerx/capture/tiled_call.h"

#include <algorithm>
#include <utility>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/core/backend.h"

namespace chainerx {
namespace {

// Elements of a tile: the tiles of some arrays fit into a cache of 256 KiB.
constexpr int64_t kTile = 8192;
// Smaller arrays stay in the cache anyway.
constexpr int64_t kMinSize = 4 * kTile;

// The elements of an array in one tile after the other.
class Tile {
public:
    // Of contiguous memory.
    Tile(const Array& whole, const StoragePtr& storage, char* data)
        : array_{internal::MakeArray(Shape{kTile}, Strides{whole.GetItemSize()}, whole.dtype(), whole.device(), storage,
                                     0)},
          data_{data} {}
    void Set(int64_t begin, int64_t size) {
        ArrayBody& body = *array_.body();
        body.shape[0] = body.size = size;
        body.data = data_ + begin * array_.GetItemSize();
    }
    const Array& array() const { return array_; }

private:
    Array array_;
    char* data_;
};

}  // namespace

bool TiledCall::Group::Fits(const ElementwiseCall& call) const {
    int64_t size = call.out->GetTotalSize();
    if (size < kMinSize || (size_ != 0 && size != size_)) return false;
    bool is_connected = arrays_.empty();
    for (int k = 0; k <= call.n_inputs; ++k) {
        const Array* a = OperandOf(call, k);
        if (a == nullptr) continue;
        if (!a->IsContiguous() || a->GetTotalSize() != size) return false;
        auto it = arrays_.find(a->body()->storage.get());
        if (it == arrays_.end()) continue;
        if (it->second.offset() != a->offset() || it->second.dtype() != a->dtype()) return false;
        is_connected = true;
    }
    for (int k = 1; k <= call.n_inputs; ++k) {  // views that differ may overlap
        for (int j = 0; j < k; ++j) {
            const Array* a = OperandOf(call, k);
            const Array* b = OperandOf(call, j);
            if (a == nullptr || b == nullptr || a->body()->storage.get() != b->body()->storage.get()) continue;
            if (a->offset() != b->offset() || a->dtype() != b->dtype()) return false;
        }
    }
    return is_connected;
}

void TiledCall::Group::Add(const KernelCall& call) {
    const auto* elementwise = call.Find<ElementwiseCall>();
    size_ = elementwise->out->GetTotalSize();
    for (int k = 0; k <= elementwise->n_inputs; ++k) {
        const Array* a = OperandOf(*elementwise, k);
        if (a != nullptr) arrays_.try_emplace(a->body()->storage.get(), *a);
    }
}

void TiledCall::ReleaseTemporaries() {
    std::unordered_map<const Storage*, StoragePtr> released;
    CallVisitor visitor{[&](Array& a) {
        auto it = temporaries_.find(a.body()->storage.get());
        if (it == temporaries_.end()) return;
        if (!it->second) it->second = a.device().Allocate(1);
        a = internal::MakeArray(a.shape(), a.strides(), a.dtype(), a.device(), it->second, 0);
        released.try_emplace(a.body()->storage.get(), it->second);
    }};
    for (const std::unique_ptr<KernelCall>& call : calls_) call->Accept(visitor);
    temporaries_ = std::move(released);
}

void TiledCall::Accept(ArgumentVisitor& visitor) {
    CallVisitor others{[&](Array& a) {
        if (temporaries_.count(a.body()->storage.get()) == 0) visitor.Visit(a);
    }};
    for (const std::unique_ptr<KernelCall>& call : calls_) call->Accept(others);
}

std::string TiledCall::GetName() const {
    std::string name;
    for (const std::unique_ptr<KernelCall>& call : calls_) name += (name.empty() ? "" : "+") + call->GetName();
    return name;
}

void TiledCall::Run() const {
    const Array& out = *calls_[0]->Find<ElementwiseCall>()->out;
    kParallelForKernel(out.device(), out.GetTotalSize(), kMinSize,
                       [this](int64_t begin, int64_t end) { RunRange(begin, end); });
}

void TiledCall::RunRange(int64_t begin, int64_t end) const {
    std::unordered_map<const Storage*, StoragePtr> memory;
    std::vector<Tile> tiles;
    std::vector<ElementwiseCall> parts;
    tiles.reserve(calls_.size() * (1 + kMaxElementwiseInputs));
    std::vector<int64_t> starts;  // whether a tile lies in the whole array, or the array is a tile
    for (const std::unique_ptr<KernelCall>& call : calls_) {
        const auto& whole = *call->Find<ElementwiseCall>();
        ElementwiseCall& part = parts.emplace_back(whole);
        for (int k = 0; k <= whole.n_inputs; ++k) {
            const Array* a = OperandOf(whole, k);
            if (a == nullptr) continue;
            StoragePtr storage = a->body()->storage;
            bool is_temporary = temporaries_.count(storage.get()) != 0;
            if (is_temporary) {
                StoragePtr& block = memory[storage.get()];
                if (!block) block = a->device().Allocate(kTile * a->GetItemSize());
                storage = block;
            }
            tiles.emplace_back(*a, storage, is_temporary ? static_cast<char*>(storage->data()) : a->raw_data());
            starts.push_back(is_temporary ? 0 : 1);
            (k == 0 ? part.out : part.in[k - 1]) = &tiles.back().array();
        }
    }
    for (int64_t i = begin; i < end; i += kTile) {
        for (size_t k = 0; k < tiles.size(); ++k) tiles[k].Set(starts[k] * i, std::min(kTile, end - i));
        for (size_t k = 0; k < parts.size(); ++k) {
            static_cast<const ElementwiseKernel&>(calls_[k]->slot())(*parts[k].out->body()->device, parts[k]);
        }
    }
}

}  // namespace chainerx
