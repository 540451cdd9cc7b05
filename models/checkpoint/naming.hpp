// SPDX-License-Identifier: Apache-2.0
// How Hugging Face's files name a model's parameters, and what else such files hold.
// docs/checkpoint.md lists the names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace plumbline::checkpoint {

/// What an architecture's files may hold. In every name here `*` stands for a layer's number.
struct Naming {
  std::string model;   ///< for messages
  std::string prefix;  ///< of the parameters but the head's; files of a model without head omit it
  std::set<std::string> heads;                     ///< first parts of names that have no prefix
  std::set<std::string> in_by_out;                 ///< linear weights that files hold as [in, out]
  std::map<std::string, std::string> old_endings;  ///< as old files have them -> as it is today
  std::map<std::string, std::string> tied;         ///< second name of a parameter -> its first
  std::set<std::string> besides;  ///< no parameter of the model: masks, indices, other heads
};

/// GPT2LMHeadModel, and GPT2Model, whose names lack "transformer.". The linear layers of the blocks
/// are Conv1D, [in, out]; `c_attn` holds q, k and v side by side.
const Naming& gpt2_naming();

/// BertForMaskedLM and BertForPreTraining. Old files say LayerNorm.gamma and .beta. The pooler and
/// the next-sentence head are passed over: the masked-language model does not use them.
const Naming& bert_naming();

/// LlamaForCausalLM. Head and embedding are two parameters.
const Naming& llama_naming();

/// The name with `*` for every part that is a number: "h.0.attn.bias" gives "h.*.attn.bias".
std::string pattern_of(std::string_view name);

/// The parameter's name as the model has it, for a name as a file has it: with the prefix, with
/// today's ending.
std::string full_name(const Naming&, std::string_view name_in_file);

}  // namespace plumbline::checkpoint
