#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chainerx_onnx/operators/scores.h"

namespace chainerx::onnx {

// In the order of TreeEnsemble's numbers.
enum class TreeMode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };
// In the order of attribute_values.txt.
enum class TreeAggregate { kSum, kAverage, kMin, kMax };

// The mode that a string such as "BRANCH_LEQ" names.
TreeMode TreeModeOf(const std::string& name);

// A node of a tree. A leaf has nothing but its mode.
struct TreeNode {
    double split;
    int64_t feature;
    int64_t yes;  // the place of the next node if the comparison holds
    int64_t no;
    TreeMode mode;
    bool missing;  // whether any comparison holds for NaN
};

// Trees whose nodes are in one vector, and whose leaves have weights for targets. Add all parts, and then call Finish,
// which checks them: no run leaves the vectors, and none goes on forever.
class TreeEnsemble {
public:
    void AddNode(const TreeNode& node) { nodes_.push_back(node); }
    void AddRoot(int64_t place) { roots_.push_back(place); }
    void AddWeight(int64_t leaf, int64_t target, double weight) { weights_.push_back({leaf, target, weight}); }
    // The members for nodes of the mode kMember in their order, each with NaN at its end.
    void SetMembers(const std::vector<double>& values);
    // Raises ModelError if a tree has a cycle, or a place, a feature or a target is not there.
    void Finish(int64_t targets, TreeAggregate aggregate);

    // Whether no weight is negative.
    bool is_positive() const;
    // Scores (rows, targets) of features of float32 or float64. `known`: becomes the same, with minus infinity for
    // targets to which nothing was added.
    Array Run(const Array& features, Array* known = nullptr) const;

private:
    struct Weight {
        int64_t leaf;
        int64_t target;
        double weight;
    };

    // A node of an ensemble that asks in each whether a float32 is at most another. A leaf is followed by itself.
    struct SmallNode {
        float split;
        int32_t feature;
        int32_t next[2];  // if it is not, and if it is
    };

    void MakeSmallNodes();
    void CheckPlaces() const;
    template <class T>
    int64_t LeafOf(const T* row, int64_t place) const;
    // Adds what a tree has for some rows to their `scores` and `known`.
    void AddTree(const float* x, int64_t width, int64_t root, int64_t rows, double* scores, double* known) const;
    template <class T>
    void RunRows(const T* x, int64_t width, int64_t rows, double* scores, double* known) const;
    void Add(int64_t leaf, double* scores, double* known) const;

    std::vector<TreeNode> nodes_;
    std::vector<int64_t> roots_;
    std::vector<Weight> weights_;               // those of a leaf side by side
    std::vector<int64_t> first_weights_;        // of each node, and the number of all
    std::vector<std::vector<double>> members_;  // sorted; by place
    int64_t targets_{0};
    int64_t features_{0};
    std::vector<SmallNode> small_nodes_;  // none if another comparison is among them
    TreeAggregate aggregate_{TreeAggregate::kSum};
};

}  // namespace chainerx::onnx
