// Changes models at random and loads them: fuzz SECONDS [SEED] [FILE...]. Build it with sanitizers, which report what
// must not happen; anything but a model or an error of the library ends it. It prints the seed, and each case follows
// from it alone. The file fuzz_case.onnx holds the case that runs, or that ended the program.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "chainerx/chainerx.h"
#include "chainerx_onnx/check.h"
#include "chainerx_onnx/model.h"
#include "chainerx_onnx/onnx.h"
#include "chainerx_onnx/testing/model_writer.h"

// A model may ask for any size that the machine has; here it gets an error instead of the machine's memory.
#if defined(__SANITIZE_ADDRESS__)
// Without detect_stack_use_after_return, whose stack GCC 12 aligns too little for vectors of 64 bytes (GCC's bug
// 110027).
extern "C" const char* __asan_default_options() {  // NOLINT
    return "allocator_may_return_null=1:max_allocation_size_mb=256:detect_stack_use_after_return=0";
}
void LimitMemory() {}
#else
void LimitMemory() {
    rlimit limit{rlim_t{3} << 30, rlim_t{3} << 30};
    setrlimit(RLIMIT_AS, &limit);
}
#endif

namespace chainerx::onnx {
namespace {

class Mutator {
public:
    Mutator(std::vector<std::string> seeds, uint64_t seed) : seeds_{std::move(seeds)}, random_{seed} {}

    std::string Next() {
        std::string bytes = Any();
        for (size_t n = 1 + Below(4); n > 0 && !bytes.empty(); --n) Change(&bytes);
        return bytes;
    }

private:
    size_t Below(size_t n) { return n == 0 ? 0 : random_() % n; }
    const std::string& Any() { return seeds_[Below(seeds_.size())]; }

    void Change(std::string* bytes) {
        size_t at = Below(bytes->size());
        size_t length = 1 + Below(std::min<size_t>(bytes->size() - at, 64));
        switch (Below(8)) {
            case 0:  // a bit
                (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << Below(8)));
                break;
            case 1:  // a byte, which may be a length or a key
                (*bytes)[at] = static_cast<char>(random_());
                break;
            case 2:
                bytes->resize(at);
                break;
            case 3:
                bytes->erase(at, length);
                break;
            case 4:  // twice
                bytes->insert(at, bytes->substr(at, length));
                break;
            case 5: {  // from another model
                const std::string& other = Any();
                size_t from = Below(other.size());
                bytes->insert(at, other.substr(from, 1 + Below(64)));
                break;
            }
            case 6:  // a large number
                bytes->replace(at, std::min<size_t>(length, 10), testing::Varint(random_() >> Below(64)));
                break;
            default: {  // parts change places
                size_t from = Below(bytes->size());
                std::string part = bytes->substr(from, length);
                bytes->replace(at, std::min(part.size(), bytes->size() - at), part);
            }
        }
    }

    std::vector<std::string> seeds_;
    std::mt19937_64 random_;
};

// A value of the kind and the shape that a model asks for, if it is small.
Value InputOf(const ValueInfo& info) {
    Shape shape;
    if (info.shape) {
        for (const ValueInfo::Dim& dim : *info.shape)
            shape.push_back(dim.size < 0 ? 2 : std::min<int64_t>(dim.size, 64));
    }
    if (shape.GetTotalSize() > (1 << 16)) throw ModelError{"the input is large"};
    if (info.kind == ValueInfo::Kind::kStrings) {
        return Value::Of(Strings{shape, std::vector<std::string>(shape.GetTotalSize(), "a b")});
    }
    Array ones = Ones(shape, info.dtype.value_or(Dtype::kFloat32));
    if (info.kind == ValueInfo::Kind::kSequence) return Value::Of(Sequence{{ones, ones}});
    if (info.kind == ValueInfo::Kind::kMap) {
        return Value::Of(Map{Ones(Shape{1}, Dtype::kInt64), Ones(Shape{1}, Dtype::kFloat32)});
    }
    return ones;
}

Values InputsOf(const Model& model) {
    Values xs;
    for (const ValueInfo& info : model.inputs()) xs.push_back(InputOf(info));
    return xs;
}

int Main(int argc, char** argv) {
    double seconds = argc > 1 ? std::atof(argv[1]) : 10;
    uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
    std::vector<std::string> seeds = testing::SampleModels();
    for (int i = 3; i < argc; ++i) {
        std::ifstream file{argv[i], std::ios::binary};
        seeds.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
    }
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    Context context;
    SetGlobalDefaultContext(&context);
    Mutator mutator{seeds, seed};
    int64_t cases = 0;
    int64_t checked = 0;
    int64_t loaded = 0;
    int64_t run = 0;
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (; std::chrono::steady_clock::now() < end; ++cases) {
        std::string bytes = mutator.Next();
        std::ofstream{"fuzz_case.onnx", std::ios::binary} << bytes;
        try {
            CheckModel(ReadModel(bytes));
            ++checked;
            Model model = LoadBytes(bytes);
            ++loaded;
            model.RunValues(InputsOf(model));
            ++run;
        } catch (const ChainerxError&) {
        } catch (const std::bad_alloc&) {
            // A size that fits into the machine and not beside what is there.
        }
    }
    std::printf("%lld cases: %lld passed the checks, %lld were loaded, %lld ran\n", static_cast<long long>(cases),
                static_cast<long long>(checked), static_cast<long long>(loaded), static_cast<long long>(run));
    return 0;
}

}  // namespace
}  // namespace chainerx::onnx

int main(int argc, char** argv) {
    LimitMemory();
    return chainerx::onnx::Main(argc, argv);
}
