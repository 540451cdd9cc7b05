// SPDX-License-Identifier: Apache-2.0
// plumbline oracle: the reference outputs of a case, with the bound of every element.
#include <iostream>

#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "support/safetensors.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/tensor_shapes.hpp"
#include "verdict/oracle/oracle.hpp"

namespace plumbline::cli {
namespace {

struct OracleOptions {
  std::string case_path, output_path;
};

int write_oracle(const OracleOptions& options) {
  const cases::Case the_case = cases::read_case(options.case_path);
  const auto& spec = the_case.spec;
  const auto numbers =
      verdict::oracle_numbers(the_case, cases::undeclared_contract(), thread_count());
  const cases::Shape rows = cases::per_query(spec), elements = cases::output_shape(spec);
  const auto tensor = [](const std::vector<double>& values, const cases::Shape& shape) {
    return TensorView{Dtype::f64, shape, std::as_bytes(std::span(values))};
  };
  write_safetensors(options.output_path,
                    {{"o", tensor(numbers.o, elements)},
                     {"o_radius", tensor(numbers.o_radius, elements)},
                     {"o_bound", tensor(numbers.o_bound, elements)},
                     {"lse", tensor(numbers.lse, rows)},
                     {"lse_radius", tensor(numbers.lse_radius, rows)},
                     {"lse_bound", tensor(numbers.lse_bound, rows)}},
                    {{"plumbline", R"({"format_version":1,"kind":"oracle"})"}});
  std::cout << "wrote o, lse, their certified radii and their bounds (float64) to "
            << showable(options.output_path) << "\n";
  return all_right;
}

}  // namespace

void add_oracle(CLI::App& app, Run& run) {
  auto options = std::make_shared<OracleOptions>();
  auto* command = app.add_subcommand(
      "oracle", "Write a case's reference outputs and the bound of every element");
  reads(
      command->add_option("case", options->case_path, "The case: a safetensors file")->required());
  writes(command->add_option("output", options->output_path, "Output: a safetensors file")
             ->required());
  command->callback([options, &run] { run = [options] { return write_oracle(*options); }; });
}

}  // namespace plumbline::cli
