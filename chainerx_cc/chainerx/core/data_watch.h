#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// A watcher that also sees data of the program, which no kernel made.
class DataWatcher : public KernelWatcher {
public:
    virtual void OnData(const Array& data) = 0;
};

// Tells a watcher of the thread, if there is one, of an array whose data come from the program; returns the array. The
// watcher must not have seen how it was made.
Array NoteData(Array data);

}  // namespace chainerx
