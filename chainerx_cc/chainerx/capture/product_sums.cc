#include "chainerx/capture/product_sums.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "chainerx/capture/call_uses.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/linalg.h"

namespace chainerx {
namespace {

// Longer sums of products take so long that additions hardly count.
constexpr int64_t kMaxInner = 32;
// Smaller results stay in the cache anyway.
constexpr int64_t kMinSize = 32768;

class ProductSums {
public:
    ProductSums(Recording& recording, const std::function<FusedMemory(const Storage&)>& get_memory)
        : calls_{recording.calls}, segment_ends_{recording.segment_ends}, get_memory_{get_memory} {}

    void Join(void* kernel) {
        for (size_t i = calls_.size(); i-- > 0;) {
            std::vector<size_t> additions = FindAdditions(i);
            if (!additions.empty() && CanWait(i)) Replace(kernel, additions);
        }
    }

private:
    // The additions of a sum of products, the last one first, which is the call `last`; none if it ends no such sum.
    // Leaves its products in `products_`, in reverse order.
    std::vector<size_t> FindAdditions(size_t last) {
        products_.clear();
        std::vector<size_t> additions;
        if (!IsCallOf(calls_[last], kAddKernel)) return {};
        const Array out = *calls_[last]->Find<ElementwiseCall>()->out;
        if (out.ndim() != 2 || !out.IsContiguous() || out.GetTotalSize() < kMinSize) return {};
        if (uses_.empty()) uses_ = FindUses(calls_);
        for (size_t i = last; !IsProduct(i, out.shape());) {
            if (!IsCallOf(calls_[i], kAddKernel)) return {};
            const auto& add = *calls_[i]->Find<ElementwiseCall>();
            std::optional<size_t> sum = MakerOf(add.in[0], i);
            std::optional<size_t> term = MakerOf(add.in[1], i);
            if (!sum.has_value() || !term.has_value()) return {};
            if (*term < *sum) std::swap(sum, term);  // the order of the program, as additions commute
            if (!IsProduct(*term, out.shape())) std::swap(sum, term);
            if (!IsProduct(*term, out.shape())) return {};
            additions.push_back(i);
            products_.push_back(*term);
            i = *sum;
            if (IsProduct(i, out.shape())) products_.push_back(i);
        }
        return additions;
    }

    // The call that makes an array that the call `user` alone reads.
    std::optional<size_t> MakerOf(const Array* a, size_t user) const {
        if (a == nullptr || !IsWhole(*a) || get_memory_(*a->body()->storage) != FusedMemory::kScratch) return {};
        const std::vector<size_t>& uses = uses_.at(a->body()->storage.get());
        if (uses.size() != 2 || uses[1] != user) return {};
        return uses[0];
    }

    bool IsProduct(size_t call, const Shape& shape) const {
        if (!IsCallOf(calls_[call], kMatmulKernel) || *calls_[call]->Find<double>() != 0) return false;
        std::vector<Array> arrays = ArraysOf(*calls_[call]);
        Dtype dtype = arrays[2].dtype();
        return arrays[2].shape() == shape && IsWhole(arrays[2]) && arrays[0].shape()[1] <= kMaxInner &&
               (dtype == Dtype::kFloat32 || dtype == Dtype::kFloat64);
    }

    // Whether products can be computed at the call `last`: whether their operands are what they were.
    bool CanWait(size_t last) const {
        auto first = *std::min_element(products_.begin(), products_.end());
        if (std::any_of(segment_ends_.begin(), segment_ends_.end(),
                        [=](size_t end) { return first < end && end <= last; })) {
            return false;
        }
        return std::all_of(products_.begin(), products_.end(), [&](size_t product) {
            std::vector<Array> arrays = ArraysOf(*calls_[product]);
            return std::all_of(arrays.begin(), arrays.begin() + 2, [&](const Array& a) {
                return IsUnchanged(calls_, uses_, *a.body()->storage, product, last + 1);
            });
        });
    }

    void Replace(void* kernel, const std::vector<size_t>& additions) {
        std::vector<Array> a;
        std::vector<Array> b;
        std::reverse(products_.begin(), products_.end());
        for (size_t i : products_) {
            std::vector<Array> arrays = ArraysOf(*calls_[i]);
            a.push_back(arrays[0]);
            b.push_back(arrays[1]);
            calls_[i] = nullptr;
        }
        Array out = *calls_[additions[0]]->Find<ElementwiseCall>()->out;
        for (size_t i : additions) calls_[i] = nullptr;
        using Call = internal::KeptCall<const std::vector<Array>&, const std::vector<Array>&, const Array&>;
        const KernelSlotBase& slot = kMatmulSumKernel;
        auto* fn =
                reinterpret_cast<void (*)(const std::vector<Array>&, const std::vector<Array>&, const Array&)>(kernel);
        calls_[additions[0]] =
                std::make_unique<Call>(slot, fn, GivenArgument<std::vector<Array>>{a, slot},
                                       GivenArgument<std::vector<Array>>{b, slot}, GivenArgument<Array>{out, slot});
        uses_ = FindUses(calls_);
    }

    KernelCalls& calls_;
    const std::vector<size_t>& segment_ends_;
    const std::function<FusedMemory(const Storage&)>& get_memory_;
    CallUses uses_;  // found where an addition may end a sum, which most recordings lack
    std::vector<size_t> products_;
};

}  // namespace

void JoinProductSums(Recording& recording, const std::function<FusedMemory(const Storage&)>& get_memory) {
    void* kernel = recording.device.backend().FindKernel(kMatmulSumKernel);
    if (kernel != nullptr) ProductSums{recording, get_memory}.Join(kernel);
}

}  // namespace chainerx
