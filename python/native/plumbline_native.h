/* SPDX-License-Identifier: Apache-2.0 */
/* What is below the Python package, as C: plumbline/_native.py calls it through ctypes.
 *
 * A function is called by its name (the tables in oracle.cpp, check.cpp and device.cpp) with its
 * arguments as a JSON object, and answers with JSON. An array is {"address": of its first number,
 * "shape": [...]}, row-major; one that the library made also has "type", as NumPy's array interface
 * spells it, and "owner", which holds its memory until plumbline_native_release(). */
#ifndef PLUMBLINE_NATIVE_H
#define PLUMBLINE_NATIVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Asks the caller, while a function runs and in its thread. Sets *answer, JSON that stays until the
 * next question; where it leaves NULL, the function ends as soon as it can. */
typedef void (*plumbline_native_ask)(const char* question, const char** answer);

/* Returns 0, and *answer is what the function returned; or 1, and it is {"type": the exception that
 * Python is to raise, "arguments": [its arguments]}. *answer is to be freed. Any thread may call.
 */
int32_t plumbline_native_call(const char* function, const char* arguments, plumbline_native_ask ask,
                              char** answer);

void plumbline_native_free(char* answer);

/* Frees what an "owner" in an answer holds. */
void plumbline_native_release(uint64_t owner);

#ifdef __cplusplus
}
#endif

#endif
