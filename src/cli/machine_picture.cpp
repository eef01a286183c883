#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/machine_view.h"

namespace roofline::cli {
namespace {

constexpr std::size_t kColumns = 60;
constexpr std::size_t kRows = 13;
constexpr std::size_t kMostRoofs = 6;

struct Roof {
  std::string name;
  double peak;
  bool integer;
};

// The formats people compare, dense; one line per distinct peak.
std::vector<Roof> roofs_of(const Ceiling& ceiling) {
  constexpr std::array<std::string_view, 9> kFormats = {"fp64.vector", "fp32.vector", "tf32.tensor",
                                                        "bf16.tensor", "fp16.tensor", "fp8.tensor",
                                                        "fp4.tensor",  "fp64.tensor", "int8.tensor"};
  std::vector<Roof> roofs;
  for (const auto key : kFormats) {
    const auto precision = *parse_precision(key);
    const auto peak = ceiling.peak(precision);
    if (!peak) continue;
    const auto same = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& r) { return r.peak == peak->high; });
    if (same == roofs.end()) roofs.push_back({std::string(key), peak->high, is_integer(precision.type)});
  }
  std::sort(roofs.begin(), roofs.end(), [](const Roof& a, const Roof& b) { return a.peak > b.peak; });
  // The highest and the lowest stay: they span the picture.
  while (roofs.size() > kMostRoofs) roofs.erase(roofs.end() - 2);
  return roofs;
}

class Picture {
 public:
  Picture(std::vector<Roof> roofs, double dram, std::optional<double> l2) : roofs_(std::move(roofs)), dram_(dram) {
    const double top = roofs_.front().peak;
    x_low_ = std::floor(std::log10(roofs_.back().peak / (l2 ? std::max(dram, *l2) : dram)) - 1);
    x_high_ = std::ceil(std::log10(top / dram) + 0.5);
    y_high_ = std::log10(top);
    y_low_ = std::log10(dram) + x_low_;
    lines_.assign(kRows, std::string(kColumns, ' '));
    labels_.resize(kRows);
    if (l2) slope(*l2, ':', "L2 slope (:)");
    slope(dram, '/', "DRAM slope (/)");
    for (const auto& roof : roofs_) flat(roof);
  }

  std::vector<std::string> print() const {
    std::vector<std::string> out = {"FLOP/s, over FLOP per byte of the level"};
    for (std::size_t r = 0; r < kRows; ++r) {
      std::string line = "│";
      for (const char c : lines_[r]) line += c == '-' ? std::string("─") : std::string(1, c);
      line += labels_[r].empty() ? "" : " " + labels_[r];
      while (line.back() == ' ') line.pop_back();
      out.push_back(std::move(line));
    }
    std::string axis = "└";
    for (std::size_t i = 0; i < kColumns; ++i) axis += "─";
    out.push_back(axis);
    out.push_back(ticks());
    return out;
  }

 private:
  double x_at(std::size_t column) const {
    return x_low_ + (x_high_ - x_low_) * static_cast<double>(column) / (kColumns - 1);
  }
  std::optional<std::size_t> row_at(double y) const {
    const double r = std::round((y_high_ - y) / (y_high_ - y_low_) * (kRows - 1));
    if (r < 0 || r > kRows - 1) return std::nullopt;
    return static_cast<std::size_t>(r);
  }

  void slope(double bytes_per_s, char mark, std::string_view label) {
    bool labelled = false;
    for (std::size_t c = 0; c < kColumns; ++c) {
      const double y = std::log10(bytes_per_s) + x_at(c);
      const auto row = row_at(y);
      if (y > y_high_ || !row) continue;
      lines_[*row][c] = mark;
      if (!std::exchange(labelled, true)) slope_labels_.emplace_back(label);
    }
  }

  void flat(const Roof& roof) {
    const auto row = row_at(std::log10(roof.peak));
    if (!row) return;
    for (std::size_t c = 0; c < kColumns; ++c)
      if (std::log10(dram_) + x_at(c) >= std::log10(roof.peak)) lines_[*row][c] = '-';
    auto& label = labels_[*row];
    label += fmt::format("{}{} {}", label.empty() ? "" : ", ", roof.name, si(roof.peak, roof.integer ? "OP/s" : "F/s"));
  }

  std::string ticks() const {
    std::string line(kColumns + 1, ' ');
    for (int power = static_cast<int>(x_low_); power <= static_cast<int>(x_high_); ++power) {
      const double at = (power - x_low_) / (x_high_ - x_low_) * (kColumns - 1);
      const auto text = fmt::format("{:g}", std::pow(10.0, power));
      auto start = 1 + static_cast<std::size_t>(std::lround(at));
      start = std::min(start, line.size() - std::min(line.size(), text.size()));
      line.replace(start, text.size(), text);
    }
    return line + fmt::format("  {}", fmt::join(slope_labels_, ", "));
  }

  std::vector<Roof> roofs_;
  double dram_;
  double x_low_ = 0, x_high_ = 0, y_low_ = 0, y_high_ = 0;  // powers of ten
  std::vector<std::string> lines_, labels_;
  std::vector<std::string> slope_labels_;
};

}  // namespace

std::vector<std::string> roofline_picture(const Ceiling& ceiling) {
  const auto dram = ceiling.bandwidth(MemoryLevel::dram, "dram");
  auto roofs = roofs_of(ceiling);
  if (!dram || roofs.empty()) return {};
  std::optional<double> l2;
  for (const auto& b : ceiling.bandwidths)
    if (b.level == MemoryLevel::l2 && b.definition != "lts_t") l2 = b.bytes_per_s;
  return Picture(std::move(roofs), *dram, l2).print();
}

}  // namespace roofline::cli
