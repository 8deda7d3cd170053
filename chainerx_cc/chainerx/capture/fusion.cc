#include "chainerx/capture/fusion.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chainerx/capture/call_uses.h"
#include "chainerx/capture/call_visitor.h"
#include "chainerx/capture/late_gradients.h"
#include "chainerx/capture/parameter_update.h"
#include "chainerx/capture/product_sums.h"
#include "chainerx/capture/tiled_call.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/loss.h"

namespace chainerx {
namespace {

class Fusion {
public:
    Fusion(Recording& recording, std::function<FusedMemory(const Storage&)> get_memory)
        : recording_{recording},
          device_{recording.device},
          calls_{recording.calls},
          segment_ends_{recording.segment_ends},
          get_memory_{std::move(get_memory)},
          uses_{FindUses(calls_)} {}
    void Run();

private:
    using Uses = CallUses::mapped_type;

    void LeaveOutCopies();
    void AddSumsDirectly();
    void WriteInPlace();
    void OverwriteScores();
    void MakeTiles();
    void RemoveGaps();

    std::vector<Array> ArraysOf(size_t call) const { return chainerx::ArraysOf(*calls_[call]); }
    FusedMemory MemoryOf(const Array& a) const { return get_memory_(*a.body()->storage); }
    bool IsNew(const Array& a) const {
        FusedMemory memory = MemoryOf(a);
        return memory == FusedMemory::kScratch || memory == FusedMemory::kResult || memory == FusedMemory::kGradient;
    }
    const Uses& UsesOf(const Array& a) const { return uses_.at(a.body()->storage.get()); }
    // Whether an array whose memory is all of `from` can lie in that of `to`, which the call `i` is the first to use,
    // and the last to use that of `from`.
    bool CanMove(const Array& from, const Array& to, size_t i) const;
    // Lets arrays in the memory of `from` use that of `to`.
    void Move(const Array& from, const Array& to);
    bool EndsSegment(size_t call) const;

    bool AreSumsAdded(const Array& z, size_t i) const;
    // Null if the backend lacks the kernel.
    static std::unique_ptr<KernelCall> MakeSumCall(const KernelCall& add_at, const Array& out);

    Recording& recording_;
    Device& device_;
    KernelCalls& calls_;
    std::vector<size_t>& segment_ends_;
    std::function<FusedMemory(const Storage&)> get_memory_;
    CallUses uses_;
};

void Fusion::Run() {
    LeaveOutCopies();
    if (DelayGradients(recording_, uses_, get_memory_)) uses_ = FindUses(calls_);
    AddSumsDirectly();
    WriteInPlace();
    OverwriteScores();
    MakeTiles();
    RemoveGaps();
}

bool Fusion::CanMove(const Array& from, const Array& to, size_t i) const {
    return MemoryOf(from) == FusedMemory::kScratch && IsNew(to) && IsWhole(from) && IsWhole(to) &&
           from.shape() == to.shape() && from.dtype() == to.dtype() &&
           from.body()->storage.get() != to.body()->storage.get() && UsesOf(from).back() == i &&
           UsesOf(to).front() == i;
}

void Fusion::Move(const Array& from, const Array& to) {
    const Storage* old = from.body()->storage.get();
    const StoragePtr& storage = to.body()->storage;
    CallVisitor visitor{[&](Array& a) {
        if (a.body()->storage.get() != old) return;
        a = internal::MakeArray(a.shape(), a.strides(), a.dtype(), a.device(), storage, a.offset());
    }};
    Uses moved = UsesOf(from);
    Uses& uses = uses_[storage.get()];
    for (size_t i : moved) {
        if (calls_[i] != nullptr) calls_[i]->Accept(visitor);
    }
    Uses all;
    std::set_union(moved.begin(), moved.end(), uses.begin(), uses.end(), std::back_inserter(all));
    uses = std::move(all);
    uses_.erase(old);
}

void Fusion::LeaveOutCopies() {
    for (size_t i = 0; i < calls_.size(); ++i) {
        if (!IsCallOf(calls_[i], kCopyKernel)) continue;
        std::vector<Array> arrays = ArraysOf(i);
        if (!CanMove(arrays[0], arrays[1], i)) continue;
        Move(arrays[0], arrays[1]);
        calls_[i] = nullptr;
        Uses& uses = uses_[arrays[1].body()->storage.get()];
        uses.erase(std::find(uses.begin(), uses.end(), i));
    }
}

// fill(z, 0), add_at(z, indices, b), y = a + z  ->  y = a, with the sums added to it. Adding 0 changes the bits of no
// number but -0, which is no sum that begins with 0: so `a` has to consist of such sums, too.
void Fusion::AddSumsDirectly() {
    std::unordered_set<const Storage*> sums;
    for (size_t i = 0; i < calls_.size(); ++i) {
        if (!IsCallOf(calls_[i], kAddKernel)) continue;
        const auto& call = *calls_[i]->Find<ElementwiseCall>();
        if (call.in[0] == nullptr || call.in[1] == nullptr) continue;
        const Array out = *call.out;
        for (int k = 0; k < 2; ++k) {
            const Array a = *call.in[1 - k];
            const Array z = *call.in[k];
            if (!AreSumsAdded(z, i) || z.shape() != out.shape() || !CanMove(a, out, i)) continue;
            const Uses& uses = UsesOf(a);
            size_t at = UsesOf(z)[1];
            if (uses.size() < 2 || uses[uses.size() - 2] >= at) continue;
            if (sums.count(a.body()->storage.get()) == 0 && !AreSumsAdded(a, i)) continue;
            std::unique_ptr<KernelCall> sum = MakeSumCall(*calls_[at], out);
            if (sum == nullptr) return;
            Move(a, out);
            calls_[UsesOf(z)[0]] = nullptr;
            calls_[i] = nullptr;
            calls_[at] = std::move(sum);
            uses_.erase(z.body()->storage.get());
            Uses& moved = uses_[out.body()->storage.get()];
            *std::find(moved.begin(), moved.end(), i) = at;
            std::sort(moved.begin(), moved.end());
            sums.insert(out.body()->storage.get());
            break;
        }
    }
}

// Whether z is made by fill(z, 0) and add_at(z, indices, b), and used by the call `i` only.
bool Fusion::AreSumsAdded(const Array& z, size_t i) const {
    const Uses& uses = UsesOf(z);
    if (MemoryOf(z) != FusedMemory::kScratch || !IsWhole(z) || uses.size() != 3 || uses[2] != i) return false;
    if (!IsCallOf(calls_[uses[0]], kFillKernel) || !IsCallOf(calls_[uses[1]], kAddAtKernel)) return false;
    auto value = static_cast<double>(*calls_[uses[0]]->Find<Scalar>());
    std::vector<Array> filled = ArraysOf(uses[0]);
    std::vector<Array> added = ArraysOf(uses[1]);
    const Storage* storage = z.body()->storage.get();
    return value == 0 && !std::signbit(value) && IsWhole(filled[0]) && IsWhole(added[0]) &&
           added[0].body()->storage.get() == storage && added[2].body()->storage.get() != storage;
}

std::unique_ptr<KernelCall> Fusion::MakeSumCall(const KernelCall& add_at, const Array& out) {
    using Call = internal::KeptCall<const Array&, const Array&, const TakeGeometry&, const Array&>;
    const KernelSlotBase& slot = kAddSumsAtKernel;
    void* kernel = out.device().backend().FindKernel(slot);
    if (kernel == nullptr) return nullptr;
    std::vector<Array> arrays;
    CallVisitor visitor{[&arrays](const Array& a) { arrays.push_back(a); }};
    const_cast<KernelCall&>(add_at).Accept(visitor);
    return std::make_unique<Call>(
            slot, reinterpret_cast<void (*)(const Array&, const Array&, const TakeGeometry&, const Array&)>(kernel),
            GivenArgument<Array>{out, slot}, GivenArgument<Array>{arrays[1], slot},
            GivenArgument<TakeGeometry>{*add_at.Find<TakeGeometry>(), slot}, GivenArgument<Array>{arrays[2], slot});
}

void Fusion::WriteInPlace() {
    for (size_t i = 0; i < calls_.size(); ++i) {
        const auto* call = calls_[i] == nullptr ? nullptr : calls_[i]->Find<ElementwiseCall>();
        if (call == nullptr) continue;
        const Array out = *call->out;
        for (int k = 0; k < call->n_inputs; ++k) {
            if (call->in[k] == nullptr) continue;
            const Array in = *call->in[k];
            if (!CanMove(in, out, i)) continue;
            std::vector<Array> arrays = ArraysOf(i);
            bool is_read_otherwise = std::any_of(arrays.begin(), arrays.end(), [&in](const Array& a) {
                return a.body()->storage.get() == in.body()->storage.get() && !IsWhole(a);
            });
            if (is_read_otherwise) continue;
            Move(in, out);
            break;
        }
    }
}

// The kernel reads each score before it writes the gradient there.
void Fusion::OverwriteScores() {
    for (size_t i = 0; i < calls_.size(); ++i) {
        if (!IsCallOf(calls_[i], kSoftmaxCrossEntropyGradKernel)) continue;
        std::vector<Array> arrays = ArraysOf(i);
        const Array& scores = arrays.front();
        bool is_alone = std::none_of(arrays.begin() + 1, arrays.end(), [&scores](const Array& a) {
            return a.body()->storage.get() == scores.body()->storage.get();
        });
        if (is_alone && CanMove(scores, arrays.back(), i)) Move(scores, arrays.back());
    }
}

bool Fusion::EndsSegment(size_t call) const {
    return std::find(segment_ends_.begin(), segment_ends_.end(), call + 1) != segment_ends_.end();
}

void Fusion::MakeTiles() {
    if (!TiledCall::CanRunOn(device_)) return;
    for (size_t begin = 0; begin < calls_.size(); ++begin) {
        TiledCall::Group members{[this](const Array& a) { return MemoryOf(a); }};
        size_t end = begin;
        while (end < calls_.size() && calls_[end] != nullptr) {
            if (!members.Add(*calls_[end])) break;
            if (EndsSegment(end++)) break;
        }
        if (end - begin < 2) continue;
        auto is_temporary = [&](const Array& a) {
            return MemoryOf(a) == FusedMemory::kScratch && UsesOf(a).front() >= begin && UsesOf(a).back() < end;
        };
        std::vector<std::unique_ptr<KernelCall>> group;
        for (size_t i = begin; i < end; ++i) group.push_back(std::move(calls_[i]));
        calls_[begin] = std::make_unique<TiledCall>(std::move(group), is_temporary);
        begin = end - 1;
    }
}

void Fusion::RemoveGaps() {
    std::vector<size_t> ends;
    size_t kept = 0;
    size_t next = 0;
    for (size_t i = 0; i <= calls_.size(); ++i) {
        while (next < segment_ends_.size() && segment_ends_[next] == i) {
            ends.push_back(kept);
            ++next;
        }
        if (i < calls_.size() && calls_[i] != nullptr) ++kept;
    }
    segment_ends_ = std::move(ends);
    calls_.erase(std::remove(calls_.begin(), calls_.end(), nullptr), calls_.end());
}

}  // namespace

void FuseCalls(Recording& recording, std::function<FusedMemory(const Storage&)> get_memory) {
    JoinProductSums(recording, get_memory);
    SplitUpdates(recording, get_memory);
    Fusion{recording, std::move(get_memory)}.Run();
}

}  // namespace chainerx
