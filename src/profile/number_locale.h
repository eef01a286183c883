// How a text writes its numbers: decided from all of them, never from one alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profile/text_number.h"
#include "roofline/profile.h"

namespace roofline {

// Collects what cells say about the decimal mark. Feed it cells until firm(), then ask for the verdict.
class LocaleEvidence {
 public:
  // `unit` is empty for a plain number; `line` stands in messages.
  void add(std::string_view cell, std::string_view unit, std::uint64_t line);
  // A cell with a unit that reads only one way was seen: nothing that follows can change the verdict.
  bool firm() const { return with_unit_.has_value(); }

  struct Verdict {
    NumberLocale locale = NumberLocale::point;
    bool guessed = false;  // rests on units, not on a number that reads only one way
    std::string evidence;  // for messages: `"65,77" % in line 5`; empty when every number is plain
    std::uint64_t line = 0;
  };
  // nullopt when lone separators contradict each other; the two are then in `clash`.
  std::optional<Verdict> verdict(std::string* clash) const;

 private:
  void add_ambiguous(std::string_view cell, std::string_view unit, std::uint64_t line);

  std::optional<Verdict> with_unit_;
  std::optional<Verdict> without_unit_;
  std::optional<Verdict> hint_;        // from an ambiguous cell and its unit
  std::optional<Verdict> other_hint_;  // the first that says the opposite
  std::optional<Verdict> undecided_;   // an ambiguous cell whose unit says nothing
};

}  // namespace roofline
