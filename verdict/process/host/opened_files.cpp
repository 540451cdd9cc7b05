// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/opened_files.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace plumbline::kernel_process {
namespace {

std::mutex mutex;  // a kernel may have threads
char* names = nullptr;
std::size_t room = 0;
std::uint32_t* used = nullptr;

void note(const char* path, int flags, int descriptor) {
  if (descriptor < 0 || path == nullptr || (flags & O_ACCMODE) == O_WRONLY) return;
  const std::lock_guard lock(mutex);
  struct stat status {};
  if (names == nullptr || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  // Files of the kernel: not on a disk.
  for (const char* folder : {"/proc/", "/sys/", "/dev/"}) {
    if (std::strncmp(path, folder, std::strlen(folder)) == 0) return;
  }
  for (const char* name = names; name < names + *used; name += std::strlen(name) + 1) {
    if (std::strcmp(name, path) == 0) return;
  }
  const std::size_t size = std::strlen(path) + 1;
  if (*used + size > room) return;
  std::memcpy(names + *used, path, size);
  *used += static_cast<std::uint32_t>(size);
}

/// libc's function of this name.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, std::va_list rest) {
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return creates ? va_arg(rest, mode_t) : 0;
}

int open_as(const char* function, const char* path, int flags, mode_t mode) {
  const int descriptor = next<int(const char*, int, ...)>(function)(path, flags, mode);
  note(path, flags, descriptor);
  return descriptor;
}

int open_at_as(const char* function, int folder, const char* path, int flags, mode_t mode) {
  const int descriptor = next<int(int, const char*, int, ...)>(function)(folder, path, flags, mode);
  note(path, flags, descriptor);
  return descriptor;
}

std::FILE* fopen_as(const char* function, const char* path, const char* mode) {
  std::FILE* file = next<std::FILE*(const char*, const char*)>(function)(path, mode);
  if (file != nullptr) note(path, std::strchr(mode, 'r') ? O_RDONLY : O_WRONLY, fileno(file));
  return file;
}

}  // namespace

void note_opened_files(char* buffer, std::size_t capacity, std::uint32_t* size) {
  const std::lock_guard lock(mutex);
  names = buffer;
  room = capacity;
  used = size;
  if (used != nullptr) *used = 0;
}

}  // namespace plumbline::kernel_process

using namespace plumbline::kernel_process;

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_as("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_as("open64", path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_at_as("openat", folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_at_as("openat64", folder, path, flags, mode);
}
// What _FORTIFY_SOURCE makes of open without a mode.
int __open_2(const char* path, int flags) { return open_as("open", path, flags, 0); }
int __open64_2(const char* path, int flags) { return open_as("open64", path, flags, 0); }

std::FILE* fopen(const char* path, const char* mode) { return fopen_as("fopen", path, mode); }
std::FILE* fopen64(const char* path, const char* mode) { return fopen_as("fopen64", path, mode); }

}  // extern "C"
