// SPDX-License-Identifier: Apache-2.0
#pragma once
inline bool visible(int i, int j) { return j <= i; }
