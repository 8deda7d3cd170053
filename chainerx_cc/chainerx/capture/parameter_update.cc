#include "chainerx/capture/parameter_update.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "chainerx/capture/call_uses.h"
#include "chainerx/capture/tiled_call.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/optimizer.h"

namespace chainerx {
namespace {

const UpdateRule* FindRule(const KernelSlotBase& slot) {
#define CHAINERX_RETURN_RULE(Rule, name, n_states, n_scalars, doc) \
    if (slot == k##Rule##Update) return &k##Rule##Update;
    CHAINERX_UPDATE_RULES(CHAINERX_RETURN_RULE)
#undef CHAINERX_RETURN_RULE
    return nullptr;
}

// Finds the casts around updates first, and then moves them, as it asks all calls for their arrays.
class UpdateSplitter {
public:
    UpdateSplitter(Recording& recording, const std::function<FusedMemory(const Storage&)>& get_memory)
        : recording_{recording}, calls_{recording.calls}, get_memory_{get_memory}, uses_{FindUses(calls_)} {}

    void Run() {
        for (size_t i = 0; i < calls_.size(); ++i) {
            const UpdateRule* rule = calls_[i] == nullptr ? nullptr : FindRule(calls_[i]->slot());
            if (rule != nullptr) FindParts(*rule, i);
        }
        if (!parts_.empty()) ReplaceCalls();
    }

private:
    // The update of some parameters. That of one parameter has the calls of the casts around it.
    struct Part {
        std::unique_ptr<ParameterUpdate> update;
        std::optional<size_t> gradient_cast;
        std::optional<size_t> parameter_cast;
    };

    // Leaves the parts of the call `i` in `parts_`, if there is a part of one parameter.
    void FindParts(const UpdateRule& rule, size_t i) {
        std::vector<Array> all = ArraysOf(*calls_[i]);
        size_t count = all.size() / static_cast<size_t>(rule.width());
        const KernelSlotBase& slot = calls_[i]->slot();
        auto kernel = reinterpret_cast<ParameterUpdate::Kernel>(recording_.device.backend().FindKernel(slot));
        auto scalars = std::make_shared<std::vector<double>>(*calls_[i]->Find<std::vector<double>>());
        std::vector<Part> parts;
        auto make_update = [&](const std::vector<size_t>& params) {
            std::vector<Array> arrays;
            for (size_t k = 0; k < all.size(); k += count) {
                for (size_t j : params) arrays.push_back(all[k + j]);
            }
            return std::make_unique<ParameterUpdate>(slot, kernel, scalars, parts.empty(), std::move(arrays));
        };
        std::vector<size_t> others;
        for (size_t j = 0; j < count; ++j) {
            Part part{make_update({j}), FindGradientCast(all[count + j], i), FindParameterCast(all[j], i)};
            if (CanRunInTiles(part)) {
                parts.push_back(std::move(part));
            } else {
                others.push_back(j);
            }
        }
        if (parts.empty()) return;
        if (!others.empty()) parts.push_back({make_update(others), {}, {}});
        parts_.emplace(i, std::move(parts));
    }

    bool CanRunInTiles(const Part& part) const {
        if (!part.gradient_cast.has_value() || !part.parameter_cast.has_value()) return false;
        TiledCall::Group group{[this](const Array& a) { return get_memory_(*a.body()->storage); }};
        return group.Add(*calls_[*part.gradient_cast]) && group.Add(*part.update) &&
               group.Add(*calls_[*part.parameter_cast]);
    }

    std::optional<size_t> FindGradientCast(const Array& gradient, size_t update) const {
        if (get_memory_(*gradient.body()->storage) != FusedMemory::kScratch || !IsWhole(gradient)) return {};
        const std::vector<size_t>& uses = UsesOf(gradient);
        if (uses.size() != 2 || uses[1] != update || !IsCopy(uses[0])) return {};
        return CanMove(uses[0], update) ? std::optional{uses[0]} : std::nullopt;
    }

    std::optional<size_t> FindParameterCast(const Array& parameter, size_t update) const {
        const std::vector<size_t>& uses = UsesOf(parameter);
        auto next = std::upper_bound(uses.begin(), uses.end(), update);
        if (next == uses.end() || !IsCopy(*next)) return {};
        return CanMove(*next, update) ? std::optional{*next} : std::nullopt;
    }

    bool IsCopy(size_t call) const { return IsCallOf(calls_[call], kCopyKernel); }
    const std::vector<size_t>& UsesOf(const Array& a) const { return uses_.at(a.body()->storage.get()); }

    // Whether a call can stand beside another one: whether nothing between them uses its arrays.
    bool CanMove(size_t call, size_t to) const {
        size_t first = std::min(call, to);
        size_t last = std::max(call, to);
        auto has = [](const std::vector<size_t>& numbers, size_t low, size_t high) {
            return std::any_of(numbers.begin(), numbers.end(), [=](size_t i) { return low <= i && i <= high; });
        };
        std::vector<Array> arrays = ArraysOf(*calls_[call]);
        return !has(recording_.segment_ends, first + 1, last) &&
               std::none_of(arrays.begin(), arrays.end(),
                            [&](const Array& a) { return has(UsesOf(a), first + 1, last - 1); });
    }

    void ReplaceCalls() {
        std::unordered_map<size_t, std::unique_ptr<KernelCall>> casts;
        for (const auto& [i, parts] : parts_) {
            for (const Part& part : parts) {
                if (!part.gradient_cast.has_value()) continue;
                for (size_t cast : {*part.gradient_cast, *part.parameter_cast}) casts[cast] = std::move(calls_[cast]);
            }
        }
        KernelCalls calls;
        std::vector<size_t> places;  // of the old calls among the new ones
        for (size_t i = 0; i < calls_.size(); ++i) {
            places.push_back(calls.size());
            auto it = parts_.find(i);
            if (it == parts_.end()) {
                calls.push_back(std::move(calls_[i]));
                continue;
            }
            for (Part& part : it->second) {
                if (part.gradient_cast.has_value()) calls.push_back(std::move(casts.at(*part.gradient_cast)));
                calls.push_back(std::move(part.update));
                if (part.parameter_cast.has_value()) calls.push_back(std::move(casts.at(*part.parameter_cast)));
            }
        }
        places.push_back(calls.size());
        for (size_t& end : recording_.segment_ends) end = places[end];
        calls_ = std::move(calls);
    }

    Recording& recording_;
    KernelCalls& calls_;
    const std::function<FusedMemory(const Storage&)>& get_memory_;
    CallUses uses_;
    std::unordered_map<size_t, std::vector<Part>> parts_;  // by the call of the update
};

}  // namespace

void SplitUpdates(Recording& recording, const std::function<FusedMemory(const Storage&)>& get_memory) {
    if (TiledCall::CanRunOn(recording.device)) UpdateSplitter{recording, get_memory}.Run();
}

}  // namespace chainerx
