// SPDX-License-Identifier: Apache-2.0
// Which files a kernel opens while it runs. The program's own open(), fopen() and their kin stand
// before libc's in the order in which a library's symbols are looked up. Who makes the system call
// itself is not seen: this tells of mistakes and shortcuts, it is no prison.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumbline::kernel_process {

/// From here on the paths of regular files opened for reading go to `buffer`, each once and with a
/// zero after it, as long as there is room; null ends it. `*size` counts the bytes.
void note_opened_files(char* buffer, std::size_t capacity, std::uint32_t* size);

}  // namespace plumbline::kernel_process
