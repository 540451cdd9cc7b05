/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions that are added to the embeddings, as the built-in libraries compute them: what
 * `plumbline methods` checks for such methods. A kernel library of others need not have this.
 * Plain C, host pointers.
 *
 *   x[b, t] = word[ids[b, t]] + P[t + position_offset],   t < length,
 * summed in fp32, rounded once to the format. P is a table that is learned, or
 *   P[t, 2k] = amplitude sin(t base^(-2k/width)),   P[t, 2k + 1] = amplitude cos(t w),
 * w the frequency of its sine, or base^(-(2k+1)/width), its own.
 */
#ifndef PLUMBLINE_EMBEDDING_H
#define PLUMBLINE_EMBEDDING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  PLUMBLINE_LEARNABLE = 0,
  PLUMBLINE_SINUSOIDAL = 1,
  PLUMBLINE_SINUSOIDAL_OWN_FREQUENCY = 2
} plumbline_positions;

typedef struct {
  uint32_t struct_size; /* sizeof(plumbline_embedding), set by the caller */
  int32_t batch, length, width;
  int32_t words, position_rows; /* of the tables */
  int32_t position_offset;      /* position_offset + length <= position_rows */
  int32_t format;               /* of x and grad_x: PLUMBLINE_FP32, _BF16 or _FP16 */
  int32_t positions;            /* plumbline_positions */
  double base, amplitude;       /* sinusoidal */
  const int32_t* ids;           /* [batch, length] */
  const float* word;            /* [words, width] */
  const float* position;        /* [position_rows, width]; NULL: sinusoidal */
} plumbline_embedding;

/* 0 on success; else the reason stands in message, zero-terminated. x [batch, length, width]. */
int plumbline_embedding_forward(const plumbline_embedding* embedding, void* x, char* message,
                                size_t message_size);

/* The adjoint: of grad_x, like x, the gradients of the tables, which are overwritten.
   grad_position is NULL where the positions are sinusoidal. */
int plumbline_embedding_backward(const plumbline_embedding* embedding, const void* grad_x,
                                 float* grad_word, float* grad_position, char* message,
                                 size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
