// SPDX-License-Identifier: Apache-2.0
#include "models/training/terms.hpp"

#include <set>

#include "support/text.hpp"

namespace plumbline::training {

namespace {

Terms at(const Terms& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? Terms() : *found;
}

void collect(const std::string& place, const Terms& of_checkpoint, const Terms& asked,
             std::vector<Difference>& all) {
  if (of_checkpoint == asked) return;
  if (!of_checkpoint.is_object() || !asked.is_object()) {
    all.push_back({place, of_checkpoint, asked});
    return;
  }
  std::set<std::string> keys;
  for (const Terms* object : {&of_checkpoint, &asked})
    for (const auto& [key, value] : object->items()) keys.insert(key);
  for (const std::string& key : keys)
    collect(place.empty() ? key : place + "." + key, at(of_checkpoint, key), at(asked, key), all);
}

std::string shown(const Terms& value) { return value.is_null() ? "missing" : value.dump(); }

}  // namespace

std::vector<Difference> differences(const Terms& of_checkpoint, const Terms& asked) {
  std::vector<Difference> all;
  collect("", of_checkpoint, asked, all);
  return all;
}

OtherTerms::OtherTerms(const std::filesystem::path& checkpoint, std::vector<Difference> all)
    : BadInput(path_in_quotes(checkpoint),
               BadInput(all.front().term, shown(all.front().of_checkpoint),
                        shown(all.front().asked) + ", as this run has it")),
      differences_(std::move(all)) {}

}  // namespace plumbline::training
