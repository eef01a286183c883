// Errors a person can act on.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace roofline {

// Why an input was refused. `kind` is a stable slug that scripts and tests may match.
struct InputProblem {
  std::string kind;                     // e.g. "bad-magic", "truncated", "no-header"
  std::string path;                     // as the user gave it
  std::optional<std::uint64_t> offset;  // byte offset in the (decompressed) file
  std::optional<std::uint64_t> line;    // 1-based
  std::string found;                    // what stands there
  std::string expected;                 // what should stand there; may be empty
  std::string action;                   // what to do next; may be empty
};

// An input file that cannot be read. what() is one line naming file, place, finding and next step.
class InputError : public std::runtime_error {
 public:
  explicit InputError(InputProblem problem);
  const InputProblem& problem() const { return problem_; }

 private:
  InputProblem problem_;
};

// Wrong use of a command or of the library: a bad option value, an unknown machine name.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace roofline
