// Recorders, plans, watches and listeners, from which chainer.compile is made.

#include "chainerx/python/capture.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/program.h"
#include "chainerx/capture/recorder.h"
#include "chainerx/capture/saved_plan.h"
#include "chainerx/core/error.h"
#include "chainerx/core/operands.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/call_listener.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/object.h"
#include "chainerx/python/watch.h"

namespace chainerx::python {

using RecorderPtr = std::shared_ptr<Recorder>;
using ScratchPtr = std::shared_ptr<Scratch>;
using PlanPtr = std::shared_ptr<Plan>;
using SavedPlanPtr = std::shared_ptr<SavedPlan>;
using WatchPtr = std::shared_ptr<Watch>;
using CallListenerPtr = std::shared_ptr<CallListener>;

template <>
struct Arg<Recorder> {
    static std::string Type() { return "_Recorder"; }
    static Recorder& Get(PyObject* o, const char* name) {
        return *ValueArg<RecorderPtr>(o, name, "chainerx._core._Recorder");
    }
};
template <>
struct Arg<ScratchPtr> {
    static std::string Type() { return "_Scratch"; }
    static ScratchPtr Get(PyObject* o, const char* name) {
        return ValueArg<ScratchPtr>(o, name, "chainerx._core._Scratch");
    }
};
template <>
struct Arg<Plan> {
    static std::string Type() { return "_Plan"; }
    static Plan& Get(PyObject* o, const char* name) { return *ValueArg<PlanPtr>(o, name, "chainerx._core._Plan"); }
};
template <>
struct Arg<SavedPlan> {
    static std::string Type() { return "_SavedPlan"; }
    static SavedPlan& Get(PyObject* o, const char* name) {
        return *ValueArg<SavedPlanPtr>(o, name, "chainerx._core._SavedPlan");
    }
};
template <>
struct Arg<Watch> {
    static std::string Type() { return "_Watch"; }
    static Watch& Get(PyObject* o, const char* name) { return *ValueArg<WatchPtr>(o, name, "chainerx._core._Watch"); }
};
template <>
struct Arg<CallListener> {
    static std::string Type() { return "_CallListener"; }
    static CallListener& Get(PyObject* o, const char* name) {
        return *ValueArg<CallListenerPtr>(o, name, "chainerx._core._CallListener");
    }
};

namespace {

// Errors of the callback are not those of the function that is recorded.
RecorderPtr NewRecorder(Device& device, PyObject* on_graph_break, const std::optional<ScratchPtr>& scratch) {
    auto call = [callback = PyRef::Borrow(on_graph_break)] {
        PyRef result{PyObject_CallNoArgs(callback.get())};
        if (!result) PyErr_WriteUnraisable(callback.get());
    };
    return std::make_shared<Recorder>(device, std::move(call), scratch.value_or(nullptr));
}
void Start(Recorder& self) { self.Start(); }
void Stop(Recorder& self) { self.Stop(); }
void Mark(Recorder& self) { self.Mark(); }
int64_t GetSegment(Recorder& self) { return static_cast<int64_t>(self.segment()); }
int64_t CountScalars(Recorder& self) { return static_cast<int64_t>(self.scalars_count()); }
void WatchRecordedData(Recorder& self, PyObject* on_data) {
    self.WatchData([callback = PyRef::Borrow(on_data)](const Array& data) {
        PyRef array{ToPython(data)};
        PyRef result{PyObject_CallOneArg(callback.get(), array.get())};
        if (!result) PyErr_WriteUnraisable(callback.get());
    });
}
void Note(Recorder& self, const std::string& what) { self.OnGraphBreak(what); }
std::string GetGraphBreak(Recorder& self) { return self.graph_break(); }
bool IsNew(Recorder& self, const Array& array) { return self.IsNew(array); }
bool IsUsed(Recorder& self, const Array& array) { return self.IsUsed(array); }

// The gradients are those of `targets`: results, or none for -1.
PyRef MakePlan(Recorder& self, const std::vector<Array>& inputs, const std::vector<Array>& held,
               const std::vector<Array>& results, const std::vector<Array>& targets, const std::vector<int64_t>& grads,
               const std::vector<int64_t>& segments, std::vector<Array> renewed) {
    if (targets.size() != grads.size() || targets.size() != segments.size()) {
        throw DimensionError{"every target needs a gradient and a segment"};
    }
    std::vector<PlanGrad> plan_grads;
    for (size_t i = 0; i < targets.size(); ++i) {
        std::optional<size_t> result;
        if (grads[i] >= 0) result = static_cast<size_t>(grads[i]);
        if (result.has_value() && *result >= results.size()) throw IndexError{"no result ", *result};
        plan_grads.push_back({targets[i], result, static_cast<size_t>(segments[i])});
    }
    return MakeObject(self.MakePlan(inputs, held, results, std::move(plan_grads), std::move(renewed)));
}

ScratchPtr NewScratch() { return std::make_shared<Scratch>(); }
int64_t GetBytes(const ScratchPtr& self) { return static_cast<int64_t>(self->bytes()); }

bool Fits(Plan& self, const std::vector<Array>& inputs) { return self.Fits(inputs); }
std::vector<Array> StartRun(Plan& self, const std::vector<Array>& inputs) { return self.Start(inputs); }
void Run(Plan& self, int64_t segment) { self.Run(static_cast<size_t>(segment)); }
void SetScalars(Plan& self, int64_t index, const std::vector<double>& scalars) {
    self.SetScalars(static_cast<size_t>(index), scalars);
}
void LoseGraphs(Plan& self, const std::vector<int64_t>& results, std::vector<Array> leaves) {
    self.LoseGraphs({results.begin(), results.end()}, std::move(leaves));
}
void DrawAs(Plan& self, Recorder& recorder) {
    std::vector<RandomStream> streams = recorder.GetStreams();
    if (streams.size() != self.draw_count()) {
        throw ChainerxError{"a plan of ", self.draw_count(), " draws cannot draw as a recording of ", streams.size()};
    }
    self.SetStreams(std::move(streams));
}
int64_t CountSegments(Plan& self) { return static_cast<int64_t>(self.segment_count()); }
int64_t CountCalls(Plan& self) { return static_cast<int64_t>(self.call_count()); }
int64_t CountRecorded(Plan& self) {
    return self.recorded_runs() == nullptr ? 0 : static_cast<int64_t>(self.recorded_runs()->recorded());
}
int64_t CountSubmitted(Plan& self) {
    return self.recorded_runs() == nullptr ? 0 : static_cast<int64_t>(self.recorded_runs()->submitted());
}
int64_t GetScratchBytes(Plan& self) { return self.scratch_bytes(); }
int64_t GetUnsharedScratchBytes(Plan& self) { return self.unshared_scratch_bytes(); }
PyRef GetBlocks(Plan& self) {
    PyRef list = Check(PyList_New(0));
    for (const PlanBlock& b : self.blocks()) {
        PyRef block =
                Check(Py_BuildValue("(nnLL)", static_cast<Py_ssize_t>(b.first), static_cast<Py_ssize_t>(b.last),
                                    static_cast<long long>(b.offset), static_cast<long long>(b.bytes)));  // NOLINT
        if (PyList_Append(list.get(), block.get()) < 0) throw PythonError{};
    }
    return list;
}
int64_t GetOwnBytes(Plan& self) { return self.own_bytes(); }
void SetMeasured(Plan& self, bool is_measured) { self.SetMeasured(is_measured); }
std::string Describe(Plan& self) { return self.Describe(); }

// `scalars`: the number of a call among those that have some, that of the rule, and the updates so far; `states`: the
// numbers of an input and of the result that takes its place.
void SavePlan(Plan& self, const std::string& path, const std::vector<std::string>& guards,
              const std::vector<std::string>& inputs, const std::vector<std::string>& names,
              const std::vector<Array>& arrays, const std::vector<std::string>& outputs,
              const std::vector<int64_t>& results, const std::vector<std::vector<int64_t>>& scalars,
              const std::vector<std::vector<double>>& values, const std::vector<std::vector<int64_t>>& states,
              const std::vector<Array>& state_values) {
    PlanDetails details{guards, inputs, {}, {}, {}, {}};
    for (size_t i = 0; i < arrays.size(); ++i) details.arrays.emplace_back(names.at(i), arrays[i]);
    for (size_t i = 0; i < results.size(); ++i) {
        details.outputs.emplace_back(outputs.at(i), static_cast<size_t>(results[i]));
    }
    for (size_t i = 0; i < values.size(); ++i) {
        const std::vector<int64_t>& s = scalars.at(i);
        auto rule = static_cast<PlanScalars::Rule>(s.at(1));
        details.scalars.push_back({static_cast<size_t>(s[0]), rule, s.at(2), values[i]});
    }
    for (size_t i = 0; i < state_values.size(); ++i) {
        const std::vector<int64_t>& s = states.at(i);
        details.states.push_back(
                {static_cast<size_t>(s.at(0)), static_cast<size_t>(s.at(1)), Contiguous(state_values[i])});
    }
    WritePlan(path, *self.program(), details);
}
std::string GetRefusal(Plan& self) { return FindRefusal(*self.program()); }
bool HasProgramArray(Plan& self, const Array& array) {
    return self.program()->FindKept(*array.body()->storage) != Program::kNoMemory;
}
int64_t CountInputs(Plan& self) { return static_cast<int64_t>(self.program()->inputs.size()); }
int64_t CountResults(Plan& self) { return static_cast<int64_t>(self.program()->results.size()); }

SavedPlanPtr LoadPlan(const std::string& path, Device& device) { return std::make_shared<SavedPlan>(path, device); }
std::vector<Array> RunSavedPlan(SavedPlan& self, const std::vector<Array>& inputs) { return self.Run(inputs); }
void SaveAgain(SavedPlan& self, const std::string& path) { self.Save(path); }
PyRef ToTextList(const std::vector<std::string>& texts) {
    PyRef list = Check(PyList_New(0));
    for (const std::string& text : texts) {
        if (PyList_Append(list.get(), Check(ToPython(text)).get()) < 0) throw PythonError{};
    }
    return list;
}
PyRef GetPlanInputs(SavedPlan& self) { return ToTextList(self.inputs()); }
PyRef GetPlanOutputs(SavedPlan& self) { return ToTextList(self.outputs()); }
PyRef GetGuards(SavedPlan& self) { return ToTextList(self.guards()); }
PyRef GetNames(SavedPlan& self) {
    std::vector<std::string> names;
    for (const auto& [name, array] : self.arrays()) names.push_back(name);
    return ToTextList(names);
}
PyRef GetKernels(SavedPlan&) { return ToTextList(GetSavedKernelNames()); }
Array FindArray(SavedPlan& self, const std::string& name) { return self.Find(name); }

WatchPtr NewWatch() { return std::make_shared<Watch>(); }
void WatchAttributes(Watch& self, PyObject* object, PyObject* ignored) { self.AddAttributes(object, ignored); }
void WatchMember(Watch& self, PyObject* object, PyObject* name) { self.AddMember(object, name); }
void WatchItems(Watch& self, PyObject* container, PyObject* ignored) { self.AddItems(container, ignored); }
void WatchElements(Watch& self, PyObject* iterable) { self.AddElements(iterable); }
void WatchEntry(Watch& self, PyObject* dict, PyObject* key) { self.AddEntry(dict, key); }
void WatchItemsOfEntry(Watch& self, PyObject* dict, PyObject* key) { self.AddItemsOfEntry(dict, key); }
void WatchClass(Watch& self, PyObject* type) { self.AddClass(type); }
void WatchFunction(Watch& self, PyObject* function) { self.AddFunction(function); }
void WatchData(Watch& self, PyObject* object) { self.AddData(object); }
void WatchArray(Watch& self, PyObject* array) { self.AddArray(array); }
int64_t GetFlags(Watch&, PyObject* array) { return Watch::FlagsOf(array); }
PyRef GetForm(Watch&, PyObject* array) { return Watch::FormOf(array); }
int64_t FindChange(Watch& self) { return self.FindChange(); }
PyRef FindChanges(Watch& self) {
    PyRef list = Check(PyList_New(0));
    for (int64_t i : self.FindChanges()) {
        if (PyList_Append(list.get(), Check(PyLong_FromLongLong(i)).get()) < 0) throw PythonError{};
    }
    return list;
}

CallListenerPtr NewCallListener() { return std::make_shared<CallListener>(); }
void StartListening(PyObject* self, PyCallable on_call, PyCallable on_builtin, PyCallable on_warning) {
    Arg<CallListener>::Get(self, "self").Start(self, on_call.object, on_builtin.object, on_warning.object);
}
void StopListening(CallListener& self) { self.Stop(); }
void ForgetProgram(CallListener& self) { self.ForgetProgram(); }

}  // namespace

void AddCapture(PyObject* module) {
    Class<RecorderPtr>{"_Recorder", "Records the kernels that a thread calls; see capture/recorder.h."}
            .Init<&NewRecorder>("device, on_graph_break, scratch=None")
            .Method<&Start>("start", "self", "Records until ``stop``.")
            .Method<&Stop>("stop", "self", "Ends or interrupts the recording.")
            .Method<&Mark>("mark", "self", "Ends a segment.")
            .Method<&WatchRecordedData>("watch_data", "self, on_data",
                                        "Calls a function with each array of data of the program.")
            .Method<&Note>("note", "self, what", "Notes why there can be no plan.")
            .Property<&GetSegment>("segment", "Number of the segment.")
            .Property<&CountScalars>("scalars_count", "Number of calls so far that have scalars.")
            .Property<&GetGraphBreak>("graph_break", "Why there can be no plan, or an empty text.")
            .Method<&IsNew>("is_new", "self, array", "Whether the array lies in memory that was made meanwhile.")
            .Method<&IsUsed>("is_used", "self, array", "Whether kernels used an array that existed before.")
            .Method<&MakePlan>(
                    "plan", "self, inputs, held, results, targets, grads, segments, renewed",
                    "Makes the plan. At the ends of ``segments``, results of the numbers ``grads`` become "
                    "gradients of ``targets``; -1 clears them. The gradients of ``renewed`` end at the start.")
            .Add(module);
    Class<ScratchPtr>{"_Scratch", "Memory that plans share; see capture/scratch.h."}
            .Init<&NewScratch>("")
            .Property<&GetBytes>("bytes", "Bytes, as many as the largest of the plans needs.")
            .Add(module);
    Class<PlanPtr>{"_Plan", "Kernels to run again; see capture/plan.h."}
            .Method<&Fits>("fits", "self, inputs", "Whether it can run on these arrays.")
            .Method<&StartRun>("start", "self, inputs", "Begins a run; gives the results, which segments fill.")
            .Method<&Run>("run", "self, segment", "Runs a segment.")
            .Method<&SetScalars>("set_scalars", "self, index, scalars",
                                 "Replaces the scalars of a call, the ``index``th that has some.")
            .Method<&LoseGraphs>("lose_graphs", "self, results, leaves",
                                 "Lets backward raise an error where it goes to ``leaves`` through these results.")
            .Method<&DrawAs>("draw_as", "self, recorder", "Lets the next run take the random numbers of a recording.")
            .Method<&SavePlan>("save",
                               "self, path, guards, inputs, names, arrays, outputs, results, scalars, values, states, "
                               "state_values",
                               "Writes it to a file; see capture/saved_plan.h.")
            .Property<&GetRefusal>("refusal", "Why no file can have it, or an empty text.")
            .Method<&HasProgramArray>("keeps", "self, array", "Whether kernels use an array that files keep.")
            .Property<&CountInputs>("input_count", "Number of inputs.")
            .Property<&CountResults>("result_count", "Number of results.")
            .Property<&CountSegments>("segment_count", "Number of segments.")
            .Property<&CountCalls>("call_count", "Number of calls of kernels.")
            .Property<&CountRecorded>("recorded_count", "Number of parts that the device has recorded, as CUDA graphs.")
            .Property<&CountSubmitted>("submitted_count", "How often recorded parts ran in place of their calls.")
            .Property<&GetScratchBytes>("scratch_bytes", "Bytes of memory that it shares with others.")
            .Property<&GetUnsharedScratchBytes>("unshared_scratch_bytes", "The same if nothing shared memory.")
            .Property<&GetBlocks>("blocks",
                                  "Parts of that memory: the first and last kernel that need it, offset, bytes.")
            .Property<&GetOwnBytes>("own_bytes", "Bytes of the plan itself, about.")
            .Method<&SetMeasured>("set_measured", "self, is_measured", "Whether runs measure the time of each kernel.")
            .Method<&Describe>("describe", "self",
                               "A line for each kernel: seconds in measured runs, name, dtypes and shapes.")
            .Add(module);
    Class<SavedPlanPtr>{"_SavedPlan", "A plan from a file; see capture/saved_plan.h."}
            .Init<&LoadPlan>("path, device")
            .Method<&RunSavedPlan>("run", "self, inputs", "Returns the outputs.")
            .Method<&SaveAgain>("save", "self, path", "Writes it with the present parameters and states.")
            .Method<&FindArray>("find", "self, name", "A parameter or state.")
            .Property<&GetPlanInputs>("inputs", "Names.")
            .Property<&GetPlanOutputs>("outputs", "Names.")
            .Property<&GetNames>("names", "Of parameters and states.")
            .Property<&GetGuards>("guards", "What the function depends on besides its arguments.")
            .Property<&GetKernels>("kernels", "Names of all kernels that files have.")
            .Add(module);
    Class<WatchPtr>{"_Watch", "Notices changes of Python objects; see python/watch.h."}
            .Init<&NewWatch>("")
            .Method<&WatchAttributes>("add_attributes", "self, object, ignored=None", "Watches attributes.")
            .Method<&WatchMember>("add_member", "self, object, name", "Watches what is no item of ``__dict__``.")
            .Method<&WatchItems>("add_items", "self, container, ignored=None", "Watches a dict, a list or a set.")
            .Method<&WatchElements>("add_elements", "self, iterable", "Watches what an iterable gives, in order.")
            .Method<&WatchEntry>("add_entry", "self, dict, key", "Watches one entry of a dict.")
            .Method<&WatchItemsOfEntry>("add_items_of_entry", "self, dict, key",
                                        "Watches the items of the dict at a key, for which an equal one may come.")
            .Method<&WatchClass>("add_class", "self, type", "Watches what a class defines itself.")
            .Method<&WatchFunction>("add_function", "self, function", "Watches a function and its closure.")
            .Method<&WatchData>("add_data", "self, object", "Watches the elements of a NumPy array.")
            .Method<&WatchArray>("add_array", "self, array", "Watches whether an array has and needs a gradient.")
            .Method<&GetFlags>("flags_of", "self, array",
                               "What is compared of an array: 1: needs a gradient, 2: backward reaches it, 4: a "
                               "function made it in a graph, 8: has a gradient.")
            .Method<&GetForm>("form_of", "self, array", "The shape, strides, dtype and device of an array, as bytes.")
            .Method<&FindChange>("find_change", "self", "The number of the first thing that changed, or -1.")
            .Method<&FindChanges>("find_changes", "self", "The numbers of all things that changed.")
            .Add(module);
    Class<CallListenerPtr>{"_CallListener", "Tells of the calls of a thread; see python/call_listener.h."}
            .Init<&NewCallListener>("")
            .Method<&StartListening>("start", "self, on_call, on_builtin, on_warning",
                                     "Calls ``on_call(frame)``, which answers 0 to be told of the code again, 1 if it "
                                     "does not concern it, 2 if it is the program's.")
            .Method<&StopListening>("stop", "self", "Ends or interrupts.")
            .Method<&ForgetProgram>("forget_program", "self", "Tells of the code of the program again.")
            .Add(module);
}

}  // namespace chainerx::python
