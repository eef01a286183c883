// Totals of Triton's profiler Proton: the tree of a .hatchet file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "timeline/readers.h"

namespace roofline {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 512;  // scopes within scopes; deeper ones are no program's

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

// A number that makes sense as an amount.
std::optional<double> amount(const Json& metrics, const char* key) {
  const auto* value = member(metrics, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->get<double>();
  return std::isfinite(number) && number >= 0 ? std::optional<double>(number) : std::nullopt;
}

std::string text(const Json* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  return value->is_number_integer() ? std::to_string(value->get<long long>()) : std::string();
}

// What a program declared for a scope: operations of one width and bytes.
struct Declared {
  std::optional<double> flops, bytes;
  std::string kind;

  static Declared of(const Json& metrics) {
    Declared declared;
    for (const char* key : {"flops8", "flops16", "flops32", "flops64", "flops"})
      if (const auto value = amount(metrics, key); value && *value > 0) {
        declared.flops = declared.flops.value_or(0) + *value;
        declared.kind = declared.kind.empty() ? key : "flops";  // several widths: the sum has none
      }
    if (const auto value = amount(metrics, "bytes"); value && *value > 0) declared.bytes = value;
    return declared;
  }
  bool any() const { return flops || bytes; }
};

class ProtonReader {
 public:
  explicit ProtonReader(Input input) : input_(std::move(input)), names_(timeline_.names) {
    timeline_.format = "proton";
  }

  Timeline read() {
    const auto json = parse();
    if (!json.is_array() || json.empty()) refuse(input_, "bad-hatchet", "no list of trees", "a tree and its devices");
    for (const auto& entry : json) {
      if (!entry.is_object()) continue;
      if (entry.contains("frame"))
        trees_.push_back(&entry);
      else
        read_devices(entry);
    }
    for (const auto* tree : trees_) visit(*tree, 0);
    if (timeline_.totals.empty())
      refuse(input_, "no-gpu-work", "a Proton profile without a timed kernel", "nodes with \"time (ns)\"",
             "check that proton.start() ran before the kernels and proton.finalize() after them");
    if (unused_ > 0)
      timeline_.warnings.push_back(
          {"declared-without-time",
           fmt::format("{} scopes declare FLOPs or bytes, but no kernel in them was timed", unused_), std::nullopt});
    return std::move(timeline_);
  }

 private:
  Json parse() const {
    // Depth is checked before: the library's parser keeps a stack of its own, but trees are walked by recursion here.
    try {
      return Json::parse(input_.text(), [this](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
        if (depth > 4 * kDeepest) refuse(input_, "too-deep", "scopes nested too deeply", "");
        return true;
      });
    } catch (const Json::parse_error& fault) {
      refuse_at_byte(input_, fault.byte, "bad-json", "damaged JSON", "", "write it again: proton.finalize()");
    }
  }

  void read_devices(const Json& table) {
    for (const auto& [type, devices] : table.items())
      if (devices.is_object())
        for (const auto& [id, facts] : devices.items()) read_device(type, id, facts);
  }

  void read_device(const std::string& type, const std::string& id, const Json& facts) {
    DeviceInfo device;
    device.id = static_cast<std::uint32_t>(std::strtoul(id.c_str(), nullptr, 10));
    const auto arch = text(member(facts, "arch"));
    // NVIDIA's "90" is 9.0, "100" is 10.0; AMD's is the gfx name.
    if (arch.starts_with("gfx"))
      device.compute_capability = arch.substr(0, arch.find(':'));
    else if (arch.size() >= 2 && std::all_of(arch.begin(), arch.end(), [](char c) { return c >= '0' && c <= '9'; }))
      device.compute_capability = arch.substr(0, arch.size() - 1) + "." + arch.back();
    constexpr double kKilohertz = 1e3;
    if (const auto sms = amount(facts, "num_sms")) device.sm_count = static_cast<int>(std::min(*sms, 1e6));
    if (const auto clock = amount(facts, "clock_rate")) device.max_sm_clock_hz = *clock * kKilohertz;
    if (const auto clock = amount(facts, "memory_clock_rate")) device.max_memory_clock_hz = *clock * kKilohertz;
    if (const auto bits = amount(facts, "bus_width")) device.memory_bus_bits = static_cast<int>(std::min(*bits, 1e6));
    devices_[type + "/" + id] = static_cast<std::uint32_t>(timeline_.devices.size());
    timeline_.devices.push_back(std::move(device));
  }

  std::uint32_t device_of(const Json& metrics) {
    const auto key = text(member(metrics, "device_type")) + "/" + text(member(metrics, "device_id"));
    const auto [it, fresh] = devices_.try_emplace(key, static_cast<std::uint32_t>(timeline_.devices.size()));
    if (fresh) timeline_.devices.emplace_back();
    return it->second;
  }

  // All that was timed below a node.
  struct Below {
    double time_ns = 0;
    double count = 0;
    std::uint32_t device = 0;
    std::size_t kernels = 0;
  };

  // A node with a time is a kernel. What a scope declares belongs to the kernels in it: one row with the scope's name.
  Below visit(const Json& node, int depth) {
    if (depth > kDeepest) refuse(input_, "too-deep", fmt::format("more than {} scopes within one another", kDeepest));
    Below below;
    const auto* metrics = member(node, "metrics");
    static const Json kNothing = Json::object();
    const Json& own = metrics != nullptr ? *metrics : kNothing;
    const auto declared = Declared::of(own);
    const auto name = text(member(member(node, "frame") != nullptr ? *member(node, "frame") : kNothing, "name"));
    if (name == "__proton_launch_metadata") return below;  // what the metadata functions themselves launched
    const auto rows_before = timeline_.totals.size();
    const auto own_time = amount(own, "time (ns)").value_or(0);
    if (own_time > 0) below = {own_time, amount(own, "count").value_or(0), device_of(own), 1};
    if (const auto* children = member(node, "children"); children != nullptr && children->is_array())
      for (const auto& child : *children) {
        const auto part = visit(child, depth + 1);
        if (part.kernels == 0) continue;
        below.time_ns += part.time_ns;
        below.count = std::max(below.count, part.count);
        if (below.kernels == 0) below.device = part.device;
        below.kernels += part.kernels;
      }
    if (declared.any() && below.kernels == 0) ++unused_;
    if (below.kernels == 0 || (own_time <= 0 && !declared.any())) return below;
    // Kernels under a scope that declares are part of its row; two declarations of the same work would count it twice.
    const bool declared_below = std::any_of(timeline_.totals.begin() + static_cast<std::ptrdiff_t>(rows_before),
                                            timeline_.totals.end(), [](const auto& t) { return t.flops || t.bytes; });
    if (declared.any() && declared_below && own_time <= 0) return below;
    if (own_time <= 0) timeline_.totals.resize(rows_before);
    // Times in the file are exclusive: a kernel's own does not hold those below it.
    auto row = below;
    if (own_time > 0) row.time_ns = own_time;
    add(name, row, declared);
    return below;
  }

  void add(const std::string& name, const Below& below, const Declared& declared) {
    KernelTotals totals;
    totals.name = names_.intern(name);
    totals.device = below.device;
    totals.launches = static_cast<std::uint64_t>(std::max(1.0, std::min(below.count, 1e15)));
    totals.total_s = below.time_ns * 1e-9;
    totals.flops = declared.flops;
    totals.bytes = declared.bytes;
    totals.flops_kind = declared.kind;
    timeline_.totals.push_back(std::move(totals));
  }

  Input input_;
  Timeline timeline_;
  NameTable names_;
  std::vector<const Json*> trees_;
  std::map<std::string, std::uint32_t> devices_;
  std::uint64_t unused_ = 0;
};

}  // namespace

bool looks_like_proton(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '[') return false;
  const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  return has("\"frame\"") && has("\"metrics\"");
}

Timeline read_proton(const TimelineSource& source, const TimelineOptions& options) {
  return ProtonReader(source.unpacked(options)).read();
}

}  // namespace roofline
