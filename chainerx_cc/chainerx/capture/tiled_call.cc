#include "chainerx/capture/tiled_call.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"

namespace chainerx {
namespace {

// Elements of a tile: the tiles of some arrays fit into a cache of 256 KiB.
constexpr int64_t kTile = 8192;

// The elements of an array in one tile after the other.
class ArrayTile {
public:
    // Of contiguous memory: of all elements, or of one tile that all have in turn.
    ArrayTile(const Array& array, const StoragePtr& storage, char* data, bool is_whole)
        : array_{internal::MakeArray(Shape{kTile}, Strides{array.GetItemSize()}, array.dtype(), array.device(), storage,
                                     0)},
          data_{data},
          step_{is_whole ? array.GetItemSize() : 0} {}
    void Set(int64_t begin, int64_t size) {
        ArrayBody& body = *array_.body();
        body.shape[0] = body.size = size;
        body.data = data_ + begin * step_;
    }
    const Array& array() const { return array_; }

private:
    Array array_;
    char* data_;
    int64_t step_;
};

bool IsSamePlace(const Array& a, const Array& b) { return a.offset() == b.offset() && a.dtype() == b.dtype(); }

bool Overlap(const Array& a, const Array& b) {
    return a.raw_data() < b.raw_data() + b.GetNBytes() && b.raw_data() < a.raw_data() + a.GetNBytes();
}

// Shows another visitor what a predicate does not leave out.
template <class F>
class FilteredVisitor final : public ArgumentVisitor {
public:
    FilteredVisitor(ArgumentVisitor& visitor, F is_left_out)
        : visitor_{visitor}, is_left_out_{std::move(is_left_out)} {}
    void Visit(Array& array) override {
        if (array && !is_left_out_(array)) visitor_.Visit(array);
    }
    void Visit(RandomStream& stream) override { visitor_.Visit(stream); }
    void Visit(std::vector<double>& scalars) override { visitor_.Visit(scalars); }

private:
    ArgumentVisitor& visitor_;
    F is_left_out_;
};

}  // namespace

bool TiledCall::CanRunOn(Device& device) { return device.backend().FindKernel(kParallelForKernel) != nullptr; }

bool TiledCall::Group::Add(const KernelCall& call) {
    std::optional<TileStep> step = FindTileStep(call);
    if (!step.has_value() || !Fits(*step) || !MayWrite(*step)) return false;
    size_ = step->arrays[0]->GetTotalSize();
    for (const Array* a : step->arrays) arrays_.try_emplace(a->body()->storage.get(), *a);
    return true;
}

bool TiledCall::Group::Fits(const TileStep& step) const {
    int64_t size = step.arrays[0]->GetTotalSize();
    if (size < kMinSize || (size_ != 0 && size != size_)) return false;
    bool is_connected = arrays_.empty();
    std::unordered_map<const Storage*, const Array*> own;
    for (const Array* a : step.arrays) {
        const Storage* storage = a->body()->storage.get();
        if (!a->IsContiguous() || a->GetTotalSize() != size) return false;
        // Views that differ may overlap.
        if (!IsSamePlace(*own.try_emplace(storage, a).first->second, *a)) return false;
        auto it = arrays_.find(storage);
        if (it == arrays_.end()) continue;
        if (!IsSamePlace(it->second, *a)) return false;
        is_connected = true;
    }
    return is_connected;
}

// Whether no other array of the group shares the memory that a step writes. Held memory is at the same address in all
// runs. Other memory may be anywhere, in held memory, too.
bool TiledCall::Group::MayWrite(const TileStep& step) {
    std::vector<const Array*> held = held_;
    bool writes_held = writes_held_;
    bool has_other = has_other_;
    for (size_t k = 0; k < step.arrays.size(); ++k) {
        const Array* a = step.arrays[k];
        FusedMemory memory = get_memory_(*a);
        if (memory == FusedMemory::kOther) {
            if (step.is_written[k]) return false;
            has_other = true;
        } else if (memory == FusedMemory::kHeld) {
            writes_held |= step.is_written[k];
            held.push_back(a);
        }
    }
    if (writes_held) {
        if (has_other) return false;
        for (const Array* a : held) {
            for (const Array* b : held) {
                if (a->body()->storage.get() != b->body()->storage.get() && Overlap(*a, *b)) return false;
            }
        }
    }
    held_ = std::move(held);
    writes_held_ = writes_held;
    has_other_ = has_other;
    return true;
}

TiledCall::TiledCall(std::vector<std::unique_ptr<KernelCall>> calls,
                     const std::function<bool(const Array&)>& is_temporary)
    : KernelCall{calls.back()->slot()}, calls_{std::move(calls)} {
    for (const std::unique_ptr<KernelCall>& call : calls_) {
        steps_.push_back(*FindTileStep(*call));
        for (const Array* a : steps_.back().arrays) {
            if (is_temporary(*a)) temporaries_.try_emplace(a->body()->storage.get(), nullptr);
        }
    }
    ReleaseTemporaries();
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
    FilteredVisitor others{visitor, [&](const Array& a) { return temporaries_.count(a.body()->storage.get()) != 0; }};
    for (const std::unique_ptr<KernelCall>& call : calls_) call->Accept(others);
}

std::string TiledCall::GetName() const {
    std::string name;
    for (const std::unique_ptr<KernelCall>& call : calls_) name += (name.empty() ? "" : "+") + call->GetName();
    return name;
}

void TiledCall::Run() const {
    const Array& a = *steps_[0].arrays[0];
    kParallelForKernel(a.device(), a.GetTotalSize(), kMinSize,
                       [this](int64_t begin, int64_t end) { RunRange(begin, end); });
}

void TiledCall::RunRange(int64_t begin, int64_t end) const {
    std::unordered_map<const Storage*, StoragePtr> memory;
    std::vector<std::vector<ArrayTile>> tiles;
    std::vector<std::vector<const Array*>> parts;
    for (const TileStep& step : steps_) {
        std::vector<ArrayTile>& own = tiles.emplace_back();
        for (const Array* a : step.arrays) {
            const StoragePtr& whole = a->body()->storage;
            if (temporaries_.count(whole.get()) == 0) {
                own.emplace_back(*a, whole, a->raw_data(), true);
                continue;
            }
            StoragePtr& block = memory[whole.get()];
            if (!block) block = a->device().Allocate(kTile * a->GetItemSize());
            own.emplace_back(*a, block, static_cast<char*>(block->data()), false);
        }
        std::vector<const Array*>& part = parts.emplace_back();
        for (const ArrayTile& tile : own) part.push_back(&tile.array());
    }
    for (int64_t i = begin; i < end; i += kTile) {
        int64_t size = std::min(kTile, end - i);
        for (size_t k = 0; k < steps_.size(); ++k) {
            for (ArrayTile& tile : tiles[k]) tile.Set(i, size);
            steps_[k].run(parts[k]);
        }
    }
}

}  // namespace chainerx
