// Counts the passes of profiler metrics with the CUDA toolkit's own library: no GPU and no driver needed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roofline::collect {

class CuptiPasses {
 public:
  // Nothing where libcupti is not installed ($ROOFLINE_CUPTI names it elsewhere).
  static std::optional<CuptiPasses> open();

  // Chips that the library counts passes for.
  std::vector<std::string> chips() const;
  // Passes of all metrics together; nullopt when the chip lacks one of them.
  std::optional<int> passes(const std::string& chip, const std::vector<std::string>& metrics) const;

 private:
  struct Library;
  explicit CuptiPasses(std::shared_ptr<Library> library) : library_(std::move(library)) {}
  std::shared_ptr<Library> library_;
};

}  // namespace roofline::collect
