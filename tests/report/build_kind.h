// What kind of build a test runs in, for limits on time.
#pragma once

#include <cstddef>
#include <ctime>

namespace roofline::testing {

#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
inline constexpr bool kOptimised = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kOptimised = false;
#else
inline constexpr bool kOptimised = true;
#endif
#else
inline constexpr bool kOptimised = true;
#endif

// 10,000 rows within a second where the compiler optimises; fewer, and with time to spare, elsewhere: enough to notice
// a view that has become quadratic.
inline constexpr std::size_t kManyRows = kOptimised ? 10'000 : 2'000;
inline constexpr double kPatience_s = kOptimised ? 1.0 : 20.0;

// Processor time: other programs on the machine do not count.
class CpuTimer {
 public:
  double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t start_ = std::clock();
};

}  // namespace roofline::testing
