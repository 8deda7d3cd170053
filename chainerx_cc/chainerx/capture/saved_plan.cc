#include "chainerx/capture/saved_plan.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <unordered_set>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/plan_builder.h"
#include "chainerx/capture/program.h"
#include "chainerx/capture/saved_kernel.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"
#include "chainerx/core/operands.h"

namespace chainerx {
namespace {

// The last digit is the version of the format.
constexpr std::string_view kMagic = "ChainerX plan 1\n";
constexpr size_t kChecksumBytes = 8;

// FNV-1a. It tells damage, not intent.
std::string ChecksumOf(std::string_view bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    std::string text;
    for (int i = 0; i < 64; i += 8) text.push_back(static_cast<char>(hash >> i));
    return text;
}

void WriteScalars(const std::vector<PlanScalars>& all, ByteWriter& out) {
    out.Number(all.size());
    for (const PlanScalars& s : all) {
        out.Number(s.index);
        out.Number(static_cast<uint64_t>(s.rule));
        out.Number(static_cast<uint64_t>(s.updates));
        out.Number(s.values.size());
        for (double v : s.values) out.Double(v);
    }
}

std::vector<PlanScalars> ReadScalars(ByteReader& in) {
    std::vector<PlanScalars> all;
    for (uint64_t n = in.Number(); n > 0; --n) {
        PlanScalars s{in.Index(SIZE_MAX), static_cast<PlanScalars::Rule>(in.Index(2)), 0, {}};
        s.updates = static_cast<int64_t>(in.Index(size_t{1} << 53));
        for (uint64_t k = in.Number(); k > 0; --k) s.values.push_back(in.Double());
        if (s.rule == PlanScalars::Rule::kAdam && s.values.size() != 6) throw ValueError{"Adam has other scalars"};
        all.push_back(std::move(s));
    }
    return all;
}

// As chainer.optimizers.Adam makes them.
std::vector<double> MakeScalars(const PlanScalars& s, int64_t update) {
    if (s.rule == PlanScalars::Rule::kFixed) return s.values;
    auto t = static_cast<double>(update);
    double fix1 = 1.0 - std::pow(s.values[1], t);
    double fix2 = 1.0 - std::pow(s.values[2], t);
    double infinity = std::numeric_limits<double>::infinity();
    return {s.values[0] * std::sqrt(fix2) / fix1,
            1.0 - s.values[1],
            1.0 - s.values[2],
            s.values[3],
            s.values[4],
            s.values[5],
            -infinity,
            infinity};
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

void WriteKept(const Storage& storage, ByteWriter& out) {
    std::string bytes(storage.bytes(), '\0');
    storage.device().CopyToHost(bytes.data(), storage.data(), bytes.size());
    out.Raw(bytes.data(), bytes.size());
}

// Memory of inputs while a plan is built, which binds others at each run.
StoragePtr MakePlaceholder(size_t bytes, Device& device) {
    auto free = [](Storage* storage) noexcept { delete storage; };
    return StoragePtr{new Storage{nullptr, bytes, device, free}};
}

}  // namespace

void WritePlan(const std::string& path, const Program& program, const PlanDetails& details) {
    if (!program.refusal.empty()) throw ChainerxError{"the plan cannot be saved: ", program.refusal};
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
    std::vector<std::string> output_names;
    std::vector<std::pair<std::string, Array>> arrays;
    std::vector<Array> inputs;  // without memory
    std::vector<PlanScalars> scalars;
    std::vector<StoragePtr> kept;
    std::shared_ptr<Plan> plan;

    // The inputs as the plan takes them, in memory of their own.
    std::vector<Array> Prepare(const std::vector<Array>& given) const;

private:
    void ReadMemories(Recording& recording, ProgramReader& in, size_t file_bytes);
    void ReadArrays(ProgramReader& in);
    void ReadInputs(ProgramReader& in);
    std::vector<Array> ReadOutputs(ProgramReader& in);
    static void ReadDraws(Recording& recording, ProgramReader& in);
    static void ReadCalls(Recording& recording, ProgramReader& in);
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
    ReadDraws(recording, in);
    ReadCalls(recording, in);
    head = body.substr(0, body.size() - in.bytes.rest().size());
    scalars = ReadScalars(in.bytes);
    for (const StoragePtr& storage : kept) {
        device.CopyFromHost(storage->data(), in.bytes.Raw(storage->bytes()).data(), storage->bytes());
        // Runs count as changes.
        recording.found.try_emplace(storage.get(), storage, storage->version() - 1);
    }
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

void SavedPlan::Parts::ReadDraws(Recording& recording, ProgramReader& in) {
    for (uint64_t n = in.bytes.Number(); n > 0; --n) {
        uint64_t key = in.bytes.Number();
        uint64_t position = in.bytes.Number();
        recording.draws.push_back({{key, position}, static_cast<int64_t>(in.bytes.Index(Program::kMostBytes)), 0});
    }
}

void SavedPlan::Parts::ReadCalls(Recording& recording, ProgramReader& in) {
    KnownPositions positions;
    for (uint64_t n = in.bytes.Number(); n > 0; --n) {
        std::string name = in.bytes.Text();
        const SavedKernel* kernel = FindSavedKernel(name);
        if (kernel == nullptr) throw ValueError{"there is no kernel '", name, "'"};
        try {
            recording.calls.push_back(kernel->Read(in, positions));
        } catch (const ChainerxError& error) {
            throw ValueError{"in a call of '", name, "': ", error.what()};
        }
    }
}

std::vector<Array> SavedPlan::Parts::Prepare(const std::vector<Array>& given) const {
    if (given.size() != inputs.size()) {
        throw ValueError{"the plan takes ", inputs.size(), " inputs, ", given.size(), " were given"};
    }
    std::vector<Array> prepared;
    std::unordered_set<const Storage*> used;
    for (const StoragePtr& storage : kept) used.insert(storage.get());
    for (size_t i = 0; i < given.size(); ++i) {
        Array a = PrepareOne(i, given[i]);
        // What the plan writes to one array must not change another.
        if (!used.insert(a.body()->storage.get()).second) a = PrepareOne(i, MakeContiguousCopy(a, a.dtype()));
        prepared.push_back(std::move(a));
    }
    return prepared;
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
    return outputs;
}

void SavedPlan::Save(const std::string& path) const {
    ByteWriter body;
    body.Raw(parts_->head.data(), parts_->head.size());
    WriteScalars(parts_->scalars, body);
    for (const StoragePtr& storage : parts_->kept) WriteKept(*storage, body);
    WriteFile(path, body);
}

const std::vector<std::string>& SavedPlan::inputs() const { return parts_->input_names; }
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
