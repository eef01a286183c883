// A guard before TOML parsers, which nest as deep as the text says.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace roofline {

// The first line (from 1) with a dotted key of more parts than any file of ours has, or with brackets nested as deep;
// nullopt where there is none. A parser would recurse once for each.
std::optional<std::uint64_t> too_deep_toml_line(std::string_view toml);

}  // namespace roofline
