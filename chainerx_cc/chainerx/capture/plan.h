#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/capture/recorded_runs.h"
#include "chainerx/capture/scratch.h"
#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"
#include "chainerx/ops/block_copies.h"

namespace chainerx {

struct Program;

// Where the memory of an array of a plan comes from.
enum class PlanMemory : uint8_t {
    kScratch,  // a block that runs of several plans share
    kInput,    // an array that each run is given
    kOutput,   // a block that each run makes, or a part of the scratch memory that outlives it
    kHeld,     // an array that exists outside, such as a parameter
};

// An array without memory.
struct ArrayForm {
    explicit ArrayForm(const Array& a) : shape{a.shape()}, strides{a.strides()}, dtype{a.dtype()}, offset{a.offset()} {}
    Shape shape;
    Strides strides;
    Dtype dtype;
    int64_t offset;  // from the beginning of its block
};

// An array that a run returns: in the memory `index` of a kind, or in that of `held`; in an input, the offset counts
// from the first element of the input.
struct PlanResult {
    PlanMemory memory;
    size_t index;
    ArrayForm form;
    Array held;
};

// At the end of a segment, a result becomes the gradient of an array, or without a result the array loses its gradient.
struct PlanGrad {
    Array target;
    std::optional<size_t> result;
    size_t segment;
};

// An array of the calls, and where it begins in its memory.
struct PlanBinding {
    ArrayBody* body;
    int64_t offset;
};

// A draw of random numbers, and the calls' copies of its stream.
struct PlanDraw {
    int64_t count;
    std::vector<RandomStream*> targets;
};

// Where the calls, draws and gradients of a segment end.
struct PlanSegment {
    size_t call_end;
    size_t draw_end;
    size_t grad_end;
};

// A part of the scratch memory, and the first and the last call that need it.
struct PlanBlock {
    size_t first;
    size_t last;
    int64_t offset;
    int64_t bytes;
};

// A place in the scratch memory for what is elsewhere in each run; recorded work needs fixed places.
struct PlanPlace {
    int64_t offset{0};
    int64_t bytes{0};   // 0: none
    size_t segment{0};  // of all calls that use an output
};

// What a plan consists of.
struct PlanParts {
    Device* device{nullptr};
    std::vector<std::unique_ptr<KernelCall>> calls;
    std::vector<PlanSegment> segments;
    std::vector<std::vector<double>*> scalars;  // of the calls
    std::vector<ArrayForm> inputs;
    std::vector<std::vector<PlanBinding>> input_bindings;
    std::vector<size_t> output_bytes;
    std::vector<std::vector<PlanBinding>> output_bindings;
    std::vector<PlanPlace> input_places;
    std::vector<PlanPlace> output_places;
    std::vector<std::optional<size_t>> output_blocks;  // where gradients lie in the scratch memory, if they may
    std::vector<PlanResult> results;
    std::vector<PlanGrad> grads;  // by segment
    std::vector<Array> renewed;   // whose gradients end when a run starts
    std::vector<PlanDraw> draws;
    std::vector<const Storage*> held;  // sorted
    std::vector<StoragePtr> changed;   // held ones that graphs must notice to have changed
    std::vector<size_t> changed_inputs;
    std::shared_ptr<Scratch> scratch;
    std::vector<PlanBinding> scratch_bindings;
    std::vector<PlanBlock> blocks;
    int64_t scratch_bytes{0};
    int64_t unshared_scratch_bytes{0};
    int64_t own_bytes{0};
};

// The kernels that a step of a program called, in order and with their arguments. A run repeats them on other inputs,
// without operations and graphs. Segments are the parts between which the program does something itself.
//
// A run is Start and then Run for each segment in order, on one thread at a time. Between runs a plan keeps neither
// their inputs nor their results, so that hundreds of plans, of one shape each, cost little.
class Plan {
public:
    explicit Plan(PlanParts parts);

    // Whether arrays can be the first inputs: in shape, strides, dtype and device as those of the recording, in memory
    // of their own.
    bool Fits(const std::vector<Array>& inputs) const;
    // Takes the inputs and returns the outputs, which the segments fill.
    std::vector<Array> Start(const std::vector<Array>& inputs);
    void Run(size_t segment);
    // The run that follows draws no random numbers of its own, but takes these.
    void SetStreams(std::vector<RandomStream> streams) { streams_ = std::move(streams); }
    size_t draw_count() const { return parts_.draws.size(); }

    // Sets the numbers of the results whose graphs led to `leaves`, and which no run makes; see LoseGraph.
    void LoseGraphs(std::vector<size_t> results, std::vector<Array> leaves);

    // Replaces the scalars of the call that takes the `index`th list of such: those of an update of parameters.
    void SetScalars(size_t index, const std::vector<double>& scalars);

    size_t segment_count() const { return parts_.segments.size(); }
    size_t call_count() const { return parts_.calls.size(); }
    int64_t scratch_bytes() const { return parts_.scratch_bytes; }
    // Bytes that the scratch arrays have together, without reuse.
    int64_t unshared_scratch_bytes() const { return parts_.unshared_scratch_bytes; }
    const std::vector<PlanBlock>& blocks() const { return parts_.blocks; }
    // Bytes of the plan itself: calls, their arrays, and constants. About right.
    int64_t own_bytes() const { return parts_.own_bytes; }
    // What it was made of, for files; null if nobody kept it.
    const Program* program() const { return program_.get(); }
    void SetProgram(std::shared_ptr<const Program> program) { program_ = std::move(program); }
    // Whether runs measure the time of each kernel.
    void SetMeasured(bool is_measured);
    // The kernels, a line for each: its seconds in all measured runs, its name, and the dtypes and shapes of its
    // arrays.
    std::string Describe() const;
    // Of devices that record work; else null.
    const RecordedRuns* recorded_runs() const { return recorded_runs_.get(); }

private:
    struct RunScope;

    std::vector<StoragePtr> MakeOutputs();
    bool StartRecordedRun(const std::vector<Array>& inputs, const std::vector<StoragePtr>& blocks);
    void BindInputs(const std::vector<Array>& inputs, bool is_recorded);
    void BindOutputs(const std::vector<StoragePtr>& blocks, bool is_recorded);
    void RunCalls(size_t begin, size_t end);
    void BindScratch();
    void EndRun() noexcept;

    PlanParts parts_;
    const bool has_gradients_in_scratch_;
    std::unique_ptr<RecordedRuns> recorded_runs_;
    std::vector<double> seconds_;                        // of each call, if runs are measured
    std::vector<Array> outputs_;                         // of the present run
    std::vector<std::vector<BlockCopy>> output_copies_;  // at the end of each segment
    StoragePtr scratch_;                                 // that the calls are bound to
    bool is_running_{false};
    std::vector<RandomStream> streams_;  // in place of new ones
    std::vector<size_t> lost_graphs_;    // results
    std::vector<Array> leaves_;          // of these graphs
    std::shared_ptr<const Program> program_;
};

}  // namespace chainerx
