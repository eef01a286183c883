#include "profile/reader.h"

#include <utility>

namespace roofline {

void refuse(const Input& input, std::string kind, std::string found, std::string expected, std::string action) {
  throw InputError({std::move(kind), input.path, std::nullopt, std::nullopt, std::move(found), std::move(expected),
                    std::move(action)});
}

void refuse_at_byte(const Input& input, std::uint64_t offset, std::string kind, std::string found, std::string expected,
                    std::string action) {
  throw InputError(
      {std::move(kind), input.path, offset, std::nullopt, std::move(found), std::move(expected), std::move(action)});
}

void refuse_at_line(const Input& input, std::uint64_t line, std::string kind, std::string found, std::string expected,
                    std::string action) {
  throw InputError(
      {std::move(kind), input.path, std::nullopt, line, std::move(found), std::move(expected), std::move(action)});
}

void keep_partial(Profile& profile, const InputError& fault) {
  profile.partial = true;
  profile.warnings.push_back({"partial", fault.what(), std::nullopt});
}

}  // namespace roofline
