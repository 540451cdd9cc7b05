// SPDX-License-Identifier: Apache-2.0
// plumbline-claims: what `plumbline claims` runs.
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return plumbline::cli::run_program(argc, argv, plumbline::cli::add_claims);
}
