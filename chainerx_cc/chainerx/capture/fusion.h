#pragma once

#include <cstdint>
#include <functional>

#include "chainerx/capture/recording.h"
#include "chainerx/core/storage.h"

namespace chainerx {

// What a rewriting may do with the memory of an array.
enum class FusedMemory : uint8_t {
    kScratch,   // made and read by the calls alone
    kResult,    // made by the calls and read outside
    kGradient,  // the same, and lies in the scratch memory from its first call on
    kHeld,      // of the program, the same in all runs
    kOther,     // of the program, given to each run
};

// Rewrites recorded calls, for fewer passes over memory. Results stay the same to the last bit:
//
//   - products of matrices that are added one after the other are one call,
//   - a kernel writes directly to where its output would be copied,
//   - an elementwise kernel writes over an operand that nothing reads afterwards, and the gradient of a softmax cross
//     entropy over the scores,
//   - gradients of weights of convolutions wait until something reads them, if memory is free for others meanwhile,
//   - sums at indices that are added to an array go there, without an array of zeros,
//   - the update of a large parameter stands between the casts of its gradient and of its float32 copy,
//   - elementwise kernels, copies and such updates in a row run tile by tile, so that what they pass on stays in the
//     cache.
void FuseCalls(Recording& recording, std::function<FusedMemory(const Storage&)> get_memory);

}  // namespace chainerx
