// How close to the roof do the kernels of a profile run? One line a kernel, then the fraction of the whole.
#include <roofline/analysis.h>
#include <roofline/error.h>
#include <roofline/profile.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

std::string percent(const std::optional<double>& fraction, roofline::Bound bound) {
  if (!fraction) return "not placed";  // unknown is not zero
  char text[32];
  std::snprintf(text, sizeof text, "%s%.1f %%", bound == roofline::Bound::lower ? ">= " : "", *fraction * 100);
  return text;
}

void print(const roofline::Report& report) {
  for (const auto& row : report.rows) {
    const auto& placement = row.group.placement;
    std::printf("%s: %s (%s)\n", row.name.c_str(), percent(placement.fraction, placement.bound).c_str(),
                std::string(roofline::to_string(placement.position)).c_str());
  }
  std::printf("total: %s of the roof, %.0f %% of the time placed\n",
              percent(report.total.fraction, report.total.bound).c_str(), report.total.placed_time_share * 100);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: embed PROFILE...\n");
    return 2;
  }
  try {
    const std::vector<std::string> paths(argv + 1, argv + argc);
    print(roofline::analyze(roofline::open_profiles(paths), {}));
  } catch (const roofline::InputError& error) {
    std::fprintf(stderr, "embed: %s\n", error.what());
    return 3;
  }
}
