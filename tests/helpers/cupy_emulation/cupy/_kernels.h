// CUDA's words for a host compiler. Threads of a block run as coroutines, in order of their number.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __restrict__ __restrict
#define __shared__ static
#define __launch_bounds__(...)

typedef _Float16 float16;
using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::max;
using std::min;
template <class T> using complex = std::complex<T>;

template <class T> T rsqrt(T x) { return T(1) / std::sqrt(x); }
inline float rsqrtf(float x) { return rsqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float x, float y) { return x / y; }
template <class T> T __ldg(const T* p) { return *p; }

struct dim3 { unsigned x = 1, y = 1, z = 1; };
struct uint3 { unsigned x = 0, y = 0, z = 0; };
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;

template <class T, class U> T atomicAdd(T* p, U v) { T old = *p; *p = T(old + v); return old; }
template <class T, class U> T atomicSub(T* p, U v) { T old = *p; *p = T(old - v); return old; }
template <class T, class U> T atomicMax(T* p, U v) { T old = *p; *p = max(old, T(v)); return old; }
template <class T, class U> T atomicMin(T* p, U v) { T old = *p; *p = min(old, T(v)); return old; }
template <class T, class U> T atomicExch(T* p, U v) { T old = *p; *p = T(v); return old; }
template <class T, class U, class V> T atomicCAS(T* p, U expected, V v) {
    T old = *p;
    if (old == T(expected)) *p = T(v);
    return old;
}

// -- launches --

struct Coroutine {
    ucontext_t context;
    uint3 index;
    bool done = false;
    std::unique_ptr<char[]> stack;
};
static ucontext_t scheduler;
static Coroutine* running;
static void (*body)(void*);
static void* body_arguments;
static std::vector<char> dynamic_shared;

static void run_thread() {
    body(body_arguments);
    running->done = true;
    swapcontext(&running->context, &scheduler);
}
inline void __syncthreads() { swapcontext(&running->context, &scheduler); }
inline void __syncwarp(unsigned = 0) { __syncthreads(); }
inline void __threadfence() {}

static void run_block(bool waits) {
    unsigned n = blockDim.x * blockDim.y * blockDim.z;
    std::vector<Coroutine> threads(waits ? n : 0);
    for (unsigned i = 0; i < n; ++i) {
        uint3 index{i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        if (!waits) {
            threadIdx = index;
            body(body_arguments);
            continue;
        }
        Coroutine& t = threads[i];
        t.index = index;
        t.stack.reset(new char[65536]);
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.get();
        t.context.uc_stack.ss_size = 65536;
        t.context.uc_link = &scheduler;
        makecontext(&t.context, run_thread, 0);
    }
    // Each round takes all threads to their next barrier.
    for (bool any = waits; any;) {
        any = false;
        for (Coroutine& t : threads) {
            if (t.done) continue;
            running = &t;
            threadIdx = t.index;
            swapcontext(&scheduler, &t.context);
            any = any || !t.done;
        }
    }
}

template <class... A, size_t... I>
void invoke(void (*f)(A...), void** arguments, std::index_sequence<I...>) {
    f(*static_cast<std::remove_reference_t<A>*>(arguments[I])...);
}

template <auto F> struct Launch;
template <class... A, void (*F)(A...)> struct Launch<F> {
    static const int count = sizeof...(A);
    static void thread(void* arguments) {
        invoke(F, static_cast<void**>(arguments), std::index_sequence_for<A...>());
    }
    static int run(const unsigned* grid, const unsigned* block, void** arguments, int n,
                   const int* sizes, size_t shared, bool waits) {
        size_t expected[] = {sizeof(A)..., 0};
        if (n != count) return 1;
        for (int i = 0; i < n; ++i) if (size_t(sizes[i]) != expected[i]) return 2 + i;
        body = thread;
        body_arguments = arguments;
        dynamic_shared.assign(shared, 0);
        gridDim = {grid[0], grid[1], grid[2]};
        blockDim = {block[0], block[1], block[2]};
        for (unsigned z = 0; z < grid[2]; ++z)
            for (unsigned y = 0; y < grid[1]; ++y)
                for (unsigned x = 0; x < grid[0]; ++x) {
                    blockIdx = {x, y, z};
                    run_block(waits);
                }
        return 0;
    }
};

// -- arrays of elementwise and reduction kernels --

struct CIndexer {
    ptrdiff_t n, index_;
    int ndim;
    const ptrdiff_t* shape_;
    ptrdiff_t index[32];
    ptrdiff_t size() const { return n; }
    const ptrdiff_t* shape() const { return shape_; }
    const ptrdiff_t* get() const { return index; }
    void set(ptrdiff_t i) {
        index_ = i;
        for (int d = ndim; d-- > 0;) {
            index[d] = shape_[d] ? i % shape_[d] : 0;
            i = shape_[d] ? i / shape_[d] : 0;
        }
    }
};

template <class T> struct CArray {
    char* data_;
    ptrdiff_t size_;
    int ndim;
    const ptrdiff_t *shape_, *strides_;
    ptrdiff_t size() const { return size_; }
    const ptrdiff_t* shape() const { return shape_; }
    const ptrdiff_t* strides() const { return strides_; }
    T& operator[](ptrdiff_t i) const {  // in C order
        char* p = data_;
        for (int d = ndim; d-- > 0;) {
            p += i % shape_[d] * strides_[d];
            i /= shape_[d];
        }
        return *reinterpret_cast<T*>(p);
    }
    T& operator[](const ptrdiff_t* index) const {
        char* p = data_;
        for (int d = 0; d < ndim; ++d) p += index[d] * strides_[d];
        return *reinterpret_cast<T*>(p);
    }
};
