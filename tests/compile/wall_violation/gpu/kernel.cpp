// SPDX-License-Identifier: Apache-2.0
#include "../reference/mask.hpp"

int main() { return visible(1, 0) ? 0 : 1; }
