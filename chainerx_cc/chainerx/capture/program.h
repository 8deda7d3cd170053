#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/capture/byte_stream.h"
#include "chainerx/capture/plan.h"
#include "chainerx/capture/recording.h"
#include "chainerx/core/array.h"

namespace chainerx {

// A recording as data, before passes rewrite it, so that files do not depend on them.
struct Program {
    enum class Source : uint8_t {
        kNew,    // memory that the step makes
        kInput,  // an array that each run is given
        kKept,   // parameters, states and constants
    };
    struct Memory {
        Source source;
        size_t bytes;
        StoragePtr kept;
    };
    // An array in one of the memories.
    struct PlacedArray {
        size_t memory;
        ArrayForm form;
    };
    struct Draw {
        RandomStream stream;
        int64_t count;
    };

    std::vector<Memory> memories;
    std::vector<PlacedArray> inputs;
    std::vector<PlacedArray> results;
    std::vector<Draw> draws;
    size_t call_count{0};
    std::string calls;
    std::string refusal;  // why it cannot be saved, or nothing

    static constexpr size_t kNoMemory = SIZE_MAX;
    // More bytes in all are a mistake, and sums of so many do not overflow.
    static constexpr size_t kMostBytes = size_t{1} << 47;
    // The number of a kept memory, or kNoMemory.
    size_t FindKept(const Storage& storage) const;
};

// The bytes of an array from its first element on. Raises ValueError if it has elements before that one.
size_t ExtentOf(const Array& a);

// Describes a recording whose origins are checked.
std::shared_ptr<const Program> DescribeRecording(const Recording& recording, const std::vector<Array>& inputs,
                                                 const std::vector<Array>& results);

// Writes the arguments of calls.
class ProgramWriter {
public:
    // `find`: the number of the memory of an array, and where the array begins in it.
    using Find = std::function<std::pair<size_t, int64_t>(const Array&)>;

    explicit ProgramWriter(Find find) : find_{std::move(find)} {}
    void Write(const Array& a);  // which may be no array
    void Write(const Program::PlacedArray& a);

    ByteWriter bytes;

private:
    Find find_;
};

// Reads them on a device: arrays lie within their memory, are aligned, and have elements.
class ProgramReader {
public:
    ProgramReader(std::string_view all, Device& device) : bytes{all}, device_{device} {}

    void AddMemory(StoragePtr storage) { memories_.push_back(std::move(storage)); }
    const std::vector<StoragePtr>& memories() const { return memories_; }
    Device& device() const { return device_; }
    Array ReadOptionalArray();
    Array ReadArray();
    Dtype ReadDtype() { return static_cast<Dtype>(bytes.Index(kNumDtypes)); }

    ByteReader bytes;

private:
    Device& device_;
    std::vector<StoragePtr> memories_;
};

}  // namespace chainerx
