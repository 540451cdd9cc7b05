// SPDX-License-Identifier: Apache-2.0
#include "models/text/sentencepiece_tokenizer.hpp"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <initializer_list>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::text {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

constexpr std::size_t longest_text = std::size_t{1} << 30;

/// The id of a piece, unless the model does not have it (the library then answers <unk>).
std::optional<Token> piece(const Processor& model, std::string_view name) {
  const int id = model.PieceToId(absl::string_view(name.data(), name.size()));
  if (id < 0 || id >= model.GetPieceSize() || model.IsUnknown(id)) return std::nullopt;
  return static_cast<Token>(id);
}

std::optional<Token> first_piece(const Processor& model,
                                 std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (const auto id = piece(model, name)) return id;
  }
  return std::nullopt;
}

std::optional<Token> reserved(int id) {
  return id < 0 ? std::nullopt : std::optional<Token>(static_cast<Token>(id));
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(const std::filesystem::path& path)
    : model_(std::make_unique<Processor>()) {
  const std::string place = "tokenizer " + path_in_quotes(path);
  const std::string bytes = read_file(path);
  if (bytes.empty()) throw BadInput(place, "empty", "a SentencePiece model");
  const auto status = model_->LoadFromSerializedProto(bytes);
  if (!status.ok()) throw BadInput(place, "not readable as a model", "a SentencePiece model");
  vocabulary_ = model_->GetPieceSize();
  if (vocabulary_ < 1 || vocabulary_ > largest_vocabulary) {
    throw BadInput(place + ": vocabulary", std::to_string(vocabulary_),
                   fmt::format("1 to {} pieces", largest_vocabulary));
  }
  const auto end = reserved(model_->eos_id() >= 0 ? model_->eos_id() : model_->bos_id());
  if (!end) throw BadInput(place + ": </s> and <s>", "missing", "one of them, for end-of-text");
  specials_.end_of_text = *end;
  specials_.pad = reserved(model_->pad_id());
  specials_.mask = first_piece(*model_, {"[MASK]", "<mask>"});
  specials_.cls = first_piece(*model_, {"[CLS]", "<cls>"});
  specials_.sep = first_piece(*model_, {"[SEP]", "<sep>"});
  for (int id = 0; id < vocabulary_; ++id) {
    const auto token = static_cast<Token>(id);
    if (model_->IsControl(id) || model_->IsUnknown(id) || model_->IsUnused(id) ||
        token == specials_.mask || token == specials_.cls || token == specials_.sep) {
      without_text_.push_back(token);
    }
  }
}

SentencePieceTokenizer::~SentencePieceTokenizer() = default;

std::vector<Token> SentencePieceTokenizer::encode(std::string_view text) const {
  if (text.size() > longest_text) {
    throw BadInput("document", fmt::format("{} bytes long", text.size()),
                   fmt::format("at most {} bytes with a SentencePiece model", longest_text));
  }
  std::vector<int> ids;
  const auto status = model_->Encode(absl::string_view(text.data(), text.size()), &ids);
  if (!status.ok()) throw BadInput("text", "not encodable (" + status.ToString() + ")", "a text");
  return {ids.begin(), ids.end()};
}

std::string SentencePieceTokenizer::decode(std::span<const Token> tokens) const {
  check(tokens);
  std::vector<int> ids;
  for (const Token token : tokens) {
    // The library writes user-defined pieces such as [MASK] out; <unk> it shows as a sign.
    if (!std::binary_search(without_text_.begin(), without_text_.end(), token) ||
        model_->IsUnknown(token)) {
      ids.push_back(token);
    }
  }
  std::string text;
  const auto status = model_->Decode(ids, &text);
  if (!status.ok()) throw BadInput("tokens", "not decodable (" + status.ToString() + ")", "tokens");
  return text;
}

std::optional<Token> SentencePieceTokenizer::token_of(std::string_view text) const {
  const auto id = piece(*model_, text);
  if (id && model_->IsControl(*id)) return std::nullopt;
  return id;
}

}  // namespace plumbline::text
