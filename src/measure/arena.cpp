#include "measure/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <new>
#include <string>

namespace roofline::measure {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Arena::Arena(std::size_t bytes) : size_((bytes + kHugePage - 1) / kHugePage * kHugePage) {
  mapped_ = size_ + kHugePage;
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  data_ = static_cast<char*>(mapping_) + ((kHugePage - address % kHugePage) % kHugePage);
#ifdef MADV_HUGEPAGE
  madvise(data_, size_, MADV_HUGEPAGE);
#endif
}

Arena::~Arena() { munmap(mapping_, mapped_); }

void Arena::fill(std::size_t from, std::size_t to) {
  constexpr std::size_t kPattern = 1021;  // no power of two
  auto* numbers = reinterpret_cast<double*>(data_);
  for (std::size_t i = from / sizeof(double); i < std::min(to, size_) / sizeof(double); ++i)
    numbers[i] = 1.0 + 1e-3 * static_cast<double>(i % kPattern);
}

double Arena::huge_page_share() const {
  std::ifstream in("/proc/self/smaps");
  const auto first = reinterpret_cast<std::uintptr_t>(data_);
  const auto last = first + size_;
  double huge = 0;
  bool ours = false;
  for (std::string line; std::getline(in, line);) {
    const auto dash = line.find('-');
    if (dash != std::string::npos && dash > 0 && line.find_first_not_of("0123456789abcdef") == dash) {
      const auto from = std::stoull(line.substr(0, dash), nullptr, 16);
      const auto to = std::stoull(line.substr(dash + 1), nullptr, 16);
      ours = from < last && to > first;
    } else if (ours && line.starts_with("AnonHugePages:")) {
      huge += 1024 * std::stod(line.substr(line.find(':') + 1));
    }
  }
  return std::min(1.0, huge / static_cast<double>(size_));
}

void Chain::grow(std::size_t bytes) {
  const auto lines = std::min(most_, bytes / kLine);
  if (lines_ == 0 && lines > 0) {
    at(0) = memory_;
    lines_ = 1;
  }
  for (; lines_ < lines; ++lines_) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const auto before = random_ % lines_;
    at(lines_) = at(before);
    at(before) = memory_ + lines_ * kLine;
  }
}

}  // namespace roofline::measure
