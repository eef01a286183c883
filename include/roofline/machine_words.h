// A device in the words of its maker: "CC 9.0, 132 SMs" of NVIDIA, "gfx942, 304 CUs" of AMD.
#pragma once

#include <string>
#include <string_view>

#include "roofline/machine.h"

namespace roofline {

// "CC 9.0", "gfx942"; empty for none.
std::string architecture_words(std::string_view compute_capability);

// What the launches' cores are called: "CU" where the architecture is one of AMD's, else "SM".
std::string_view core_word(std::string_view compute_capability);

// "CC 9.0, 132 SMs", as far as it is known.
std::string device_words(const Machine& machine);

}  // namespace roofline
