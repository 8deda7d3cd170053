#pragma once

namespace chainerx {

// A language binding installs these to let other threads of its interpreter run while a long kernel works.
struct BlockingHooks {
    void* (*enter)() = nullptr;
    void (*leave)(void*) = nullptr;
};
// Not inline: the Python module, which hides its symbols, would have a variable of its own.
extern BlockingHooks g_blocking_hooks;

// Create one around work that takes long enough to be worth it.
class BlockingScope {
public:
    explicit BlockingScope(bool active = true)
        : token_{active && g_blocking_hooks.enter != nullptr ? g_blocking_hooks.enter() : nullptr} {}
    ~BlockingScope() {
        if (token_ != nullptr) g_blocking_hooks.leave(token_);
    }
    BlockingScope(const BlockingScope&) = delete;
    BlockingScope& operator=(const BlockingScope&) = delete;

private:
    void* token_;
};

}  // namespace chainerx
