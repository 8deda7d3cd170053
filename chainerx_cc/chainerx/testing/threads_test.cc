// Many threads at once, mainly for ThreadSanitizer: tools/sanitize.py thread.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

using testing::ExpectValues;
using testing::GetValues;
using testing::MakeArray;

constexpr int kThreads = 4;
constexpr int kTurns = 20;

class ThreadsTest : public testing::ContextFixture {
protected:
    // Calls f(thread, turn) in all threads.
    void InThreads(const std::function<void(int, int)>& f) {
        std::atomic<int> ready{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                ContextScope scope{context_};
                ++ready;
                while (ready.load() < kThreads) std::this_thread::yield();
                for (int turn = 0; turn < kTurns; ++turn) f(i, turn);
            });
        }
        for (std::thread& t : threads) t.join();
    }

    static Array Leaf(int64_t rows, int64_t columns, double value) {
        return Full(Shape{rows, columns}, Scalar{value}, Dtype::kFloat32).RequireGrad();
    }
};

// Like loading a library with new slots while other threads look for theirs.
TEST_F(ThreadsTest, SlotsAppearWhileTheyAreListed) {
    static KernelSlotBase* slots[kThreads][kTurns];  // as long as the program
    InThreads([&](int i, int turn) {
        slots[i][turn] = new KernelSlotBase{"test"};
        bool found = false;
        for (const KernelSlotBase* slot : KernelSlotBase::All()) found = found || slot == slots[i][turn];
        EXPECT_TRUE(found);
    });
    std::set<int> ids;
    for (auto& of_thread : slots) {
        for (KernelSlotBase* slot : of_thread) ids.insert(slot->id());
    }
    EXPECT_EQ(ids.size(), static_cast<size_t>(kThreads * kTurns));
}

TEST_F(ThreadsTest, GradientsOfSharedParametersAccumulate) {
    Array w = Leaf(64, 64, 1);
    Array b = Full(Shape{64}, Scalar{1.0}, Dtype::kFloat32).RequireGrad();
    Array x = Ones(Shape{8, 64}, Dtype::kFloat32);
    InThreads([&](int, int) { Backward(Sum(Relu(Linear(x, w, b)))); });
    std::vector<double> expected(64 * 64, 8 * kThreads * kTurns);
    ExpectValues(w.GetGrad(), expected);
    ExpectValues(b.GetGrad(), {expected.begin(), expected.begin() + 64});
}

TEST_F(ThreadsTest, EachThreadHasAGraphOfItsOwn) {
    Array shared = MakeArray(Shape{2}, {1, 2});
    InThreads([&](int i, int turn) {
        BackpropId id = context_.MakeBackpropId("thread " + std::to_string(i));
        shared.RequireGrad(id);
        {
            Array y = Sum(shared * shared * Scalar{turn + 1.0});
            EXPECT_TRUE(y.IsBackpropRequired(id));
            Backward(y, id);
        }
        ExpectValues(shared.GetGrad(id), {2.0 * (turn + 1), 4.0 * (turn + 1)});
        shared.ClearGrad(id);
        context_.ReleaseBackpropId(id);
        EXPECT_THROW(shared.GetGrad(id), ChainerxError);
    });
}

TEST_F(ThreadsTest, ThreadsDifferentiateTheSameGraph) {
    Array x = MakeArray(Shape{3}, {1, 2, 3}).RequireGrad();
    Array y = Sum(Exp(x * Scalar{0.0}) * x * x);
    BackwardOptions record;
    record.enable_double_backprop = true;
    InThreads([&](int i, int) {
        Array g = Grad({y}, {x}, std::nullopt, false, {}, i % 2 == 0 ? BackwardOptions{} : record)[0];
        ExpectValues(g, {2, 4, 6});
        if (i % 2 == 1) ExpectValues(Grad({Sum(g)}, {x})[0], {2, 2, 2});
    });
}

TEST_F(ThreadsTest, OnlyOneThreadReleasesAGraph) {
    std::vector<Array> leaves;
    std::vector<Array> outputs;
    std::vector<std::atomic<int>> successes(kTurns);
    for (int turn = 0; turn < kTurns; ++turn) {
        leaves.push_back(Leaf(4, 4, 0));
        Array y = leaves.back();
        for (int i = 0; i < 50; ++i) y = Sin(y) + y;
        outputs.push_back(Sum(y));
    }
    InThreads([&](int i, int turn) {
        try {
            if (i == 0) {
                Grad({outputs[turn]}, {leaves[turn]});
            } else {
                Backward(outputs[turn]);
                ++successes[turn];
            }
        } catch (const GradientError&) {
        }
    });
    for (std::atomic<int>& n : successes) EXPECT_EQ(1, n.load());
}

TEST_F(ThreadsTest, ArraysEndInOtherThreads) {
    std::mutex mutex;
    std::deque<Array> queue;
    Array w = Leaf(16, 16, 0.5);
    InThreads([&](int i, int turn) {
        Array made = Tanh(w * Full(Shape{16, 16}, Scalar{turn + 0.5}, Dtype::kFloat32));
        Array large = Zeros(Shape{1 << 15}, Dtype::kFloat32);
        Array taken[2];
        {
            std::lock_guard<std::mutex> lock{mutex};
            queue.push_back(std::move(made));
            queue.push_back(std::move(large));
            if (i % 2 == 0 || queue.size() > 8) {
                for (Array& a : taken) {
                    a = std::move(queue.front());
                    queue.pop_front();
                }
            }
        }
        if (taken[0] && taken[0].IsBackpropRequired()) {
            taken[0].SetGrad(OnesLike(taken[0]));
            Backward(taken[0]);
        }
    });
    EXPECT_TRUE(w.GetGrad());
}

TEST_F(ThreadsTest, KernelsShareTheThreadPool) {
    Array x = Ones(Shape{512, 512}, Dtype::kFloat32);
    InThreads([&](int, int turn) {
        Array y = Exp(x * Scalar{0.0}) + Scalar{turn};
        ExpectValues(Sum(y), {512.0 * 512 * (1 + turn)});
        if (turn % 5 == 0) EXPECT_EQ(512 * (1 + turn), GetValues(Dot(x, y))[0]);
    });
}

TEST_F(ThreadsTest, DefaultsBelongToTheThread) {
    InThreads([&](int i, int turn) {
        Device& device = context_.GetDevice("native:" + std::to_string((i + turn) % 4));
        DeviceScope scope{device};
        Array x = Ones(Shape{4}, Dtype::kFloat32).RequireGrad();
        EXPECT_EQ(&device, &(x * x).device());
        if (i % 2 == 0) {
            NoBackpropModeScope mode{context_};
            EXPECT_FALSE((x * x).IsBackpropRequired());
        } else {
            EXPECT_TRUE((x * x).IsBackpropRequired());
        }
        Backward(Sum(ToDevice(x * x, context_.GetDevice("native:0"))));
        EXPECT_EQ(&device, &x.GetGrad().device());
    });
}

TEST_F(ThreadsTest, ContextsComeAndGo) {
    InThreads([](int, int) {
        Context context;
        ContextScope scope{context};
        Array x = MakeArray(Shape{2}, {1, 2}).RequireGrad();
        Backward(Sum(Exp(x) * x));
        EXPECT_TRUE(x.GetGrad());
    });
}

}  // namespace
}  // namespace chainerx
