// Counts what the code under test allocates.
#pragma once

#include <cstddef>

namespace roofline::testing {

// False under sanitizers, which bring their own allocator.
bool allocations_are_counted();
std::size_t allocation_count();

}  // namespace roofline::testing
