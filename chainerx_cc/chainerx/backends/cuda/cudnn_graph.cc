#include "chainerx/backends/cuda/cudnn_graph.h"

#include <algorithm>
#include <string>

namespace chainerx::cuda::cudnn {
namespace {

const char* GetName(DescriptorType type) {
    switch (type) {
#define CHAINERX_CUDNN_NAME(ours, theirs, value) \
    case DescriptorType::ours:                   \
        return "CUDNN_BACKEND_" #theirs "_DESCRIPTOR";
        CHAINERX_CUDNN_DESCRIPTORS(CHAINERX_CUDNN_NAME)
#undef CHAINERX_CUDNN_NAME
    }
    return "an unknown descriptor";
}

const char* GetName(Attribute attribute) {
    switch (attribute) {
#define CHAINERX_CUDNN_NAME(ours, theirs, value) \
    case Attribute::ours:                        \
        return "CUDNN_ATTR_" #theirs;
        CHAINERX_CUDNN_ATTRIBUTES(CHAINERX_CUDNN_NAME)
#undef CHAINERX_CUDNN_NAME
    }
    return "an unknown attribute";
}

void CheckDescriptor(Status status, const char* what, DescriptorType type) {
    if (status != Status::kSuccess) throw Failure{status, std::string{what} + GetName(type)};
}

}  // namespace

GraphDescriptor::GraphDescriptor(DescriptorType type) : type_{type} {
    CheckDescriptor(Find()->BackendCreateDescriptor(type, &desc_), "the creation of ", type_);
}

void GraphDescriptor::Finalize() { CheckDescriptor(Find()->BackendFinalize(desc_), "the end of ", type_); }

std::vector<GraphDescriptor> GraphDescriptor::GetDescriptors(Attribute attribute, DescriptorType type,
                                                             int64_t size) const {
    std::vector<GraphDescriptor> all;
    std::vector<GraphHandle> handles;
    for (int64_t i = 0; i < size; ++i) handles.push_back(all.emplace_back(type).get());
    int64_t count = size == 0 ? 0 : Get(attribute, handles.data(), size);
    while (static_cast<int64_t>(all.size()) > count) all.pop_back();
    return all;
}

void GraphDescriptor::SetValues(Attribute attribute, AttributeType type, int64_t count, const void* values) {
    CheckAttribute(Find()->BackendSetAttribute(desc_, attribute, type, count, values), attribute);
}

int64_t GraphDescriptor::GetValues(Attribute attribute, AttributeType type, int64_t size, void* values) const {
    int64_t count = 0;
    CheckAttribute(Find()->BackendGetAttribute(desc_, attribute, type, size, &count, values), attribute);
    return values == nullptr ? count : std::min(count, size);
}

void GraphDescriptor::CheckAttribute(Status status, Attribute attribute) const {
    if (status != Status::kSuccess) {
        throw Failure{status, std::string{GetName(attribute)} + " of " + GetName(type_)};
    }
}

}  // namespace chainerx::cuda::cudnn
