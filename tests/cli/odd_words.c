// SPDX-License-Identifier: Apache-2.0
// A kernel library whose words are no text: escape sequences, bytes that are no UTF-8, characters
// that XML does not know, markup.
#include <stdio.h>

#include "plumbline_kernel.h"

#define ODD "\x1b[31m \xff\xfe \xc3( \xed\xa0\x80 \x01\x7f \xc2\x9b \xef\xbf\xbf \xe2\x80\xae <&\"'>"

static int supports(const plumbline_problem* p, int32_t pass) {
  (void)pass;
  return p->bias == PLUMBLINE_NOPE && p->format == PLUMBLINE_FP32 &&
         !(plumbline_features(p) & (PLUMBLINE_HAS_ROPE | PLUMBLINE_HAS_SOFTCAP | PLUMBLINE_HAS_SINKS | PLUMBLINE_HAS_DROPOUT));
}
static int says_what_is_wrong(const plumbline_problem* p, const plumbline_outputs* out,
                              char* message, size_t size) {
  (void)p, (void)out;
  snprintf(message, size, "%s", "no room " ODD);
  return 7;
}

static const plumbline_kernel kernels[] = {
    {.name = "says_what_is_wrong",
     .contracts = {{.unit_roundoff = 0x1p-24, .exp_error = 0x1p-20, .splits = 1}},
     .deterministic = 1,
     .supports = supports,
     .forward = says_what_is_wrong}};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "library " ODD, "device " ODD, 1,
                                          kernels};

const plumbline_library* plumbline_kernel_library(void) { return &library; }
