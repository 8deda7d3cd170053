// A backend in a shared library: devices, memory, and kernels for a few operations.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "chainerx/chainerx.h"

namespace {

namespace cx = chainerx;

// Device memory is host memory here. Its addresses have one bit flipped, so that code which takes them for addresses of
// the host fails at once, as it would with a real device.
template <class T>
T* FlipAddress(T* p) {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) ^ (uintptr_t{1} << 62));
}

class SampleDevice final : public cx::Device {
public:
    using Device::Device;

    cx::StoragePtr Allocate(size_t bytes) override {
        std::unique_ptr<void, decltype(&std::free)> memory{std::malloc(std::max<size_t>(bytes, 1)), &std::free};
        if (memory == nullptr) throw std::bad_alloc{};
        cx::StoragePtr storage{new cx::Storage{FlipAddress(memory.get()), bytes, *this, &Free}};
        memory.release();
        return storage;
    }
    void CopyFromHost(void* dst, const void* src, size_t bytes) override {
        if (bytes != 0) std::memcpy(FlipAddress(dst), src, bytes);
    }
    void CopyToHost(void* dst, const void* src, size_t bytes) override {
        if (bytes != 0) std::memcpy(dst, FlipAddress(src), bytes);
    }

private:
    static void Free(cx::Storage* storage) noexcept {
        std::free(FlipAddress(storage->data()));
        delete storage;
    }
};

// Where an element of an operand is, while a kernel walks over the elements of a shape.
struct Operand {
    const char* data;
    cx::Strides strides;
};

Operand MakeOperand(const cx::Array& a, const cx::Shape& shape) {
    return {FlipAddress(a.raw_data()), cx::BroadcastStrides(a.shape(), a.strides(), shape)};
}

// Calls f with the addresses of the operands' elements, for each index. Operands can be views with any strides.
template <size_t N, class F>
void ForEach(const cx::Shape& shape, std::array<Operand, N> operands, F&& f) {
    std::vector<int64_t> index(shape.ndim());
    for (int64_t i = 0, size = shape.GetTotalSize(); i < size; ++i) {
        f(operands);
        for (int d = shape.ndim() - 1; d >= 0; --d) {
            for (Operand& o : operands) o.data += o.strides[d];
            if (++index[d] < shape[d]) break;
            for (Operand& o : operands) o.data -= shape[d] * o.strides[d];
            index[d] = 0;
        }
    }
}

template <class T>
T& At(const Operand& operand) {
    return *reinterpret_cast<T*>(const_cast<char*>(operand.data));
}

// Calls f(TypeTag<T>{}). This backend computes in two dtypes.
template <class F>
void VisitFloat(const char* kernel, cx::Dtype dtype, F&& f) {
    if (dtype == cx::Dtype::kFloat32) {
        f(cx::TypeTag<float>{});
    } else if (dtype == cx::Dtype::kFloat64) {
        f(cx::TypeTag<double>{});
    } else {
        throw cx::NotImplementedError{"backend 'sample' has no kernel for '", kernel, "' of dtype ", dtype};
    }
}

void FillElements(const cx::Array& out, const cx::Scalar& value) {
    cx::VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T v = value.To<T>();
        ForEach<1>(out.shape(), {MakeOperand(out, out.shape())}, [v](auto& o) { At<T>(o[0]) = v; });
    });
}

void CopyElements(const cx::Array& src, const cx::Array& dst) {
    std::array<Operand, 2> operands{MakeOperand(dst, dst.shape()), MakeOperand(src, dst.shape())};
    if (src.dtype() == dst.dtype()) {
        size_t bytes = dst.GetItemSize();
        ForEach<2>(dst.shape(), operands, [bytes](auto& o) { std::memcpy(&At<char>(o[0]), o[1].data, bytes); });
        return;
    }
    VisitFloat("copy", src.dtype(), [&](auto from) {
        VisitFloat("copy", dst.dtype(), [&](auto to) {
            using From = typename decltype(from)::type;
            using To = typename decltype(to)::type;
            ForEach<2>(dst.shape(), operands, [](auto& o) { At<To>(o[0]) = static_cast<To>(At<From>(o[1])); });
        });
    });
}

// An input of an elementwise operation is an array, or a number of the operation's dtype.
Operand MakeInput(const cx::ElementwiseCall& call, int i) {
    const cx::Shape& shape = call.out->shape();
    if (call.in[i] != nullptr) return MakeOperand(*call.in[i], shape);
    return {call.scalars[i], cx::BroadcastStrides(cx::Shape{}, cx::Strides{}, shape)};
}

template <class Op, class Function>
void Unary(const cx::ElementwiseCall& call) {
    VisitFloat(Op::kName, call.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const cx::Shape& shape = call.out->shape();
        ForEach<2>(shape, {MakeOperand(*call.out, shape), MakeInput(call, 0)},
                   [](auto& o) { At<T>(o[0]) = Function{}(At<T>(o[1])); });
    });
}

template <class Op, class Function>
void Binary(const cx::ElementwiseCall& call) {
    VisitFloat(Op::kName, call.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const cx::Shape& shape = call.out->shape();
        ForEach<3>(shape, {MakeOperand(*call.out, shape), MakeInput(call, 0), MakeInput(call, 1)},
                   [](auto& o) { At<T>(o[0]) = Function{}(At<T>(o[1]), At<T>(o[2])); });
    });
}

// `out` has the shape of `a` without the axes.
void SumElements(const cx::Array& a, const cx::Axes& axes, const cx::Array& out) {
    Operand result{FlipAddress(out.raw_data()), cx::Strides{}};
    for (int d = 0, kept = 0; d < a.ndim(); ++d) {
        bool is_summed = std::find(axes.begin(), axes.end(), d) != axes.end();
        result.strides.push_back(is_summed ? 0 : out.strides()[kept++]);
    }
    FillElements(out, cx::Scalar{0});
    VisitFloat("sum", a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForEach<2>(a.shape(), {result, MakeOperand(a, a.shape())}, [](auto& o) { At<T>(o[0]) += At<T>(o[1]); });
    });
}

class SampleBackend final : public cx::Backend {
public:
    explicit SampleBackend(cx::Context& context) : Backend{context, "sample"} {
        cx::kFillKernel.Register(*this, &FillElements);
        cx::kCopyKernel.Register(*this, &CopyElements);
        cx::kSumKernel.Register(*this, &SumElements);
        cx::ops::Negative::kernel().Register(*this, &Unary<cx::ops::Negative, std::negate<>>);
        cx::ops::Add::kernel().Register(*this, &Binary<cx::ops::Add, std::plus<>>);
        cx::ops::Subtract::kernel().Register(*this, &Binary<cx::ops::Subtract, std::minus<>>);
        cx::ops::Multiply::kernel().Register(*this, &Binary<cx::ops::Multiply, std::multiplies<>>);
        cx::ops::Divide::kernel().Register(*this, &Binary<cx::ops::Divide, std::divides<>>);
    }
    int GetDeviceCount() const override { return 2; }

protected:
    std::unique_ptr<cx::Device> CreateDevice(int index) override {
        return std::make_unique<SampleDevice>(*this, index);
    }
};

}  // namespace

extern "C" CHAINERX_EXPORT chainerx::Backend* CreateBackend(chainerx::Context& context) {
    return new SampleBackend{context};
}
