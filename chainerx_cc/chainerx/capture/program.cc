#include "chainerx/capture/program.h"

#include <cstdlib>
#include <unordered_map>

#include "chainerx/capture/saved_kernel.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"

namespace chainerx {
namespace {

using PlacedArray = Program::PlacedArray;

// Raises unless an array has elements, and all of them lie in so many bytes.
void CheckPlace(const Shape& shape, const Strides& strides, int64_t item, int64_t offset, int64_t bytes) {
    CheckShape(shape, item);
    if (shape.GetTotalSize() > static_cast<int64_t>(Program::kMostBytes) / item)
        throw ValueError{"an array is too big"};
    int64_t first = offset;
    int64_t last = offset;
    bool fits = offset % item == 0 && offset <= bytes;
    for (int8_t d = 0; fits && d < shape.ndim(); ++d) {
        int64_t steps = shape[d] - 1;
        int64_t stride = strides[d];
        // Within the memory, so that nothing overflows.
        fits = steps >= 0 && stride % item == 0 && (steps == 0 || (stride >= -bytes && stride <= bytes));
        if (!fits || steps == 0 || stride == 0) continue;
        fits = steps <= bytes / std::abs(stride);
        if (fits) (stride < 0 ? first : last) += steps * stride;
    }
    if (!fits || first < 0 || last > bytes - item) throw ValueError{"an array does not lie within its memory"};
}

class Describer {
public:
    Describer(const Recording& recording, Program& program) : recording_{recording}, program_{program} {}

    void Run(const std::vector<Array>& inputs, const std::vector<Array>& results) {
        for (const Array& a : inputs) AddInput(a);
        for (const Array& a : results) program_.results.push_back(Place(a));
        ProgramWriter writer{[this](const Array& a) {
            PlacedArray placed = Place(a);
            return std::make_pair(placed.memory, placed.form.offset);
        }};
        for (const std::unique_ptr<KernelCall>& call : recording_.calls) {
            const SavedKernel* kernel = FindSavedKernel(call->slot().name());
            if (kernel == nullptr || !(kernel->slot() == call->slot())) {
                throw ValueError{"the kernel '", call->GetName(), "' is not one that files have"};
            }
            writer.bytes.Text(kernel->slot().name());
            kernel->Write(*call, writer);
        }
        program_.call_count = recording_.calls.size();
        program_.calls = writer.bytes.bytes();
        for (const Recording::Draw& draw : recording_.draws) program_.draws.push_back({draw.stream, draw.count});
    }

private:
    void AddInput(const Array& a) {
        CheckElements(a);
        const Storage* storage = a.body()->storage.get();
        numbers_[storage] = {program_.memories.size(), a.offset()};
        program_.memories.push_back({Program::Source::kInput, ExtentOf(a), nullptr});
        program_.inputs.push_back(Place(a));
    }

    PlacedArray Place(const Array& a) {
        CheckElements(a);
        const Storage* storage = recording_.AsRecorded(a.body()->storage.get());
        auto it = numbers_.find(storage);
        if (it == numbers_.end()) it = numbers_.emplace(storage, std::make_pair(AddMemory(*storage), 0)).first;
        PlacedArray placed{it->second.first, ArrayForm{a}};
        placed.form.offset -= it->second.second;
        return placed;
    }

    size_t AddMemory(const Storage& storage) {
        Program::Memory memory{Program::Source::kNew, storage.bytes(), nullptr};
        if (!recording_.IsStandIn(storage)) {
            memory.source = Program::Source::kKept;
            auto data = recording_.data.find(&storage);
            auto found = recording_.found.find(&storage);
            if (data != recording_.data.end()) {
                memory.kept = data->second.copy;
            } else if (found != recording_.found.end()) {
                memory.kept = found->second.first;
            } else {
                throw ValueError{"a result that no kernel uses"};
            }
        }
        program_.memories.push_back(std::move(memory));
        return program_.memories.size() - 1;
    }

    static void CheckElements(const Array& a) {
        if (a.GetTotalSize() == 0) throw ValueError{"an array without elements"};
    }

    const Recording& recording_;
    Program& program_;
    std::unordered_map<const Storage*, std::pair<size_t, int64_t>> numbers_;  // of memories, and where they begin
};

}  // namespace

size_t ExtentOf(const Array& a) {
    int64_t last = 0;
    for (int8_t d = 0; d < a.ndim(); ++d) {
        if (a.strides()[d] < 0) throw ValueError{"an argument with a negative stride"};
        last += (a.shape()[d] - 1) * a.strides()[d];
    }
    return static_cast<size_t>(last + a.GetItemSize());
}

size_t Program::FindKept(const Storage& storage) const {
    for (size_t i = 0; i < memories.size(); ++i) {
        if (memories[i].kept.get() == &storage) return i;
    }
    return kNoMemory;
}

std::shared_ptr<const Program> DescribeRecording(const Recording& recording, const std::vector<Array>& inputs,
                                                 const std::vector<Array>& results) {
    auto program = std::make_shared<Program>();
    try {
        Describer{recording, *program}.Run(inputs, results);
    } catch (const ValueError& error) {
        *program = Program{};  // which keeps no memory
        program->refusal = error.what();
    }
    return program;
}

void ProgramWriter::Write(const Array& a) {
    if (!a) return bytes.Number(0);
    auto [memory, offset] = find_(a);
    PlacedArray placed{memory, ArrayForm{a}};
    placed.form.offset = offset;
    Write(placed);
}

void ProgramWriter::Write(const PlacedArray& a) {
    bytes.Number(a.memory + 1);
    bytes.Number(static_cast<uint64_t>(a.form.dtype));
    bytes.Number(a.form.shape.size());
    for (int64_t length : a.form.shape) bytes.Number(static_cast<uint64_t>(length));
    for (int64_t stride : a.form.strides) bytes.Integer(stride);
    bytes.Number(static_cast<uint64_t>(a.form.offset));
}

Array ProgramReader::ReadOptionalArray() {
    size_t number = bytes.Index(memories_.size() + 1);
    if (number == 0) return Array{};
    const StoragePtr& storage = memories_[number - 1];
    Dtype dtype = ReadDtype();
    size_t ndim = bytes.Index(kMaxNdim + 1);
    Shape shape;
    Strides strides;
    for (size_t d = 0; d < ndim; ++d) shape.push_back(static_cast<int64_t>(bytes.Index(Program::kMostBytes)));
    for (size_t d = 0; d < ndim; ++d) strides.push_back(bytes.Integer());
    auto offset = static_cast<int64_t>(bytes.Index(Program::kMostBytes));
    CheckPlace(shape, strides, GetItemSize(dtype), offset, static_cast<int64_t>(storage->bytes()));
    return internal::MakeArray(shape, strides, dtype, device_, storage, offset);
}

Array ProgramReader::ReadArray() {
    Array a = ReadOptionalArray();
    if (!a) throw ValueError{"an array is missing"};
    return a;
}

}  // namespace chainerx
