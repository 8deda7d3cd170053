#include "chainerx/core/data_watch.h"

namespace chainerx {

Array NoteData(Array data) {
    if (auto* watcher = dynamic_cast<DataWatcher*>(internal::t_kernel_watcher)) watcher->OnData(data);
    return data;
}

}  // namespace chainerx
