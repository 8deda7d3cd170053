// Ensembles of decision trees.

#include <map>
#include <set>
#include <utility>

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/operators/scores.h"
#include "chainerx_onnx/operators/tree_ensemble.h"

namespace chainerx::onnx {
namespace {

// A list of floats, or a tensor of another name.
std::vector<double> Numbers(const Node& node, const std::string& name) {
    std::string tensor = name + "_as_tensor";
    if (node.Has(tensor.c_str())) return ReadDoubles(node.Tensor(tensor.c_str()));
    std::vector<float> values = node.FloatsOrNone(name.c_str());
    return {values.begin(), values.end()};
}

// Whether lists have so many elements.
template <class... Lists>
bool HaveSize(size_t count, const Lists&... lists) {
    return (... && (lists.size() == count));
}

// The ensemble of a node whose attributes name nodes by a tree and a number in it. `kind`: "class" or "target".
TreeEnsemble EnsembleOfTable(const Node& node, const std::string& kind) {
    auto ints = [&](const std::string& name) { return node.IntsOrNone(name.c_str()); };
    Ints trees = ints("nodes_treeids");
    Ints numbers = ints("nodes_nodeids");
    Ints yes = ints("nodes_truenodeids");
    Ints no = ints("nodes_falsenodeids");
    Ints features = ints("nodes_featureids");
    Ints missing = ints("nodes_missing_value_tracks_true");
    std::vector<std::string> modes = node.StringsOrNone("nodes_modes");
    std::vector<double> splits = Numbers(node, "nodes_values");
    size_t n = trees.size();
    if (missing.empty()) missing.assign(n, 0);
    if (n == 0 || !HaveSize(n, numbers, yes, no, features, missing, modes, splits)) {
        throw ModelError{"there are no nodes, or their attributes differ in their lengths"};
    }
    std::map<std::pair<int64_t, int64_t>, int64_t> places;
    std::set<int64_t> seen;
    TreeEnsemble out;
    for (size_t i = 0; i < n; ++i) {
        if (!places.emplace(std::pair{trees[i], numbers[i]}, i).second) throw ModelError{"two nodes have one number"};
    }
    auto place_of = [&](int64_t tree, int64_t number) {
        auto it = places.find({tree, number});
        if (it == places.end()) throw ModelError{"a tree has a node that is not there"};
        return it->second;
    };
    for (size_t i = 0; i < n; ++i) {
        TreeMode mode = TreeModeOf(modes[i]);
        bool is_leaf = mode == TreeMode::kLeaf;
        out.AddNode({splits[i], features[i], is_leaf ? 0 : place_of(trees[i], yes[i]),
                     is_leaf ? 0 : place_of(trees[i], no[i]), mode, missing[i] != 0});
        if (seen.insert(trees[i]).second) out.AddRoot(static_cast<int64_t>(i));
    }
    Ints leaf_trees = ints(kind + "_treeids");
    Ints leaf_numbers = ints(kind + "_nodeids");
    Ints targets = ints(kind + "_ids");
    std::vector<double> weights = Numbers(node, kind + "_weights");
    if (!HaveSize(leaf_trees.size(), leaf_numbers, targets, weights)) {
        throw ModelError{"the attributes of the leaves differ in their lengths"};
    }
    for (size_t i = 0; i < targets.size(); ++i) {
        out.AddWeight(place_of(leaf_trees[i], leaf_numbers[i]), targets[i], weights[i]);
    }
    return out;
}

// What a node adds to the scores of all rows: one number for all of `count` columns, or one for each, or none.
struct BaseValues {
    BaseValues(const Node& node, int64_t count, const char* columns) {
        std::vector<double> numbers = Numbers(node, "base_values");
        size = static_cast<int64_t>(numbers.size());
        if (size > 1 && size != count) {
            throw ModelError{"it has ", size, " base values for ", count, " ", columns};
        }
        if (size > 0) values = FromHost(Shape{size}, Dtype::kFloat64, numbers.data(), HostDevice());
    }
    Array AddTo(const Array& scores) const { return values ? scores + values : scores; }
    int64_t size;
    Array values;
};

Kernel TreeEnsembleRegressor(const Node& node) {
    int64_t targets = node.OptionalInt("n_targets").value_or(1);
    TreeEnsemble ensemble = EnsembleOfTable(node, "target");
    ensemble.Finish(targets, static_cast<TreeAggregate>(node.Choice("aggregate_function")));
    BaseValues base{node, targets, "targets"};
    ScoreTransform transform{node};
    return [ensemble, base, transform](const Inputs& in) {
        return transform(base.AddTo(ensemble.Run(FeatureMatrix(in[0]))));
    };
}

Kernel TreeEnsembleClassifier(const Node& node) {
    ClassResult result{node, "classlabels_int64s"};
    TreeEnsemble ensemble = EnsembleOfTable(node, "class");
    ensemble.Finish(result.size(), TreeAggregate::kSum);
    BaseValues base{node, result.size(), "classes"};
    Ints ids = node.IntsOrNone("class_ids");
    if (result.size() <= 2 && base.size <= 1 && std::set<int64_t>(ids.begin(), ids.end()).size() == 1) {
        // Single scores of two classes, of which all weights are of one.
        bool is_positive = ensemble.is_positive();
        double threshold = is_positive && result.size() == 2 ? 0.5 : 0;
        return [ensemble, result, base, is_positive, threshold, place = ids[0]](const Inputs& in) {
            Array scores = ensemble.Run(FeatureMatrix(in[0]));
            Array column = base.AddTo(SliceAxis(scores, 1, place, place + 1));
            Array winners = WinnersOfOne(column, threshold);
            return place == 1 ? result.OfAll(winners, scores) : result.OfOne(winners, column, is_positive);
        };
    }
    return [ensemble, result, base](const Inputs& in) {
        Array known;
        Array scores = base.AddTo(ensemble.Run(FeatureMatrix(in[0]), &known));
        // Classes of which no weight is known do not win.
        return result.OfAll(Winners(base.values ? scores : known), scores);
    };
}

// The place of a child among the inner nodes and the leaves behind them.
int64_t PlaceOfChild(int64_t place, bool is_leaf, int64_t nodes, int64_t leaves) {
    if (place < 0 || place >= (is_leaf ? leaves : nodes)) throw ModelError{"a tree has a node that is not there"};
    return is_leaf ? nodes + place : place;
}

Kernel FlatTreeEnsemble(const Node& node) {
    Ints yes = node.Ints("nodes_truenodeids");
    Ints no = node.Ints("nodes_falsenodeids");
    Ints yes_leaf = node.Ints("nodes_trueleafs");
    Ints no_leaf = node.Ints("nodes_falseleafs");
    Ints features = node.Ints("nodes_featureids");
    Ints missing = node.IntsOrNone("nodes_missing_value_tracks_true");
    Ints modes = ReadInts(node.Tensor("nodes_modes"));
    Ints targets = node.Ints("leaf_targetids");
    std::vector<double> splits = ReadDoubles(node.Tensor("nodes_splits"));
    std::vector<double> weights = ReadDoubles(node.Tensor("leaf_weights"));
    size_t n = modes.size();
    if (missing.empty()) missing.assign(n, 0);
    if (!HaveSize(n, yes, no, yes_leaf, no_leaf, features, missing, splits)) {
        throw ModelError{"the attributes of the nodes differ in their lengths"};
    }
    if (targets.size() != weights.size()) throw ModelError{"the attributes of the leaves differ in their lengths"};
    auto n_nodes = static_cast<int64_t>(n);
    auto n_leaves = static_cast<int64_t>(weights.size());
    TreeEnsemble ensemble;
    for (size_t i = 0; i < n; ++i) {
        if (modes[i] < 0 || modes[i] > static_cast<int64_t>(TreeMode::kMember)) {
            throw ModelError{"a node has the mode ", modes[i]};
        }
        ensemble.AddNode({splits[i], features[i], PlaceOfChild(yes[i], yes_leaf[i] != 0, n_nodes, n_leaves),
                          PlaceOfChild(no[i], no_leaf[i] != 0, n_nodes, n_leaves), static_cast<TreeMode>(modes[i]),
                          missing[i] != 0});
    }
    for (int64_t i = 0; i < n_leaves; ++i) {
        ensemble.AddNode({0, 0, 0, 0, TreeMode::kLeaf, false});
        ensemble.AddWeight(n_nodes + i, targets[i], weights[i]);
    }
    for (int64_t root : node.Ints("tree_roots")) ensemble.AddRoot(PlaceOfChild(root, false, n_nodes, n_leaves));
    if (node.Has("membership_values")) ensemble.SetMembers(ReadDoubles(node.Tensor("membership_values")));
    ensemble.Finish(node.OptionalInt("n_targets").value_or(1),
                    // In the order of the numbers of this operator.
                    std::vector{TreeAggregate::kAverage, TreeAggregate::kSum, TreeAggregate::kMin,
                                TreeAggregate::kMax}[node.Int("aggregate_function")]);
    ScoreTransform transform{node, node.Int("post_transform")};
    return [ensemble, transform](const Inputs& in) {
        return Cast(transform(ensemble.Run(FeatureMatrix(in[0]))), in[0].dtype());
    };
}

}  // namespace

const OperatorTable kTreesOperators = {
        {"TreeEnsemble", FlatTreeEnsemble, "", Purity::kPure, kLearning},
        {"TreeEnsembleClassifier", TreeEnsembleClassifier, "", Purity::kPure, kLearning},
        {"TreeEnsembleRegressor", TreeEnsembleRegressor, "", Purity::kPure, kLearning},
};

}  // namespace chainerx::onnx
