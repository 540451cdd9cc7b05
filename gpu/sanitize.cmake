# SPDX-License-Identifier: Apache-2.0
# plumbline_gpu_sanitize: what PLUMBLINE_SANITIZE means for kernels and for programs that hold them.

add_library(plumbline_gpu_sanitize INTERFACE)
if(PLUMBLINE_SANITIZE STREQUAL "address")
  target_compile_options(plumbline_gpu_sanitize INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(plumbline_gpu_sanitize INTERFACE -fsanitize=address,undefined)
elseif(PLUMBLINE_SANITIZE STREQUAL "thread")
  target_compile_options(plumbline_gpu_sanitize INTERFACE
    -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(plumbline_gpu_sanitize INTERFACE -fsanitize=thread)
elseif(PLUMBLINE_SANITIZE)
  message(FATAL_ERROR "PLUMBLINE_SANITIZE is \"${PLUMBLINE_SANITIZE}\"; address or thread")
endif()
