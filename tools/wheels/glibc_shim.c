// What code that GCC compiles with newer headers refers to, and older C libraries lack.

// glibc 2.32. False makes reference counts atomic at all times, which is right with any number of threads.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
