#include "chainerx/capture/recorded_runs.h"

#include <algorithm>
#include <utility>

#include "chainerx/capture/call_visitor.h"

namespace chainerx {
namespace {

constexpr size_t kLeastCalls = 3;  // for which a piece pays
constexpr size_t kMostRecordings = 4;
constexpr size_t kMostSeen = 8;
constexpr size_t kMostRecorded = 256;  // pieces; a plan that needs more gains nothing

bool IsFixed(KernelCall& call) {
    bool is_fixed = true;
    CallVisitor streams{[&is_fixed](RandomStream&) { is_fixed = false; }};
    call.Accept(streams);
    CallVisitor scalars{[&is_fixed](std::vector<double>&) { is_fixed = false; }};
    call.Accept(scalars);
    return is_fixed;
}

}  // namespace

RecordedRuns::RecordedRuns(StreamPtr stream, const Calls& calls, const std::vector<size_t>& ends)
    : stream_{std::move(stream)}, calls_{calls} {
    size_t begin = 0;
    for (size_t end : ends) {
        while (begin < end) {
            bool is_fixed = IsFixed(*calls[begin]);
            size_t i = begin + 1;
            while (i < end && IsFixed(*calls[i]) == is_fixed) ++i;
            pieces_.push_back({begin, i, is_fixed && i - begin >= kLeastCalls});
            begin = i;
        }
    }
}

bool RecordedRuns::Start(Key key) {
    current_ = nullptr;
    if (!can_record_) return false;
    auto it = std::find_if(recordings_.begin(), recordings_.end(), [&key](const Recording& r) { return r.key == key; });
    if (it != recordings_.end()) {
        recordings_.splice(recordings_.begin(), recordings_, it);
        current_ = &recordings_.front();
        return true;
    }
    // The first run also makes libraries load and choose kernels, which no recording can repeat.
    auto seen = std::find(seen_.begin(), seen_.end(), key);
    if (seen == seen_.end()) {
        if (seen_.size() == kMostSeen) seen_.pop_front();
        seen_.push_back(std::move(key));
        return false;
    }
    if (recorded_ >= kMostRecorded) return false;
    seen_.erase(seen);
    if (recordings_.size() == kMostRecordings) recordings_.pop_back();
    recordings_.push_front({std::move(key), std::vector<std::unique_ptr<RecordedWork>>(pieces_.size())});
    current_ = &recordings_.front();
    return true;
}

void RecordedRuns::Run(size_t begin, size_t end) {
    auto piece = std::lower_bound(pieces_.begin(), pieces_.end(), begin,
                                  [](const Piece& p, size_t i) { return p.begin < i; });
    for (; piece != pieces_.end() && piece->begin < end; ++piece) {
        if (current_ == nullptr || !piece->is_fixed) {
            RunCalls(*piece);
            continue;
        }
        std::unique_ptr<RecordedWork>& work = current_->pieces[piece - pieces_.begin()];
        if (work == nullptr) {
            work = stream_->Record([this, &piece] { RunCalls(*piece); });
            ++recorded_;
        }
        if (work == nullptr) {
            can_record_ = false;
            current_ = nullptr;
            recordings_.clear();
            RunCalls(*piece);
            continue;
        }
        work->Submit();
        ++submitted_;
    }
}

void RecordedRuns::RunCalls(const Piece& piece) const {
    for (size_t i = piece.begin; i < piece.end; ++i) calls_[i]->Run();
}

}  // namespace chainerx
