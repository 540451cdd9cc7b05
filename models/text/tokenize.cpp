// SPDX-License-Identifier: Apache-2.0
#include "models/text/tokenize.hpp"

#include <memory>

#include "support/error.hpp"
#include "support/mapped_file.hpp"
#include "support/text.hpp"

namespace plumbline::text {
namespace {

/// Takes the next document off the front of `rest`, and counts the separator that ends it.
std::string_view next_document(std::string_view& rest, const std::string& separator,
                               std::size_t& separators) {
  std::size_t line = 0;
  while (!separator.empty() && line < rest.size()) {
    const std::size_t end = std::min(rest.find('\n', line), rest.size());
    if (rest.substr(line, end - line) == separator) {
      const std::string_view document = rest.substr(0, line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++separators;
      return document;
    }
    line = end + 1;
  }
  const std::string_view document = rest;
  rest = {};
  return document;
}

}  // namespace

TokenizedText tokenize(const std::vector<std::filesystem::path>& paths, const Tokenizer& tokenizer,
                       const std::string& separator, const ByteProgress& progress) {
  std::vector<std::unique_ptr<MappedFile>> files;
  std::size_t done = 0;
  for (const auto& path : paths) {  // all of them first: a missing one ends it before the work
    files.push_back(std::make_unique<MappedFile>(path));
    if (files.back()->bytes().empty())
      throw BadInput("file " + path_in_quotes(path), "empty", "text");
  }
  TokenizedText result;
  for (std::size_t n = 0; n < files.size(); ++n) {
    const auto bytes = files[n]->bytes();
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t documents_before = result.documents;
    while (!rest.empty()) {
      const std::string_view document = next_document(rest, separator, result.separators);
      if (!document.empty()) {
        result.tokens.push_back(tokenizer.specials().end_of_text);
        try {
          const auto tokens = tokenizer.encode(document);
          result.tokens.insert(result.tokens.end(), tokens.begin(), tokens.end());
        } catch (const BadInput& error) {
          throw BadInput("file " + path_in_quotes(paths[n]), error);
        }
        ++result.documents;
        result.bytes += document.size();
      }
      if (progress) progress(done + bytes.size() - rest.size());
    }
    if (result.documents == documents_before) {
      throw BadInput("file " + path_in_quotes(paths[n]), "nothing but separators", "text");
    }
    done += bytes.size();
    files[n].reset();
  }
  return result;
}

void expect_separators(const std::string& separator, std::size_t texts, std::size_t found) {
  if (separator.empty() || found > 0) return;
  if (texts == 0)
    throw BadInput("separator", in_quotes(separator) + ", and there are token shards alone",
                   "a text among the data: in shards, documents are separated already");
  throw BadInput("separator", in_quotes(separator) + ", which is no line of the texts",
                 "a line that ends a document, or none: a file is a document then");
}

}  // namespace plumbline::text
