#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// Which contiguous arrays of int64 hold positions that a kernel has found or tested, so that kernels after it can use
// them as such without a test. Known of a file's calls one after the other.
//
// A call is supposed to write to all arrays that it is not said to read.
class KnownPositions {
public:
    // What positions are in: of which kind, and of which sizes.
    struct Range {
        const char* kind;
        int64_t size;
        int64_t other;
        bool operator==(const Range& r) const {
            return std::string_view{kind} == r.kind && size == r.size && other == r.other;
        }
    };

    void Begin(KernelCall& call);
    // The call only reads the array.
    bool Reads(const Array& a);
    // The call leaves such positions in the array, or raises an error at a run.
    bool Finds(const Array& a, const Range& range);
    // The call uses an array as positions: whether they are known, and nothing else in the call is in their memory.
    bool Uses(const Array& a, const Range& range);
    void End();

private:
    bool IsAlone(const Array& a) const;

    std::unordered_map<const Storage*, int> counts_;  // arrays of the present call that it may write to, by memory
    std::unordered_map<const Storage*, std::pair<Array, Range>> known_;
    std::vector<std::pair<Array, Range>> found_;
};

}  // namespace chainerx
