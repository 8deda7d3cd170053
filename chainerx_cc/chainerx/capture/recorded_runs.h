#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "chainerx/core/kernel_watch.h"
#include "chainerx/core/stream.h"

namespace chainerx {

// The calls of a plan as pieces of recorded work, on a device that can record (Stream::Record): to submit a piece costs
// about as much as one kernel. A recording has the addresses of the run that it was made in, so there is one for each
// set of addresses that comes back: a plan copies to and from fixed places what can be anywhere in each run. Calls
// whose random numbers or scalars change from run to run stay calls.
class RecordedRuns {
public:
    using Calls = std::vector<std::unique_ptr<KernelCall>>;
    // What a recording is bound to: addresses, and settings that kernels read.
    using Key = std::vector<uintptr_t>;

    // `ends`: where the calls of each segment of the plan end.
    RecordedRuns(StreamPtr stream, const Calls& calls, const std::vector<size_t>& ends);

    // Whether the run that begins, with these addresses, is recorded or submits what was.
    bool Start(Key key);
    // Runs the calls of a segment.
    void Run(size_t begin, size_t end);

    // How many pieces were recorded, and submitted.
    size_t recorded() const { return recorded_; }
    size_t submitted() const { return submitted_; }

private:
    struct Piece {
        size_t begin;
        size_t end;
        bool is_fixed;
    };
    struct Recording {
        Key key;
        std::vector<std::unique_ptr<RecordedWork>> pieces;
    };

    void RunCalls(const Piece& piece) const;

    StreamPtr stream_;
    const Calls& calls_;
    std::vector<Piece> pieces_;
    std::list<Recording> recordings_;  // the last used one first
    std::deque<Key> seen_;             // without a recording
    Recording* current_{nullptr};
    size_t recorded_{0};
    size_t submitted_{0};
    bool can_record_{true};
};

}  // namespace chainerx
