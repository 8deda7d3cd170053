#pragma once

// Descriptors of the graph API of the stand-in for cuDNN.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "chainerx/ops/window.h"
#include "cudnn_stand_in.h"

namespace chainerx::cuda::cudnn {

// The values of an attribute.
struct Values {
    AttributeType type;
    int64_t count;
    std::vector<char> bytes;
};

// How to compute a convolution.
struct Engine {
    int number;
    bool exists;  // if not, plans of it fail
    HeuristicMode mode;
    int64_t memory;
    std::vector<NumericalNote> numbers;
    std::vector<BehaviorNote> behavior;

    bool HasTensorCores() const {
        return std::find(numbers.begin(), numbers.end(), NumericalNote::kTensorCore) != numbers.end();
    }
};

// A tensor as its descriptor tells.
struct GraphTensor : TensorStruct {
    int64_t id;
    int64_t alignment;
};

// A convolution as its descriptors tell.
struct ConvolutionStruct {
    DescriptorType operation;
    Handle handle;  // null: not known yet
    GraphTensor x, w, y;
    DataType type;
    Sizes pad, stride, dilation;

    int groups() const { return x.shape[1] / w.shape[1]; }
    bool IsValid() const;
};

struct GraphStruct {
    explicit GraphStruct(DescriptorType type) : type{type} {}

    bool Has(Attribute attribute) const { return values.count(attribute) != 0; }
    // Of an attribute that is there.
    template <class T>
    std::vector<T> Read(Attribute attribute) const {
        const Values& found = values.at(attribute);
        std::vector<T> all(static_cast<size_t>(found.count));
        std::memcpy(all.data(), found.bytes.data(), found.bytes.size());
        return all;
    }
    template <class T>
    T ReadOne(Attribute attribute) const {
        return Read<T>(attribute).at(0);
    }

    DescriptorType type;
    bool is_final{false};
    std::map<Attribute, Values> values;
    std::optional<ConvolutionStruct> convolution;  // of operations and what is made from them
    const Engine* engine{nullptr};                 // of engines and what is made from them
};

// What an attribute takes.
struct Rule {
    Attribute attribute;
    DescriptorType owner;
    AttributeType type;
    int64_t max_count;
    bool is_result;  // is not set but read
};
const Rule* FindRule(Attribute attribute);
int64_t GetSize(AttributeType type);
// Whether it has all of its attributes.
bool IsComplete(const GraphStruct& desc);

// What cuDNN could tell about its engines, from the fastest.
const std::vector<Engine>& GetEngines();
const char* GetOperationName(DescriptorType operation);
// Submits a convolution by an engine. The arrays are at these places.
Status Convolve(Handle handle, const Engine& engine, const ConvolutionStruct& convolution, bool is_valid,
                const std::map<int64_t, void*>& places, void* workspace);

}  // namespace chainerx::cuda::cudnn
