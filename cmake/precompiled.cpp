// SPDX-License-Identifier: Apache-2.0
// Stands for the precompiled headers that several targets share.
int main() { return 0; }
