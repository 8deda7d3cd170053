// What code that GCC compiles with newer headers refers to, and older C libraries lack.

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32. False makes reference counts atomic at all times, which is right with any number of threads.
HIDDEN char __libc_single_threaded = 0;

// glibc 2.38, whose headers may rename strtol to a function that also reads 0b1; so does this file, but for the label.
#define DEFINE_ISOC23(type, name)                             \
    type old_##name(const char*, char**, int) __asm__(#name); \
    HIDDEN type __isoc23_##name(const char* text, char** end, int base) { return old_##name(text, end, base); }
DEFINE_ISOC23(long, strtol)
DEFINE_ISOC23(unsigned long, strtoul)
DEFINE_ISOC23(long long, strtoll)
DEFINE_ISOC23(unsigned long long, strtoull)
