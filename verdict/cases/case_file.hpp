// SPDX-License-Identifier: Apache-2.0
// Cases and outputs as safetensors files: docs/case-format.md tells the format.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "kernel_abi/plumbline_kernel.h"
#include "verdict/cases/case.hpp"

namespace plumbline::cases {

/// Outputs as a file holds them: with the name and the numerics of the kernel that computed them.
struct OutputsFile {
  std::string kernel = "outside";
  plumbline_contract contract;
  Outputs outputs;
};

/// What outputs are judged by when their file declares nothing: fp32 accumulation to nearest, P in
/// fp32, the denominator summing it unrounded, exponential within 2^-20, one range of keys, prefix
/// sums in double. The strictest: leeway has to be asked for.
plumbline_contract undeclared_contract();

/// The contract as the metadata of a file of outputs holds it.
nlohmann::json to_json(const plumbline_contract&);
/// The contract that such an object declares: undeclared_contract() but for its fields, whose
/// ranges are the judge's. @throws BadInput naming `place`, the field, its value and what was
/// expected.
plumbline_contract contract_from(const nlohmann::json&, const std::string& place);
/// The same, or the contract of a known implementation by its name (named_contracts.hpp).
plumbline_contract contract_from(const nlohmann::json&, const std::string& place, Format);

/// Writes the case of a forward or a backward pass, whole or not at all. `generate`d cases carry
/// their to_line as "origin".
/// @throws BadInput if the case is not valid, is one of decoding, or the path cannot be written.
void write_case(const std::filesystem::path&, const Case&);

/// The case with family `file` and seed 0, whatever it was written from: a file can be edited, so
/// only its own numbers count. The result is valid.
/// @throws BadInput naming the file, the field, its value and what was expected.
Case read_case(const std::filesystem::path&);
/// The same from memory; `file` is the name used in messages.
Case case_from_bytes(std::span<const std::byte>, const std::string& file);

/// Writes o and the gradients in the output_format of the spec's, lse and the parameters' gradients
/// in F32, whole or not at all. Gradients belong to a backward case: grad_q, grad_k, grad_v and
/// grad_<parameter> of each learned one. @throws BadInput if a size does not match or the path
/// cannot be written.
void write_outputs(const std::filesystem::path&, const Case& of, const OutputsFile&);

/// Whether the file holds what the oracle expects: one that `plumbline oracle` wrote. False for
/// everything else, a file that cannot be read among them.
bool is_of_the_oracle(const std::filesystem::path&);

/// Outputs of this case, of which the spec and the options count; what is not F32 anyway may be F32
/// or in the output_format of the case's. Values are not looked at, a NaN is the judge's to find.
/// The contract's types are checked, its ranges are the judge's.
/// @throws BadInput as read_case.
/// @param contract in place of the file's.
OutputsFile read_outputs(const std::filesystem::path&, const Case& of,
                         const plumbline_contract* contract = nullptr);
OutputsFile outputs_from_bytes(std::span<const std::byte>, const std::string& file, const Case& of,
                               const plumbline_contract* contract = nullptr);

}  // namespace plumbline::cases
