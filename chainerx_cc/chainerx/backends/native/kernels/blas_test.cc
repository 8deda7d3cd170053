#include "chainerx/backends/native/kernels/blas.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace chainerx::native {
namespace {

TEST(Blas, ChooseCoreType) {
    struct Row {
        CpuFeatures cpu;
        std::string core_type;
    };
    // The processor's vendor and model make no difference.
    const Row rows[] = {
            {{Isa::kBase, false}, ""},
            {{Isa::kV3, false}, ""},
            {{Isa::kV3, true}, ""},  // AVX-512 disabled by CHAINERX_ISA
            {{Isa::kV4, false}, CHAINERX_ISA_X86 ? "SkylakeX" : ""},
            {{Isa::kV4, true}, CHAINERX_ISA_X86 ? "SapphireRapids" : ""},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(ChooseCoreType(row.cpu), row.core_type)
                << static_cast<int>(row.cpu.isa) << (row.cpu.amx ? " with AMX" : "");
    }
}

TEST(Blas, ReportsTheReason) {
    const Blas& blas = GetBlas();
    EXPECT_EQ(&blas, &GetBlas());
    EXPECT_FALSE(blas.core_type.empty());
    const char* user = std::getenv("OPENBLAS_CORETYPE");
    if (user != nullptr && *user != '\0') {
        EXPECT_EQ(blas.reason, std::string{"OPENBLAS_CORETYPE="} + user);
    } else {
        bool is_chosen = blas.core_type == ChooseCoreType(GetCpuFeatures());
        EXPECT_EQ(blas.reason, is_chosen ? "chosen by ChainerX" : "detected by OpenBLAS");
    }
}

TEST(Blas, LeavesTheEnvironmentAlone) {
    auto get = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string{value == nullptr ? "(not set)" : value};
    };
    std::string core_type = get("OPENBLAS_CORETYPE");
    std::string threads = get("OPENBLAS_NUM_THREADS");
    GetBlas();  // gtest_discover_tests runs each test in a process of its own
    EXPECT_EQ(get("OPENBLAS_CORETYPE"), core_type);
    EXPECT_EQ(get("OPENBLAS_NUM_THREADS"), threads);
}

}  // namespace
}  // namespace chainerx::native
