// Categories as numbers, strings, columns and maps.

#include <algorithm>

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/operators/key_table.h"

namespace chainerx::onnx {
namespace {

// The values that a table has for keys.
struct LookUp {
    LookUp(const Node& node, const Value& keys, Value values_of_keys, Value missing_value)
        : table{keys}, values{std::move(values_of_keys)}, missing{std::move(missing_value)}, device{&node.device()} {
        if (ShapeOfElements(values).GetTotalSize() != table.size()) {
            throw ModelError{"it has ", table.size(), " keys and ", ShapeOfElements(values).GetTotalSize(), " values"};
        }
    }

    Value operator()(const Inputs& in) const {
        const Value& x = in.value(0);
        return ItemsAt(values, table.PlacesOf(x), ShapeOfElements(x), missing, *device);
    }

    KeyTable table;
    Value values;
    Value missing;
    Device* device;
};

// The default of a node for values of the kind of a list.
Value DefaultFor(const Node& node, const Value& list) {
    if (node.Has("default_tensor")) {
        Value value = node.TensorOrStrings("default_tensor");
        bool fits = (value.As<Strings>() == nullptr) == (list.As<Strings>() == nullptr);
        if (!fits || ShapeOfElements(value).GetTotalSize() < 1) throw ModelError{"its default is of another kind"};
        return value.array() ? ToDevice(value.array(), HostDevice()) : value;
    }
    if (list.As<Strings>() != nullptr) return VectorOf({node.String("default_string")});
    if (!IsFloat(list.array().dtype())) return IntsArray({node.Int("default_int64")});
    return Full(Shape{1}, Scalar{node.Float("default_float")}, list.array().dtype(), HostDevice());
}

// Between strings and integers, whichever the input is.
Kernel BothWays(const Node& node, const Value& strings, const Value& integers) {
    LookUp to_integers{node, strings, integers, IntsArray({node.Int("default_int64")})};
    LookUp to_strings{node, integers, strings, VectorOf({node.String("default_string")})};
    return [to_integers, to_strings](const Inputs& in) {
        return in.value(0).As<Strings>() != nullptr ? to_integers(in) : to_strings(in);
    };
}

Kernel LabelEncoder(const Node& node) {
    if (node.Has("classes_strings")) {  // opset 1
        const std::vector<std::string>& classes = node.Strings("classes_strings");
        return BothWays(node, VectorOf(classes), IntsArray(FirstInts(static_cast<int64_t>(classes.size()))));
    }
    Value values = ListOf(node, "values");
    if (!values) throw ModelError{"it has no values"};
    return LookUp{node, ListOf(node, "keys"), values, DefaultFor(node, values)};
}

Kernel CategoryMapper(const Node& node) {
    return BothWays(node, VectorOf(node.StringsOrNone("cats_strings")), IntsArray(node.IntsOrNone("cats_int64s")));
}

// Only the categories of the kind of the input count.
Kernel OneHotEncoder(const Node& node) {
    KeyTable strings{VectorOf(node.StringsOrNone("cats_strings"))};
    KeyTable integers{IntsArray(node.IntsOrNone("cats_int64s"))};
    bool may_miss = node.Flag("zeros");
    Device* device = &node.device();
    return [strings, integers, may_miss, device](const Inputs& in) {
        const Value& x = in.value(0);
        const KeyTable& table = x.As<Strings>() != nullptr ? strings : integers;
        if (table.size() == 0) throw ModelError{"it has no categories for ", x.KindName()};
        Ints places = table.PlacesOf(x);
        Ints dims = ToVector(ShapeOfElements(x));
        dims.push_back(table.size());
        Array out = Zeros(CheckedShape(dims, sizeof(float)), Dtype::kFloat32, HostDevice());
        for (size_t i = 0; i < places.size(); ++i) {
            if (places[i] < 0 && !may_miss) throw ModelError{"its element ", i, " is no category"};
            if (places[i] >= 0) out.data<float>()[i * table.size() + places[i]] = 1;
        }
        return ToDevice(out, *device);
    };
}

// -- maps

const Map& MapOf(const Value& value) {
    const auto* map = value.As<Map>();
    if (map == nullptr) throw ModelError{"expected a map, and there is ", value.KindName()};
    if (ShapeOfElements(map->keys).GetTotalSize() != ShapeOfElements(map->values).GetTotalSize()) {
        throw ModelError{"a map has not as many values as keys"};
    }
    return *map;
}

Kernel ZipMap(const Node& node) {
    Value keys = StringsOrInts(node, "classlabels_strings", "classlabels_int64s");
    int64_t count = ShapeOfElements(keys).GetTotalSize();
    return [keys, count](const Inputs& in) {
        Array x = Cast(ToDevice(in[0], HostDevice()), Dtype::kFloat32);
        if (x.ndim() == 1) x = Reshape(x, Shape{1, x.GetTotalSize()});
        if (x.ndim() != 2 || x.shape()[1] != count) {
            throw ModelError{"the shape is ", in[0].shape(), ", and there are ", count, " labels"};
        }
        Sequence out;
        for (int64_t i = 0; i < x.shape()[0]; ++i) out.items.push_back(Value::Of(Map{keys, At(x, {i})}));
        return Value::Of(std::move(out));
    };
}

// The values of a map in the order of a vocabulary, with zeros or empty strings for those that it does not have.
Value RowOf(const Map& map, const KeyTable& vocabulary) {
    Ints places(vocabulary.size(), -1);
    Ints found = vocabulary.PlacesOf(map.keys);
    for (size_t i = 0; i < found.size(); ++i) {
        if (found[i] >= 0) places[found[i]] = static_cast<int64_t>(i);
    }
    return ItemsAt(map.values, places, Shape{1, vocabulary.size()}, BlankOf(map.values), HostDevice());
}

Kernel DictVectorizer(const Node& node) {
    KeyTable vocabulary{StringsOrInts(node, "string_vocabulary", "int64_vocabulary")};
    if (vocabulary.size() == 0) throw ModelError{"it has no vocabulary"};
    Device* device = &node.device();
    return [vocabulary, device](const Inputs& in) {
        const auto* sequence = in.value(0).As<Sequence>();
        if (sequence == nullptr) return RowOf(MapOf(in.value(0)), vocabulary);
        Arrays rows;
        for (const Value& item : sequence->items) {
            Value row = RowOf(MapOf(item), vocabulary);
            if (!row.array()) throw ModelError{"maps of a sequence have strings"};
            rows.push_back(row.array());
        }
        if (rows.empty()) throw ModelError{"the sequence is empty"};
        return Value{ToDevice(Concatenate(rows, 0), *device)};
    };
}

enum class MapCast { kFloat, kString, kInt64 };
enum class MapForm { kDense, kSparse };

// Numbers of a map as the strings that other runtimes write.
Value Texts(const Value& values) {
    if (values.As<Strings>() != nullptr) return values;
    Array host = InHostMemory(values.array());
    std::vector<std::string> items;
    for (int64_t i = 0; i < host.GetTotalSize(); ++i) items.push_back(std::to_string(host.data<double>()[i]));
    return VectorOf(std::move(items));
}

Value CastMap(const Value& x, MapCast cast, MapForm form, int64_t max_map, Device& device) {
    const Map& map = MapOf(x);
    if (!map.keys.array()) throw ModelError{"the keys of the map are strings"};
    Ints keys = ReadInts(map.keys.array());
    Value values = cast == MapCast::kString ? Texts(map.values) : map.values;
    if (cast != MapCast::kString) {
        if (!values.array()) throw ModelError{"the values of the map are strings, which are not cast to numbers"};
        values = Cast(values.array(), cast == MapCast::kFloat ? Dtype::kFloat32 : Dtype::kInt64);
    }
    Ints places = FirstInts(static_cast<int64_t>(keys.size()));
    std::sort(places.begin(), places.end(), [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    if (form == MapForm::kSparse) {
        CheckedShape({max_map}, sizeof(std::string));
        places.assign(max_map, -1);
        for (size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] < 0 || keys[i] >= max_map) throw ModelError{"the key ", keys[i], " is not below ", max_map};
            places[keys[i]] = static_cast<int64_t>(i);
        }
    }
    return ItemsAt(values, places, Shape{1, static_cast<int64_t>(places.size())}, BlankOf(values), device);
}

}  // namespace

const OperatorTable kCategoriesOperators = {
        {"CastMap", Call<CastMap>, "cast_to map_form max_map", Purity::kPure, kLearning, Operands::kValues},
        {"CategoryMapper", CategoryMapper, "", Purity::kPure, kLearning, Operands::kValues},
        {"DictVectorizer", DictVectorizer, "", Purity::kPure, kLearning, Operands::kValues},
        {"LabelEncoder", LabelEncoder, "", Purity::kPure, kLearning, Operands::kValues},
        {"OneHotEncoder", OneHotEncoder, "", Purity::kPure, kLearning, Operands::kValues},
        {"ZipMap", ZipMap, "", Purity::kPure, kLearning},
};

}  // namespace chainerx::onnx
