// SPDX-License-Identifier: Apache-2.0
#include "models/text/filler.hpp"

#include <fmt/format.h>

#include <array>

#include "support/error.hpp"

namespace plumbline::text {
namespace {

using Words = std::string_view;

constexpr std::array<Words, 32> adjectives{
    "quiet",  "narrow", "early",  "distant",  "hollow",   "gentle", "broken",  "steady",
    "bright", "sunken", "wild",   "patient",  "crooked",  "frozen", "modest",  "sudden",
    "silent", "weary",  "humble", "polished", "drifting", "sleepy", "rugged",  "nimble",
    "faded",  "proud",  "lonely", "merry",    "solemn",   "tender", "ancient", "clever"};
constexpr std::array<Words, 32> materials{
    "copper", "amber",  "linen", "cedar",  "granite", "silver", "woollen", "marble",
    "velvet", "bronze", "clay",  "walnut", "ivory",   "slate",  "leather", "glass",
    "silken", "golden", "straw", "maple",  "crystal", "paper",  "pewter",  "willow",
    "chalk",  "cobalt", "birch", "coral",  "flint",   "wicker", "ebony",   "pearl"};
constexpr std::array<Words, 64> nouns{
    "harbour", "lantern", "orchard", "bridge",  "kettle",   "meadow",   "ladder", "compass",
    "window",  "garden",  "anchor",  "cellar",  "mirror",   "wagon",    "tower",  "basket",
    "chapel",  "violin",  "pillow",  "furnace", "sparrow",  "saddle",   "candle", "quarry",
    "valley",  "hammer",  "blanket", "market",  "fountain", "thimble",  "barrel", "stable",
    "pocket",  "island",  "chimney", "needle",  "cottage",  "plough",   "ribbon", "temple",
    "engine",  "willow",  "parlour", "rudder",  "beacon",   "cradle",   "ledger", "mantle",
    "button",  "canyon",  "turnip",  "scarf",   "trumpet",  "gutter",   "helmet", "locket",
    "pebble",  "quill",   "rafter",  "socket",  "teapot",   "umbrella", "vessel", "whistle"};
constexpr std::array<Words, 16> people{
    "The miller",   "A neighbour",    "The old teacher", "My uncle",
    "The doctor",   "A young farmer", "The captain",     "Her sister",
    "The gardener", "A traveller",    "The clerk",       "The carpenter",
    "A fisherman",  "The librarian",  "His cousin",      "The weaver"};
constexpr std::array<Words, 16> deeds{
    "repaired", "carried", "remembered", "painted", "described", "looked for", "sold",  "noticed",
    "borrowed", "cleaned", "measured",   "praised", "forgot",    "drew",       "moved", "admired"};
constexpr std::array<Words, 16> place_words{
    "behind the church",  "near the station",     "at the edge of the wood", "in the upper room",
    "by the canal",       "outside the town",     "under the stairs",        "beside the mill",
    "on the other shore", "in the back garden",   "at the crossroads",       "next to the bakery",
    "below the hill",     "along the coast road", "in the market hall",      "opposite the school"};
constexpr std::array<Words, 16> times{
    "before breakfast",    "last autumn",        "after the rain",
    "on a Tuesday",        "every spring",       "late at night",
    "during the holidays", "in the second week", "without hurry",
    "for the third time",  "as usual",           "while it was still dark",
    "towards evening",     "in a hard winter",   "on the way home",
    "when nobody asked"};

template <std::size_t size>
Words pick(const std::array<Words, size>& words, const Draw& draw, std::uint64_t index) {
  return words[draw.below(index, size)];
}

constexpr std::int64_t word_triples = std::int64_t{32} * 32 * 64;
constexpr std::int64_t seven_digits = 9'000'000;

}  // namespace

std::string essay_sentence(const Draw& draw, std::uint64_t n) {
  const std::uint64_t index = 8 * n;
  const Words who = pick(people, draw, index), did = pick(deeds, draw, index + 1),
              what = pick(adjectives, draw, index + 2), thing = pick(nouns, draw, index + 3),
              where = pick(place_words, draw, index + 4), when = pick(times, draw, index + 5);
  switch (draw.below(index + 6, 3)) {
    case 0:
      return fmt::format("{} {} the {} {} {}.", who, did, what, thing, where);
    case 1:
      return fmt::format("{} {} the {} {} {}, {}.", who, did, what, thing, where, when);
    default:
      return fmt::format("{} {} the {} {} and the {}.", who, did, what, thing,
                         pick(nouns, draw, index + 7));
  }
}

std::vector<std::string> sentences_of(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
  std::vector<std::string> sentences;
  std::string sentence;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char c = text[n];
    if (!blank(c)) {
      sentence += c;
    } else if (!sentence.empty() && sentence.back() != ' ') {
      sentence += ' ';
    }
    const bool last = n + 1 == text.size();
    if (last || ((c == '.' || c == '!' || c == '?') && blank(text[n + 1]))) {
      if (!sentence.empty() && sentence.back() == ' ') sentence.pop_back();
      if (!sentence.empty()) sentences.push_back(std::move(sentence));
      sentence.clear();
    }
  }
  return sentences;
}

Secrets::Secrets(std::uint64_t seed)
    : words_(word_triples, seed, 0), numbers_(seven_digits, seed, 1), uuids_(seed, 2) {}

std::string Secrets::words(std::int64_t n) const {
  if (n >= word_triples) {
    throw BadInput("number of names", std::to_string(n + 1),
                   fmt::format("at most {} in one prompt", word_triples));
  }
  const auto place = static_cast<std::size_t>(words_(n));
  return fmt::format("{}-{}-{}", adjectives[place / 2048], materials[place / 64 % 32],
                     nouns[place % 64]);
}

std::string Secrets::number(std::int64_t n) const {
  if (n >= seven_digits) {
    throw BadInput("number of values", std::to_string(n + 1),
                   fmt::format("at most {} in one prompt", seven_digits));
  }
  return std::to_string(1'000'000 + numbers_(n));
}

std::string Secrets::uuid(std::int64_t n) const {
  const auto index = 2 * static_cast<std::uint64_t>(n);
  const std::uint64_t high = (uuids_.word(index) & ~0xf000u) | 0x4000u;
  const std::uint64_t low = (uuids_.word(index + 1) & 0x3fffffffffffffffu) | 0x8000000000000000u;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffffu);
}

}  // namespace plumbline::text
