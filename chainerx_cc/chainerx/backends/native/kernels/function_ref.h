#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace chainerx::native {

template <class Signature>
class FunctionRef;

// A reference to a callable that does not own it: two words, no allocation. The callable must outlive
// the call it is passed to, which holds for a lambda written in the argument list.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
public:
    template <class F, class = std::enable_if_t<!std::is_same<std::decay_t<F>, FunctionRef>::value>>
    FunctionRef(F&& f)  // NOLINT: implicit by design
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
          call_([](void* object, Args... args) -> R {
              return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
          }) {}

    R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

private:
    void* object_;
    R (*call_)(void*, Args...);
};

}  // namespace chainerx::native
