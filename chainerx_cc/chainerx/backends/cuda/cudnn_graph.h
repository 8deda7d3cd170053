#pragma once

// Descriptors of cuDNN's graph API.

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "chainerx/backends/cuda/cudnn.h"

namespace chainerx::cuda::cudnn {

template <class T>
constexpr AttributeType GetAttributeType() {
    if constexpr (std::is_same_v<T, Handle>) return AttributeType::kHandle;
    if constexpr (std::is_same_v<T, DataType>) return AttributeType::kDataType;
    if constexpr (std::is_same_v<T, int64_t>) return AttributeType::kInt64;
    if constexpr (std::is_same_v<T, float>) return AttributeType::kFloat;
    if constexpr (std::is_same_v<T, double>) return AttributeType::kDouble;
    if constexpr (std::is_same_v<T, void*>) return AttributeType::kPointer;
    if constexpr (std::is_same_v<T, ConvolutionMode>) return AttributeType::kConvolutionMode;
    if constexpr (std::is_same_v<T, HeuristicMode>) return AttributeType::kHeuristicMode;
    if constexpr (std::is_same_v<T, NumericalNote>) return AttributeType::kNumericalNote;
    if constexpr (std::is_same_v<T, GraphHandle>) return AttributeType::kDescriptor;
    if constexpr (std::is_same_v<T, BehaviorNote>) return AttributeType::kBehaviorNote;
}

// Takes attributes until it is finalized, and can be used from then on. Failures name it and the attribute.
class GraphDescriptor {
public:
    explicit GraphDescriptor(DescriptorType type);
    GraphDescriptor(GraphDescriptor&& o) noexcept : type_{o.type_}, desc_{std::exchange(o.desc_, nullptr)} {}
    GraphDescriptor& operator=(GraphDescriptor&& o) noexcept {
        std::swap(type_, o.type_);
        std::swap(desc_, o.desc_);
        return *this;
    }
    ~GraphDescriptor() {
        if (desc_ != nullptr) Find()->BackendDestroyDescriptor(desc_);
    }

    template <class T>
    void Set(Attribute attribute, const T* values, int64_t count) {
        SetValues(attribute, GetAttributeType<T>(), count, values);
    }
    template <class T>
    void Set(Attribute attribute, const std::vector<T>& values) {
        Set(attribute, values.data(), static_cast<int64_t>(values.size()));
    }
    template <class T>
    void Set(Attribute attribute, const T& value) {
        Set(attribute, &value, 1);
    }
    void Set(Attribute attribute, const GraphDescriptor& value) { Set(attribute, &value.desc_, 1); }
    void Finalize();

    // Returns the number of values, of which there are at most `size`. Without `values`, how many there are.
    template <class T>
    int64_t Get(Attribute attribute, T* values, int64_t size) const {
        return GetValues(attribute, GetAttributeType<T>(), size, values);
    }
    // At most `size` descriptors.
    std::vector<GraphDescriptor> GetDescriptors(Attribute attribute, DescriptorType type, int64_t size) const;

    GraphHandle get() const { return desc_; }

private:
    void SetValues(Attribute attribute, AttributeType type, int64_t count, const void* values);
    int64_t GetValues(Attribute attribute, AttributeType type, int64_t size, void* values) const;
    void CheckAttribute(Status status, Attribute attribute) const;

    DescriptorType type_;
    GraphHandle desc_{};
};

}  // namespace chainerx::cuda::cudnn
