#include "model/allocation_count.h"

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define ROOFLINE_OWN_ALLOCATOR 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROOFLINE_OWN_ALLOCATOR 0
#endif
#endif
#ifndef ROOFLINE_OWN_ALLOCATOR
#define ROOFLINE_OWN_ALLOCATOR 1
#endif

namespace {
std::size_t count = 0;
}

namespace roofline::testing {

bool allocations_are_counted() { return ROOFLINE_OWN_ALLOCATOR != 0; }
std::size_t allocation_count() { return count; }

}  // namespace roofline::testing

#if ROOFLINE_OWN_ALLOCATOR
void* operator new(std::size_t size) {
  ++count;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
