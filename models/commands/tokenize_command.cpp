// SPDX-License-Identifier: Apache-2.0
// plumbline tokenize: texts into a token shard.
#include "models/text/tokenize.hpp"

#include <fmt/format.h>

#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/option_names.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "models/text/entropy.hpp"
#include "models/text/passkey.hpp"
#include "models/text/shard.hpp"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

struct TokenizeOptions {
  std::string tokenizer = "byte", out, separator, json;
  std::vector<std::string> texts;
  std::int64_t passkeys = 0;  // in place of texts
  int passkey_length = 512;
  std::string seed = "1";
};

/// Fails now, before the work, where the shard could not be written later.
void check_writable(const std::string& path) { AtomicFile{path}; }

/// Bytes of all files together; 0 for what has no size, which will be refused where it is read.
long bytes_of(const std::vector<std::string>& paths) {
  std::uintmax_t bytes = 0;
  for (const auto& path : paths) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error) bytes += size;
  }
  return static_cast<long>(bytes);
}

text::TokenizedText passkeys(const TokenizeOptions& options, const text::Tokenizer& tokenizer) {
  if (options.passkey_length > 0) {
    const std::int64_t most = std::numeric_limits<std::int32_t>::max() / options.passkey_length;
    if (options.passkeys > most)
      throw BadInput(
          "count", std::to_string(options.passkeys),
          fmt::format("at most {} of this length, as a shard holds 2^31 - 1 tokens", most));
  }
  text::TokenizedText result;
  const text::PasskeyOptions passkey{.length = options.passkey_length,
                                     .seed = seed_from(options.seed)};
  result.tokens = text::passkey_documents(tokenizer, passkey, options.passkeys);
  result.documents = static_cast<std::size_t>(options.passkeys);
  result.bytes = tokenizer.decode(result.tokens).size();
  return result;
}

int tokenize(const TokenizeOptions& options, bool of_passkeys) {
  if (of_passkeys != options.texts.empty()) {
    throw BadInput("texts", of_passkeys ? "given beside --passkeys" : "missing",
                   "a text file, or --passkeys instead");
  }
  check_writable(options.out);
  Report json(options.json);
  const auto tokenizer = text::open_tokenizer(options.tokenizer);
  text::TokenizedText result;
  if (of_passkeys) {
    result = passkeys(options, *tokenizer);
  } else {
    Progress progress(bytes_of(options.texts));
    result = text::tokenize(
        {options.texts.begin(), options.texts.end()}, *tokenizer, options.separator,
        [&](std::size_t done) { progress.update(static_cast<long>(done), "bytes"); });
  }
  if (!of_passkeys)
    text::expect_separators(options.separator, options.texts.size(), result.separators);
  text::write_shard(options.out, result.tokens);
  const text::TokenStream stream(std::move(result.tokens));
  const double entropy = text::unigram_entropy(text::token_counts(stream, tokenizer->vocabulary()));
  if (options.json != "-") {
    std::cout << fmt::format(
        "wrote {} to {}: {} of {}, {}\nvocabulary {}, unigram entropy {:.4f} nats per token "
        "(perplexity {:.2f})\n",
        counted(static_cast<std::size_t>(stream.size()), "token"), showable(options.out),
        counted(result.documents, "document"), counted(result.bytes, "byte"),
        counted(options.texts.size(), "file"), tokenizer->vocabulary(), entropy,
        text::perplexity(entropy));
  }
  if (json) {
    const nlohmann::ordered_json report = {{"format", "plumbline-tokenize-1"},
                                           {"shard", options.out},
                                           {"tokenizer", options.tokenizer},
                                           {"vocabulary", tokenizer->vocabulary()},
                                           {"files", options.texts},
                                           {"documents", result.documents},
                                           {"bytes", result.bytes},
                                           {"tokens", stream.size()},
                                           {"unigram_entropy_nats", entropy}};
    json.write(to_text(report));
  }
  return all_right;
}

}  // namespace

void add_tokenize(CLI::App& app, Run& run) {
  auto options = std::make_shared<TokenizeOptions>();
  auto* command = app.add_subcommand("tokenize", tokenize_description);
  reads(command->add_option("texts", options->texts, "Text files, in this order")
            ->check(not_empty()));
  reads_tokenizer(command
                      ->add_option("--tokenizer", options->tokenizer,
                                   "byte, or the path of a SentencePiece model")
                      ->check(not_empty())
                      ->capture_default_str());
  writes(command->add_option("--out", options->out, "The shard to write, e.g. train.bin")
             ->required()
             ->check(not_empty()));
  auto* separator = command
                        ->add_option("--separator", options->separator,
                                     "A line that ends a document, e.g. % in fortune files; "
                                     "default: each file is one document")
                        ->check(not_empty());
  auto* passkeys = command->add_option("--passkeys", options->passkeys,
                                       "Instead of texts: number of passkey prompts with answers");
  passkeys->excludes(separator);
  command->add_option("--passkey-length", options->passkey_length, "Tokens per prompt")
      ->needs(passkeys)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the keys and their places")
      ->needs(passkeys)
      ->capture_default_str();
  add_json_option(*command, options->json, "Write the report as JSON to FILE (default: -)");
  command->footer("See docs/text.md.");
  command->callback([options, command, passkeys, &run] {
    run = [options, command, passkeys] {
      return naming_options(*command, {{"count", "--passkeys"}, {"length", "--passkey-length"}},
                            [&] { return tokenize(*options, passkeys->count() > 0); });
    };
  });
}

}  // namespace plumbline::cli
