#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/recorder.h"
#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

class ProductSumsTest : public testing::ContextFixture {
protected:
    // Numbers whose products round.
    static Array Numbers(const Shape& shape, Dtype dtype, double seed) {
        Array a = Empty(shape, Dtype::kFloat64);
        for (int64_t i = 0; i < a.GetTotalSize(); ++i) {
            a.data<double>()[i] = std::sin(seed + 1.7 * static_cast<double>(i));
        }
        return AsType(a, dtype);
    }

    // Runs a function of arrays as a plan on other arrays; compares to the last bit. Returns the number of sums.
    static int CountSums(const std::function<Array(const std::vector<Array>&)>& f, const std::vector<Array>& recorded,
                         const std::vector<Array>& others) {
        Recorder recorder{GetDefaultDevice()};
        recorder.Start();
        Array y = f(recorded);
        std::shared_ptr<Plan> plan = recorder.MakePlan(recorded, {}, {y}, {});
        Array result = plan->Start(others)[0];
        plan->Run(0);
        Array expected = f(others);
        EXPECT_EQ(std::memcmp(result.raw_data(), expected.raw_data(), static_cast<size_t>(result.GetNBytes())), 0);
        std::istringstream lines{plan->Describe()};
        int count = 0;
        std::string line;
        while (std::getline(lines, line)) count += line.find(" matmul_sum ") != std::string::npos ? 1 : 0;
        return count;
    }

    // Pairs of factors of products of the size m x n.
    static std::vector<Array> Factors(int pairs, int64_t m, int64_t n, int64_t k, Dtype dtype, double seed) {
        std::vector<Array> factors;
        for (int i = 0; i < pairs; ++i) {
            factors.push_back(Numbers({k, m}, dtype, seed + i));
            factors.push_back(Numbers({k, n}, dtype, seed - i));
        }
        return factors;
    }
    // As the gradient of a weight.
    static Array Product(const std::vector<Array>& factors, size_t i) {
        return Dot(Transpose(factors[2 * i]), factors[2 * i + 1]);
    }
};

TEST_F(ProductSumsTest, JoinsWithTheSameBits) {
    struct Row {
        int64_t m, n, k;
    };
    for (Row r : {Row{300, 512, 20}, Row{260, 128, 8}, Row{181, 190, 32}, Row{8, 4100, 5}, Row{33000, 1, 30},
                  Row{1, 33000, 2}, Row{200, 200, 1}}) {
        for (Dtype dtype : {Dtype::kFloat32, Dtype::kFloat64}) {
            for (int pairs : {2, 5}) {
                for (bool sum_first : {true, false}) {
                    SCOPED_TRACE(::testing::Message() << r.m << ' ' << r.n << ' ' << r.k << ' ' << pairs << sum_first);
                    auto f = [=](const std::vector<Array>& x) {
                        Array sum = Product(x, 0);
                        for (int i = 1; i < pairs; ++i) {
                            Array term = Product(x, static_cast<size_t>(i));
                            sum = sum_first ? sum + term : term + sum;
                        }
                        return sum;
                    };
                    EXPECT_EQ(CountSums(f, Factors(pairs, r.m, r.n, r.k, dtype, 1),
                                        Factors(pairs, r.m, r.n, r.k, dtype, 2)),
                              1);
                }
            }
        }
    }
}

TEST_F(ProductSumsTest, LeavesOthersAsTheyAre) {
    using Arrays = std::vector<Array>;
    struct Row {
        const char* what;
        int64_t m, k;
        Dtype dtype;
        std::function<Array(const Arrays&)> f;
    };
    auto sum = [](const Arrays& x) { return Product(x, 0) + Product(x, 1); };
    std::vector<Row> rows{
            {"long sums", 300, 33, Dtype::kFloat32, sum},
            {"little", 100, 20, Dtype::kFloat32, sum},
            {"half precision", 300, 20, Dtype::kFloat16, sum},
            {"a product that is read otherwise", 300, 20, Dtype::kFloat32,
             [](const Arrays& x) {
                 Array p = Product(x, 0);
                 return (p + Product(x, 1)) * Sum(p);
             }},
            {"a term that is no product", 300, 20, Dtype::kFloat32,
             [](const Arrays& x) { return Product(x, 0) + Tanh(Product(x, 1)); }},
            {"a broadcast product", 300, 20, Dtype::kFloat32,
             [](const Arrays& x) { return Product(x, 0) + Dot(Ones({1, 20}, Dtype::kFloat32), x[1]); }},
            {"a factor that changes meanwhile", 300, 20, Dtype::kFloat32,
             [](const Arrays& x) {
                 Array factor = Copy(x[1]);
                 Array p = Dot(Transpose(x[0]), factor);
                 Fill(factor, Scalar{3});
                 return p + Product(x, 1);
             }},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        EXPECT_EQ(CountSums(row.f, Factors(2, row.m, 200, row.k, row.dtype, 1),
                            Factors(2, row.m, 200, row.k, row.dtype, 2)),
                  0);
    }
}

TEST_F(ProductSumsTest, StaysWithinSegments) {
    std::vector<Array> x = Factors(2, 300, 200, 20, Dtype::kFloat32, 1);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array p = Product(x, 0);
    recorder.Mark();
    Array y = p + Product(x, 1);
    std::shared_ptr<Plan> plan = recorder.MakePlan(x, {}, {y}, {});
    EXPECT_EQ(plan->Describe().find("matmul_sum"), std::string::npos);
}

}  // namespace
}  // namespace chainerx
