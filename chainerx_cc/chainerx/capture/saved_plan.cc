#include "chainerx/capture/saved_plan.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_set>

#include "chainerx/capture/call_uses.h"
#include "chainerx/capture/plan.h"
#include "chainerx/capture/plan_builder.h"
#include "chainerx/capture/program.h"
#include "chainerx/capture/saved_kernel.h"
#include "chainerx/capture/saved_scalars.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/operands.h"

namespace chainerx {
namespace {

// The last digit is the version of the format.
constexpr std::string_view kMagic = "ChainerX plan 2\n";
constexpr size_t kChecksumBytes = 8;

// FNV-1a. It tells damage, not intent.
std::string ChecksumOf(std::string_view bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    std::string text;
    for (int i = 0; i < 64; i += 8) text.push_back(static_cast<char>(hash >> i));
    return text;
}

void WriteFile(const std::string& path, const ByteWriter& body) {
    ByteWriter head;
    head.Raw(kMagic.data(), kMagic.size());
    std::string checksum = ChecksumOf(body.bytes());
    head.Raw(checksum.data(), checksum.size());
    // Under another name until it is complete: the file may replace an older one.
    std::string unfinished = path + ".unfinished";
    std::ofstream file{unfinished, std::ios::binary};
    file << head.bytes() << body.bytes();
    file.close();
    if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
        int error = errno;
        std::remove(unfinished.c_str());
        throw ChainerxError{"'", path, "' cannot be written: ", std::strerror(error)};
    }
}

std::string ReadFile(const std::string& path) {
    std::error_code error;
    // Devices and pipes may have no end.
    bool is_file = std::filesystem::is_regular_file(path, error);
    std::ifstream file{path, std::ios::binary};
    if (!is_file || !file) throw ChainerxError{"'", path, "' cannot be read: it is no file, or not readable"};
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

void WriteContents(Device& device, const void* data, size_t bytes, ByteWriter& out) {
    std::string copy(bytes, '\0');
    device.CopyToHost(copy.data(), data, bytes);
    out.Raw(copy.data(), bytes);
}

void WriteKept(const Storage& storage, ByteWriter& out) {
    WriteContents(storage.device(), storage.data(), storage.bytes(), out);
}

void WriteState(const PlanState& s, ByteWriter& out) {
    WriteContents(s.value.device(), s.value.raw_data(), static_cast<size_t>(s.value.GetNBytes()), out);
}

void WriteStates(const Program& program, const PlanDetails& details, ProgramWriter& out) {
    out.bytes.Number(details.states.size());
    for (const PlanState& s : details.states) {
        const ArrayForm& form = program.inputs.at(s.input).form;
        if (s.value.shape() != form.shape || s.value.dtype() != form.dtype || !s.value.IsContiguous()) {
            throw ChainerxError{"the plan cannot be saved: ", details.inputs[s.input], " has another form now"};
        }
        out.bytes.Number(s.input);
        out.Write(program.results.at(s.result));
    }
}

// Memory of inputs while a plan is built, which binds others at each run.
StoragePtr MakePlaceholder(size_t bytes, Device& device) {
    auto free = [](Storage* storage) noexcept { delete storage; };
    return StoragePtr{new Storage{nullptr, bytes, device, free}};
}

KernelCalls ReadCalls(ProgramReader& in, uint64_t count) {
    KernelCalls calls;
    KnownPositions positions;
    for (; count > 0; --count) {
        std::string name = in.bytes.Text();
        const SavedKernel* kernel = FindSavedKernel(name);
        if (kernel == nullptr) throw ValueError{"there is no kernel '", name, "'"};
        try {
            calls.push_back(kernel->Read(in, positions));
        } catch (const ChainerxError& error) {
            throw ValueError{"in a call of '", name, "': ", error.what()};
        }
    }
    return calls;
}

}  // namespace

std::string FindRefusal(const Program& program) {
    if (!program.refusal.empty()) return program.refusal;
    // What no file could give back is not written.
    Device& device = GetDefaultContext().GetDevice("native:0");
    ProgramReader in{program.calls, device};
    for (const Program::Memory& m : program.memories) in.AddMemory(MakePlaceholder(m.bytes, device));
    try {
        ReadCalls(in, program.call_count);
    } catch (const ValueError& error) {
        return error.what();
    }
    return "";
}

void WritePlan(const std::string& path, const Program& program, const PlanDetails& details) {
    std::string refusal = FindRefusal(program);
    if (!refusal.empty()) throw ChainerxError{"the plan cannot be saved: ", refusal};
    if (details.inputs.size() != program.inputs.size()) {
        throw ChainerxError{"the plan has ", program.inputs.size(), " inputs, ", details.inputs.size(), " have names"};
    }
    ProgramWriter out{[&program](const Array& a) {
        size_t memory = program.FindKept(*a.body()->storage);
        return std::make_pair(memory, a.offset());
    }};
    out.bytes.Number(details.guards.size());
    for (const std::string& guard : details.guards) out.bytes.Text(guard);
    out.bytes.Number(program.memories.size());
    for (const Program::Memory& m : program.memories) {
        out.bytes.Number(static_cast<uint64_t>(m.source));
        out.bytes.Number(m.bytes);
    }
    out.bytes.Number(details.arrays.size());
    for (const auto& [name, array] : details.arrays) {
        if (program.FindKept(*array.body()->storage) == Program::kNoMemory) {
            throw ChainerxError{"the plan cannot be saved: no kernel uses ", name};
        }
        out.bytes.Text(name);
        out.Write(array);
    }
    out.bytes.Number(program.inputs.size());
    for (size_t i = 0; i < program.inputs.size(); ++i) {
        out.bytes.Text(details.inputs[i]);
        out.Write(program.inputs[i]);
    }
    out.bytes.Number(details.outputs.size());
    for (const auto& [name, number] : details.outputs) {
        out.bytes.Text(name);
        out.Write(program.results.at(number));
    }
    WriteStates(program, details, out);
    out.bytes.Number(program.draws.size());
    for (const Program::Draw& d : program.draws) {
        out.bytes.Number(d.stream.key);
        out.bytes.Number(d.stream.position);
        out.bytes.Number(static_cast<uint64_t>(d.count));
    }
    out.bytes.Number(program.call_count);
    out.bytes.Raw(program.calls.data(), program.calls.size());
    WriteScalars(details.scalars, out.bytes);
    for (const Program::Memory& m : program.memories) {
        if (m.kept) WriteKept(*m.kept, out.bytes);
    }
    for (const PlanState& s : details.states) WriteState(s, out.bytes);
    WriteFile(path, out.bytes);
}

std::vector<std::string> GetSavedKernelNames() {
    std::vector<std::string> names;
    for (const auto& kernel : GetSavedKernels()) names.emplace_back(kernel->slot().name());
    return names;
}

struct SavedPlan::Parts {
    Parts(std::string_view body, Device& device);

    std::string head;  // of the file, up to the scalars
    std::vector<std::string> guards;
    std::vector<std::string> input_names;
    std::vector<std::string> argument_names;  // of the inputs but for states
    std::vector<std::string> output_names;
    std::vector<std::pair<std::string, Array>> arrays;
    std::vector<Array> inputs;  // without memory
    std::vector<PlanState> states;
    std::vector<PlanScalars> scalars;
    std::vector<StoragePtr> kept;
    std::shared_ptr<Plan> plan;

    // The inputs as the plan takes them, in memory of their own.
    std::vector<Array> Prepare(const std::vector<Array>& given) const;
    // Replaces the states by results of a run, which are its last outputs, and removes these.
    void TakeStates(std::vector<Array>& outputs);

private:
    void ReadMemories(Recording& recording, ProgramReader& in, size_t file_bytes);
    void ReadArrays(ProgramReader& in);
    void ReadInputs(ProgramReader& in);
    std::vector<Array> ReadOutputs(ProgramReader& in);
    void ReadStates(ProgramReader& in, std::vector<Array>& results);
    void ReadStateContents(ProgramReader& in);
    const PlanState* FindState(size_t input) const;
    static void ReadDraws(Recording& recording, ProgramReader& in);
    Array PrepareOne(size_t i, const Array& given) const;

    size_t input_memories_{0};
};

SavedPlan::Parts::Parts(std::string_view body, Device& device) {
    if (device.backend().name() != "native") throw ChainerxError{"plans run on native devices, not ", device.name()};
    Recording recording{device};
    ProgramReader in{body, device};
    for (uint64_t n = in.bytes.Number(); n > 0; --n) guards.push_back(in.bytes.Text());
    ReadMemories(recording, in, body.size());
    ReadArrays(in);
    ReadInputs(in);
    std::vector<Array> results = ReadOutputs(in);
    ReadStates(in, results);
    ReadDraws(recording, in);
    recording.calls = ReadCalls(in, in.bytes.Number());
    head = body.substr(0, body.size() - in.bytes.rest().size());
    scalars = ReadScalars(in.bytes);
    for (const StoragePtr& storage : kept) {
        device.CopyFromHost(storage->data(), in.bytes.Raw(storage->bytes()).data(), storage->bytes());
        // Runs count as changes.
        recording.found.try_emplace(storage.get(), storage, storage->version() - 1);
    }
    ReadStateContents(in);
    if (!in.bytes.rest().empty()) throw ValueError{"it does not end where it should"};
    plan = BuildPlan(recording, inputs, results, {}, {}, std::make_shared<Scratch>());
    for (const PlanScalars& s : scalars) plan->SetScalars(s.index, MakeScalars(s, s.updates + 1));
}

void SavedPlan::Parts::ReadMemories(Recording& recording, ProgramReader& in, size_t file_bytes) {
    size_t rest = Program::kMostBytes;
    for (uint64_t n = in.bytes.Number(); n > 0; --n) {
        auto source = static_cast<Program::Source>(in.bytes.Index(3));
        size_t bytes = in.bytes.Index(rest);
        rest -= bytes;
        switch (source) {
            case Program::Source::kNew:
                in.AddMemory(recording.MakeStandIn(bytes));
                break;
            case Program::Source::kInput:
                in.AddMemory(MakePlaceholder(bytes, in.device()));
                ++input_memories_;
                break;
            case Program::Source::kKept:
                // Whose contents follow, so that no file makes the program allocate more than its own size.
                if (bytes > file_bytes) throw ValueError{"it ends too early"};
                file_bytes -= bytes;
                kept.push_back(in.device().Allocate(bytes));
                in.AddMemory(kept.back());
                break;
        }
    }
}

void SavedPlan::Parts::ReadArrays(ProgramReader& in) {
    for (uint64_t n = in.bytes.Number(); n > 0; --n) {
        std::string name = in.bytes.Text();
        Array a = in.ReadArray();
        const Storage* storage = a.body()->storage.get();
        auto is_same = [storage](const StoragePtr& k) { return k.get() == storage; };
        if (std::none_of(kept.begin(), kept.end(), is_same)) throw ValueError{name, " has no contents"};
        arrays.emplace_back(std::move(name), std::move(a));
    }
}

void SavedPlan::Parts::ReadInputs(ProgramReader& in) {
    for (uint64_t n = in.bytes.Number(); n > 0; --n) {
        input_names.push_back(in.bytes.Text());
        inputs.push_back(in.ReadArray());
        const Storage& storage = *inputs.back().body()->storage;
        // Runs are given arrays of this form, of which nothing else may be used.
        bool is_input = storage.data() == nullptr && storage.owner() == nullptr;
        if (!is_input || inputs.back().offset() != 0 || ExtentOf(inputs.back()) != storage.bytes()) {
            throw ValueError{"the input ", input_names.back(), " is not all of its memory"};
        }
    }
    // The plan refuses inputs that share memory.
    if (inputs.size() != input_memories_) throw ValueError{"it has memory of inputs that it lacks"};
}

std::vector<Array> SavedPlan::Parts::ReadOutputs(ProgramReader& in) {
    std::vector<Array> results;
    for (uint64_t n = in.bytes.Number(); n > 0; --n) {
        output_names.push_back(in.bytes.Text());
        results.push_back(in.ReadArray());
    }
    return results;
}

void SavedPlan::Parts::ReadStates(ProgramReader& in, std::vector<Array>& results) {
    for (uint64_t n = in.bytes.Number(); n > 0; --n) {
        size_t input = in.bytes.Index(inputs.size());
        const Array& form = inputs[input];
        Array next = in.ReadArray();
        bool fits = form.IsContiguous() && next.shape() == form.shape() && next.dtype() == form.dtype();
        if (!fits || FindState(input) != nullptr) throw ValueError{"the state ", input_names[input], " does not fit"};
        states.push_back({input, results.size(), Array{}});
        results.push_back(std::move(next));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (FindState(i) == nullptr) argument_names.push_back(input_names[i]);
    }
}

void SavedPlan::Parts::ReadStateContents(ProgramReader& in) {
    for (PlanState& s : states) {
        const Array& form = inputs[s.input];
        // Before there is memory of the size.
        std::string_view bytes = in.bytes.Raw(static_cast<uint64_t>(form.GetNBytes()));
        s.value = Empty(form.shape(), form.dtype(), in.device());
        in.device().CopyFromHost(s.value.raw_data(), bytes.data(), bytes.size());
        arrays.emplace_back(input_names[s.input], s.value);
    }
}

const PlanState* SavedPlan::Parts::FindState(size_t input) const {
    auto it = std::find_if(states.begin(), states.end(), [input](const PlanState& s) { return s.input == input; });
    return it == states.end() ? nullptr : &*it;
}

void SavedPlan::Parts::ReadDraws(Recording& recording, ProgramReader& in) {
    for (uint64_t n = in.bytes.Number(); n > 0; --n) {
        uint64_t key = in.bytes.Number();
        uint64_t position = in.bytes.Number();
        recording.draws.push_back({{key, position}, static_cast<int64_t>(in.bytes.Index(Program::kMostBytes)), 0});
    }
}

std::vector<Array> SavedPlan::Parts::Prepare(const std::vector<Array>& given) const {
    if (given.size() != argument_names.size()) {
        throw ValueError{"the plan takes ", argument_names.size(), " inputs, ", given.size(), " were given"};
    }
    std::vector<Array> prepared;
    std::unordered_set<const Storage*> used;
    for (const StoragePtr& storage : kept) used.insert(storage.get());
    auto next = given.begin();
    for (size_t i = 0; i < inputs.size(); ++i) {
        const PlanState* state = FindState(i);
        Array a = PrepareOne(i, state == nullptr ? *next++ : state->value);
        // What the plan writes to one array must not change another.
        if (!used.insert(a.body()->storage.get()).second) a = PrepareOne(i, MakeContiguousCopy(a, a.dtype()));
        prepared.push_back(std::move(a));
    }
    return prepared;
}

void SavedPlan::Parts::TakeStates(std::vector<Array>& outputs) {
    size_t first_array = arrays.size() - states.size();
    for (size_t i = 0; i < states.size(); ++i) {
        PlanState& s = states[i];
        // A result may be in the memory of an input, or of another output.
        s.value = MakeContiguousCopy(outputs[s.result], outputs[s.result].dtype());
        arrays[first_array + i].second = s.value;
    }
    outputs.resize(output_names.size());
}

Array SavedPlan::Parts::PrepareOne(size_t i, const Array& given) const {
    const Array& form = inputs[i];
    if (!given || &given.device() != &form.device() || given.shape() != form.shape() || given.dtype() != form.dtype()) {
        throw ValueError{"the input ",
                         input_names[i],
                         " must be an array of shape ",
                         form.shape(),
                         " and dtype ",
                         form.dtype(),
                         " on ",
                         form.device().name(),
                         given ? internal::Concat(", not of shape ", given.shape(), " and dtype ", given.dtype(),
                                                  " on ", given.device().name())
                               : ""};
    }
    if (given.strides() == form.strides()) return given.AsDetached();
    if (!form.IsContiguous()) throw ValueError{"the input ", input_names[i], " must have the strides ", form.strides()};
    Array a = Contiguous(given);
    // Strides of dimensions of length 1 may be any.
    return internal::MakeView(a, form.shape(), form.strides(), a.offset());
}

SavedPlan::SavedPlan(const std::string& path, Device& device) {
    std::string bytes = ReadFile(path);
    try {
        ByteReader in{bytes};
        if (in.Raw(std::min(bytes.size(), kMagic.size())) != kMagic) throw ValueError{"it does not begin like one"};
        std::string_view checksum = in.Raw(kChecksumBytes);
        if (ChecksumOf(in.rest()) != checksum) throw ValueError{"its checksum is wrong"};
        parts_ = std::make_unique<Parts>(in.rest(), device);
    } catch (const ChainerxError& error) {
        throw ValueError{"'", path, "' is no plan that can be loaded: ", error.what()};
    }
}

SavedPlan::~SavedPlan() = default;
SavedPlan::SavedPlan(SavedPlan&&) noexcept = default;
SavedPlan& SavedPlan::operator=(SavedPlan&&) noexcept = default;

std::vector<Array> SavedPlan::Run(const std::vector<Array>& inputs) {
    NoteGraphBreak("a plan of a file runs");
    std::vector<Array> prepared = parts_->Prepare(inputs);
    for (const PlanScalars& s : parts_->scalars) parts_->plan->SetScalars(s.index, MakeScalars(s, s.updates + 1));
    std::vector<Array> outputs = parts_->plan->Start(prepared);
    parts_->plan->Run(0);
    for (PlanScalars& s : parts_->scalars) ++s.updates;
    parts_->TakeStates(outputs);
    return outputs;
}

void SavedPlan::Save(const std::string& path) const {
    ByteWriter body;
    body.Raw(parts_->head.data(), parts_->head.size());
    WriteScalars(parts_->scalars, body);
    for (const StoragePtr& storage : parts_->kept) WriteKept(*storage, body);
    for (const PlanState& s : parts_->states) WriteState(s, body);
    WriteFile(path, body);
}

const std::vector<std::string>& SavedPlan::inputs() const { return parts_->argument_names; }
const std::vector<std::string>& SavedPlan::outputs() const { return parts_->output_names; }
const std::vector<std::pair<std::string, Array>>& SavedPlan::arrays() const { return parts_->arrays; }
const std::vector<std::string>& SavedPlan::guards() const { return parts_->guards; }

const Array& SavedPlan::Find(const std::string& name) const {
    for (const auto& [own, array] : parts_->arrays) {
        if (own == name) return array;
    }
    throw ValueError{"the plan has no array of the name '", name, "'"};
}

}  // namespace chainerx
