#include "measure/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace roofline::measure {
namespace {

Figure figure(std::string key, double value, double unit_value, std::string_view unit, std::string note) {
  Figure out;
  out.key = std::move(key);
  // Fixed notation: a file may hold no powers of ten that people trip over.
  const double shown = value / unit_value;
  const int decimals = shown >= 1000 ? 0 : shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
  out.text = fmt::format("{:.{}f}", shown, decimals);
  out.unit = unit;
  out.value = value;
  out.note = std::move(note);
  return out;
}

}  // namespace

Figure text_figure(std::string key, std::string text) {
  Figure out;
  out.key = std::move(key);
  out.text = std::move(text);
  return out;
}

Figure bandwidth_figure(std::string key, double bytes_per_s, std::string note) {
  return figure(std::move(key), bytes_per_s, 1e9, "GB/s", std::move(note));
}

Figure operations_figure(std::string key, double ops_per_s, bool integer, std::string note) {
  return figure(std::move(key), ops_per_s, 1e9, integer ? "GOP/s" : "GFLOP/s", std::move(note));
}

Figure clock_figure(std::string key, double hertz, std::string note) {
  return figure(std::move(key), hertz, 1e6, "MHz", std::move(note));
}

Figure time_figure(std::string key, double seconds, std::string note) {
  return figure(std::move(key), seconds, 1e-9, "ns", std::move(note));
}

Figure size_figure(std::string key, double bytes, std::string note) {
  constexpr double kKiB = 1024;
  return figure(std::move(key), bytes, kKiB, "KiB", std::move(note));
}

Machine machine_of(const std::string& id, const MachineFacts& facts) {
  Machine named;
  named.id = id;
  const std::vector<MachineFile> files = {{id + ".toml", to_toml(named, facts)}};
  const auto catalogue = MachineCatalogue::built_in().with(files);
  const auto& machines = catalogue.machines();
  const auto it = std::find_if(machines.begin(), machines.end(), [&](const Machine& m) { return m.id == id; });
  return it == machines.end() ? named : *it;
}

}  // namespace roofline::measure
