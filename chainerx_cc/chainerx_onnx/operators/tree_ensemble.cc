#include "chainerx_onnx/operators/tree_ensemble.h"

#include <algorithm>
#include <cmath>

#include "chainerx/core/kernels.h"

namespace chainerx::onnx {
namespace {

// Takes away nodes that nothing leads to, until none are left.
void RefuseCycles(const std::vector<TreeNode>& nodes) {
    std::vector<int64_t> parents(nodes.size(), 0);
    for (const TreeNode& node : nodes) {
        if (node.mode == TreeMode::kLeaf) continue;
        ++parents[node.yes];
        ++parents[node.no];
    }
    std::vector<int64_t> free;
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (parents[i] == 0) free.push_back(static_cast<int64_t>(i));
    }
    size_t seen = 0;
    for (; !free.empty(); ++seen) {
        const TreeNode& node = nodes[free.back()];
        free.pop_back();
        if (node.mode == TreeMode::kLeaf) continue;
        for (int64_t child : {node.yes, node.no}) {
            if (--parents[child] == 0) free.push_back(child);
        }
    }
    if (seen < nodes.size()) throw ModelError{"a tree has a cycle"};
}

// Whether the comparison of a node holds.
template <class T>
bool Holds(const TreeNode& node, const std::vector<std::vector<double>>& members, int64_t place, T value) {
    switch (node.mode) {
        case TreeMode::kLeq:
            return value <= node.split;
        case TreeMode::kLt:
            return value < node.split;
        case TreeMode::kGte:
            return value >= node.split;
        case TreeMode::kGt:
            return value > node.split;
        case TreeMode::kEq:
            return value == node.split;
        case TreeMode::kNeq:
            return value != node.split;
        default:
            return std::binary_search(members[place].begin(), members[place].end(), static_cast<double>(value));
    }
}

}  // namespace

TreeMode TreeModeOf(const std::string& name) {
    static const std::vector<std::string> kNames{"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                                 "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
    auto it = std::find(kNames.begin(), kNames.end(), name);
    if (it == kNames.end()) throw ModelError{"a node has the mode '", name, "'"};
    return static_cast<TreeMode>(it - kNames.begin());
}

void TreeEnsemble::SetMembers(const std::vector<double>& values) {
    members_.assign(nodes_.size(), {});
    auto value = values.begin();
    for (size_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].mode != TreeMode::kMember) continue;
        auto end = std::find_if(value, values.end(), [](double each) { return std::isnan(each); });
        if (end == values.end()) throw ModelError{"it has less sets of members than nodes that look for them"};
        members_[i].assign(value, end);
        std::sort(members_[i].begin(), members_[i].end());
        value = end + 1;
    }
}

void TreeEnsemble::Finish(int64_t targets, TreeAggregate aggregate) {
    targets_ = targets;
    aggregate_ = aggregate;
    CheckPlaces();
    RefuseCycles(nodes_);
    for (const TreeNode& node : nodes_) {
        if (node.mode == TreeMode::kMember && members_.empty()) throw ModelError{"it has no sets of members"};
        if (node.mode == TreeMode::kLeaf) continue;
        features_ = std::max(features_, node.feature + 1);
    }
    std::stable_sort(weights_.begin(), weights_.end(),
                     [](const Weight& a, const Weight& b) { return a.leaf < b.leaf; });
    first_weights_.assign(nodes_.size() + 1, 0);
    for (const Weight& weight : weights_) ++first_weights_[weight.leaf + 1];
    for (size_t i = 0; i < nodes_.size(); ++i) first_weights_[i + 1] += first_weights_[i];
    MakeSmallNodes();
}

void TreeEnsemble::MakeSmallNodes() {
    if (nodes_.size() > INT32_MAX) return;
    for (size_t i = 0; i < nodes_.size(); ++i) {
        const TreeNode& node = nodes_[i];
        auto place = static_cast<int32_t>(i);
        auto split = static_cast<float>(node.split);
        if (node.mode == TreeMode::kLeaf) {
            small_nodes_.push_back({0, 0, {place, place}});
        } else if (node.mode == TreeMode::kLeq && !node.missing && static_cast<double>(split) == node.split) {
            small_nodes_.push_back({split,
                                    static_cast<int32_t>(node.feature),
                                    {static_cast<int32_t>(node.no), static_cast<int32_t>(node.yes)}});
        } else {
            return small_nodes_.clear();
        }
    }
}

void TreeEnsemble::CheckPlaces() const {
    auto n = static_cast<int64_t>(nodes_.size());
    auto check = [n](int64_t place) {
        if (place < 0 || place >= n) throw ModelError{"a tree has a node that is not there"};
    };
    if (roots_.empty()) throw ModelError{"there are no trees"};
    for (int64_t root : roots_) check(root);
    for (const TreeNode& node : nodes_) {
        if (node.mode == TreeMode::kLeaf) continue;
        check(node.yes);
        check(node.no);
        if (node.feature < 0 || node.feature > INT32_MAX) throw ModelError{"a node has the feature ", node.feature};
    }
    for (const Weight& weight : weights_) {
        check(weight.leaf);
        if (weight.target < 0 || weight.target >= targets_) {
            throw ModelError{"a leaf has the target ", weight.target, ", and there are ", targets_};
        }
    }
}

bool TreeEnsemble::is_positive() const {
    return std::all_of(weights_.begin(), weights_.end(), [](const Weight& each) { return each.weight >= 0; });
}

template <class T>
int64_t TreeEnsemble::LeafOf(const T* row, int64_t place) const {
    const TreeNode* nodes = nodes_.data();
    while (nodes[place].mode != TreeMode::kLeaf) {
        const TreeNode& node = nodes[place];
        T value = row[node.feature];
        bool is_missing = std::isnan(value);
        bool holds = (!is_missing || node.mode == TreeMode::kNeq) && Holds(node, members_, place, value);
        place = holds || (is_missing && node.missing) ? node.yes : node.no;
    }
    return place;
}

void TreeEnsemble::Add(int64_t leaf, double* scores, double* known) const {
    for (int64_t k = first_weights_[leaf]; k < first_weights_[leaf + 1]; ++k) {
        const Weight& weight = weights_[k];
        double& score = scores[weight.target];
        known[weight.target] = 0;
        if (aggregate_ == TreeAggregate::kMin) {
            score = std::min(score, weight.weight);
        } else if (aggregate_ == TreeAggregate::kMax) {
            score = std::max(score, weight.weight);
        } else {
            score += weight.weight;
        }
    }
}

void TreeEnsemble::AddTree(const float* x, int64_t width, int64_t root, int64_t rows, double* scores,
                           double* known) const {
    // Several rows at a time, as each waits for the memory of its next node.
    constexpr int64_t kRows = 8;
    const SmallNode* nodes = small_nodes_.data();
    for (int64_t first = 0; first < rows; first += kRows) {
        int64_t n = std::min(kRows, rows - first);
        int32_t places[kRows];
        std::fill_n(places, n, static_cast<int32_t>(root));
        for (bool moves = true; moves;) {
            moves = false;
            for (int64_t i = 0; i < n; ++i) {
                const SmallNode& node = nodes[places[i]];
                int32_t next = node.next[x[(first + i) * width + node.feature] <= node.split ? 1 : 0];
                moves |= next != places[i];
                places[i] = next;
            }
        }
        for (int64_t i = 0; i < n; ++i) Add(places[i], scores + (first + i) * targets_, known + (first + i) * targets_);
    }
}

template <class T>
void TreeEnsemble::RunRows(const T* x, int64_t width, int64_t rows, double* scores, double* known) const {
    for (int64_t root : roots_) {
        if constexpr (std::is_same_v<T, float>) {
            // One row alone is faster with branches, whose way the processor guesses.
            if (!small_nodes_.empty() && width > 0 && rows > 1) {
                AddTree(x, width, root, rows, scores, known);
                continue;
            }
        }
        for (int64_t i = 0; i < rows; ++i)
            Add(LeafOf(x + i * width, root), scores + i * targets_, known + i * targets_);
    }
    auto trees = static_cast<double>(roots_.size());
    for (int64_t i = 0; i < rows * targets_; ++i) {
        if (known[i] != 0) scores[i] = 0;
        if (aggregate_ == TreeAggregate::kAverage) scores[i] /= trees;
        known[i] += scores[i];  // or minus infinity
    }
}

Array TreeEnsemble::Run(const Array& features, Array* known) const {
    int64_t rows = features.shape()[0];
    int64_t width = features.shape()[1];
    if (width < features_) throw ModelError{"there are ", width, " features, and a node looks at ", features_ - 1};
    Shape shape = CheckedShape({rows, targets_}, sizeof(double));
    double start = aggregate_ == TreeAggregate::kMin ? kInfinity : aggregate_ == TreeAggregate::kMax ? -kInfinity : 0;
    Array scores = Full(shape, Scalar{start}, Dtype::kFloat64, HostDevice());
    Array sums = Full(shape, Scalar{-kInfinity}, Dtype::kFloat64, HostDevice());
    int64_t grain = 1 + (1 << 14) / (1 + 8 * static_cast<int64_t>(roots_.size()));
    auto run = [&](auto* x, int64_t begin, int64_t end) {
        // A tree stays in the cache for some rows.
        constexpr int64_t kBlock = 64;
        for (int64_t first = begin; first < end; first += kBlock) {
            RunRows(x + first * width, width, std::min(kBlock, end - first), scores.data<double>() + first * targets_,
                    sums.data<double>() + first * targets_);
        }
    };
    kParallelForKernel(HostDevice(), rows, grain, [&](int64_t begin, int64_t end) {
        if (features.dtype() == Dtype::kFloat64) {
            run(features.data<double>(), begin, end);
        } else {
            run(features.data<float>(), begin, end);
        }
    });
    if (known != nullptr) *known = sums;
    return scores;
}

}  // namespace chainerx::onnx
