// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "proofs_checks/report.hpp"
#include "support/text.hpp"

namespace plumbline::proofs_checks {

/// The files of proofs_checks/coverage/; CMakeLists.txt writes this.
std::vector<const char*> coverage_files();

namespace {

Passage passage_of(const nlohmann::json& json) {
  return {json.at("at").at(0),
          json.at("at").at(1),
          json.at("begins"),
          json.at("kind"),
          json.at("place"),
          json.at("says"),
          json.value("claims", std::vector<std::string>()),
          json.value("reason", "")};
}

Document document_of(const nlohmann::json& json) {
  Document document{json.at("name"),   json.at("paper"), json.at("title"),
                    json.at("sha256"), json.at("bytes"), {}};
  for (const nlohmann::json& passage : json.at("passages")) {
    document.passages.push_back(passage_of(passage));
  }
  return document;
}

bool examines(const std::string& claim, const Passage& passage) {
  return std::ranges::find(passage.claims, claim) != passage.claims.end();
}

}  // namespace

std::vector<Document> coverage(const std::vector<std::string>& ids) {
  std::vector<Document> documents;
  for (const char* file : coverage_files()) {
    documents.push_back(document_of(nlohmann::json::parse(file)));
  }
  if (ids.empty()) return documents;
  const auto selects = [](const std::string& id, const Document& document, const Passage& passage) {
    return id == document.paper || examines(id, passage);
  };
  for (const std::string& id : ids) {
    const bool found = std::ranges::any_of(documents, [&](const Document& document) {
      return std::ranges::any_of(document.passages, [&](const Passage& passage) {
        return selects(id, document, passage);
      });
    });
    if (!found) throw no_such_claim(id);
  }
  for (Document& document : documents) {
    std::erase_if(document.passages, [&](const Passage& passage) {
      return std::ranges::none_of(
          ids, [&](const std::string& id) { return selects(id, document, passage); });
    });
  }
  std::erase_if(documents, [](const Document& document) { return document.passages.empty(); });
  return documents;
}

void write_text(const std::vector<Document>& documents, std::ostream& out) {
  std::size_t passages = 0, examined = 0;
  std::set<std::string> claims;
  for (const Document& document : documents) {
    out << document.title << "\n";
    for (const Passage& passage : document.passages) {
      ++passages;
      examined += passage.claims.empty() ? 0 : 1;
      claims.insert(passage.claims.begin(), passage.claims.end());
      out << fmt::format("  {}, {}: {}\n      {}\n", passage.place, passage.kind, passage.says,
                         passage.claims.empty()
                             ? "not examined: " + passage.reason
                             : fmt::format("{}", fmt::join(passage.claims, ", ")));
    }
  }
  out << fmt::format("{}: {} examined by {}, {} with the reason why not\n",
                     counted(passages, "passage"), examined, counted(claims.size(), "claim"),
                     passages - examined);
}

nlohmann::json to_json(const std::vector<Document>& documents) {
  nlohmann::json all = nlohmann::json::array();
  for (const Document& document : documents) {
    nlohmann::json passages = nlohmann::json::array();
    for (const Passage& one : document.passages) {
      nlohmann::json passage = {{"at", {one.begin, one.end}},
                                {"begins", one.begins},
                                {"kind", one.kind},
                                {"place", one.place},
                                {"says", one.says}};
      if (one.claims.empty()) {
        passage["reason"] = one.reason;
      } else {
        passage["claims"] = one.claims;
      }
      passages.push_back(passage);
    }
    all.push_back({{"name", document.name},
                   {"paper", document.paper},
                   {"title", document.title},
                   {"sha256", document.sha256},
                   {"bytes", document.bytes},
                   {"passages", passages}});
  }
  return {{"documents", all}};
}

}  // namespace plumbline::proofs_checks
