// Reports as they lie in a store.
#pragma once

#include <string>
#include <string_view>

namespace roofline::history {

std::string compress(std::string_view text);
// `size` is what it was before. Throws InputError naming the store where the checksum or the size does not fit.
std::string decompress(std::string_view packed, std::uint64_t size, const std::string& store);

}  // namespace roofline::history
