// SPDX-License-Identifier: Apache-2.0
// The notes in docs/proofs/ name claims and checks that exist, and every theorem has one.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "proofs_checks/report.hpp"
#include "support/atomic_file.hpp"

BOOST_AUTO_TEST_SUITE(notes_test)

using namespace plumbline::proofs_checks;

namespace {

const std::filesystem::path directory = PLUMBLINE_PROOFS;

/// What each claim examines, its mutant and its hypotheses included.
const std::map<std::string, std::vector<std::string>>& examined() {
  static const auto by_claim = [] {
    std::map<std::string, std::vector<std::string>> whats;
    for (const ClaimResult& result : run_claims().results) {
      std::vector<std::string>& of_claim = whats[result.claim.id];
      for (const Check& check : result.checks) of_claim.push_back(check.what);
      for (const HypothesisResult& one : result.hypotheses) {
        for (const Check& check : one.checks) of_claim.push_back(check.what);
      }
    }
    return whats;
  }();
  return by_claim;
}

/// On one line, with single spaces.
std::string text_of(const std::string& file) {
  return std::regex_replace(plumbline::read_file((directory / file).string()), std::regex("\\s+"),
                            " ");
}

/// Every `paper/claim`, with the check that follows in quotation marks, or "".
std::vector<std::pair<std::string, std::string>> mentions(const std::string& text) {
  static const std::regex mention("`((?:alibi|bam|cable)/[a-z_0-9]+)`(?: \"([^\"]+)\")?");
  std::vector<std::pair<std::string, std::string>> found;
  for (std::sregex_iterator it(text.begin(), text.end(), mention), end; it != end; ++it) {
    found.emplace_back((*it)[1], (*it)[2]);
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_note_names_claims_and_checks_that_exist) {
  std::size_t checks = 0;
  for (const Note& note : notes()) {
    const auto named = mentions(text_of(note.file));
    BOOST_TEST(!named.empty(), note.file);
    for (const auto& [claim, check] : named) {
      BOOST_TEST(examined().count(claim) == 1u, note.file << ": " << claim);
      if (examined().count(claim) == 0 || check.empty()) continue;
      ++checks;
      const auto& whats = examined().at(claim);
      BOOST_TEST(std::any_of(whats.begin(), whats.end(),
                             [&](const std::string& what) {
                               return what.find(check) != std::string::npos;
                             }),
                 note.file << ": " << claim << " has no check \"" << check << "\"");
    }
    for (const std::string& claim : note.claims) {
      BOOST_TEST(std::any_of(named.begin(), named.end(),
                             [&](const auto& one) { return one.first == claim; }),
                 note.file << " does not mention " << claim);
    }
  }
  BOOST_TEST(checks >= 100u);
}

BOOST_AUTO_TEST_CASE(every_theorem_lemma_and_definition_has_a_note_that_names_a_check) {
  for (const auto& [claim, whats] : examined()) {
    const std::string name = claim.substr(claim.find('/') + 1);
    const bool theorem = name.rfind("theorem_", 0) == 0 || name.rfind("lemma_", 0) == 0 ||
                         name.rfind("definition_", 0) == 0 || name.rfind("z_", 0) == 0;
    if (!theorem || whats.empty()) continue;
    const Note* note = note_of(claim);
    BOOST_REQUIRE_MESSAGE(note, claim);
    const auto named = mentions(text_of(note->file));
    BOOST_TEST(std::any_of(named.begin(), named.end(),
                           [&, id = claim](const auto& one) {
                             return one.first == id && !one.second.empty();
                           }),
               note->file << " ties no step to a check of " << claim);
  }
}

BOOST_AUTO_TEST_CASE(the_notes_are_the_files_and_the_list_names_each) {
  std::set<std::string> files, listed;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files.insert(entry.path().filename().string());
  }
  const std::string list = text_of("README.md");
  for (const Note& note : notes()) {
    listed.insert(note.file);
    BOOST_TEST(list.find("(" + note.file + ")") != std::string::npos, note.file);
    BOOST_TEST(text_of(note.file).rfind("# " + note.title + " ", 0) == 0u, note.file);
  }
  listed.insert("README.md");
  BOOST_TEST((files == listed));
}

BOOST_AUTO_TEST_SUITE_END()
