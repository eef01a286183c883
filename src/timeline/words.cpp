#include "timeline/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "roofline/machines.h"
#include "roofline/names.h"

namespace roofline {
namespace {

constexpr std::string_view kUnnamed = "(no name)";

std::string_view text_of(const Timeline& timeline, std::uint32_t name) {
  return name == kNone ? std::string_view() : std::string_view(timeline.names[name]);
}

std::string_view common_start(std::string_view a, std::string_view b) {
  const auto n = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (i < n && a[i] == b[i]) ++i;
  return a.substr(0, i);
}

// From the begin of the word in which a name begins to differ.
std::string different_part(std::string_view name, std::size_t common) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  auto begin = std::min(common, name.size());
  while (begin > 0 && is_word(name[begin - 1])) --begin;
  auto end = begin;
  while (end < name.size() && is_word(name[end])) ++end;
  constexpr std::size_t kLeast = 12;
  return std::string(name.substr(begin, std::max(end - begin, kLeast)));
}

}  // namespace

std::string device_title(const Timeline& timeline, std::uint32_t device) {
  if (device >= timeline.devices.size()) return fmt::format("GPU {}", device);
  const auto& info = timeline.devices[device];
  return info.name.empty() ? fmt::format("GPU {}", info.id) : fmt::format("GPU {}, {}", info.id, info.name);
}

std::string kernel_label(const Timeline& timeline, std::uint32_t name, std::uint32_t full_name) {
  const auto full = text_of(timeline, full_name != kNone ? full_name : name);
  if (full.empty()) return std::string(kUnnamed);
  return short_kernel_name(full);
}

std::vector<std::string> kernel_labels(const Timeline& timeline, std::span<const KernelShare> kernels) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<std::size_t>> same;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    out.push_back(kernel_label(timeline, kernels[i].name, kernels[i].full_name));
    same[out.back()].push_back(i);
  }
  for (const auto& [label, list] : same) {
    std::set<std::uint32_t> names;
    for (const auto i : list) names.insert(kernels[i].full_name);
    if (names.size() < 2) continue;
    std::string_view common = text_of(timeline, *names.begin());
    for (const auto name : names) common = common_start(common, text_of(timeline, name));
    for (const auto i : list) out[i] += " …" + different_part(text_of(timeline, kernels[i].full_name), common.size());
  }
  return out;
}

std::string work_name(const Timeline& timeline, const GpuActivity& activity) {
  if (activity.work == GpuWork::kernel || activity.work == GpuWork::graph)
    return kernel_label(timeline, activity.name, activity.full_name);
  return std::string(copy_words(activity.work, activity.copy));
}

std::string_view copy_words(GpuWork work, CopyKind kind) {
  if (work == GpuWork::fill) return "fill";
  switch (kind) {
    case CopyKind::host_to_device:
      return "copy host to device";
    case CopyKind::device_to_host:
      return "copy device to host";
    case CopyKind::device_to_device:
      return "copy within the device";
    case CopyKind::peer_to_peer:
      return "copy between devices";
    default:
      return "copy";
  }
}

std::string ncu_filter(const Timeline& timeline, const KernelShare& kernel) {
  auto function = kernel_label(timeline, kernel.name, kernel.full_name);
  // ncu compares the function name without template arguments.
  if (const auto arguments = function.find('<'); arguments != std::string::npos) function.resize(arguments);
  std::string out;
  for (const char c : function)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') out += c;
  return out;
}

const Machine* machine_of(const std::vector<DeviceInfo>& devices, std::uint32_t device) {
  if (device >= devices.size() || devices[device].name.empty()) return nullptr;
  return MachineCatalogue::instance().match(devices[device]);
}

std::optional<LinkBandwidth> link_of(const std::vector<DeviceInfo>& devices, std::uint32_t device, CopyKind kind) {
  const bool host = kind == CopyKind::host_to_device || kind == CopyKind::device_to_host;
  if (!host && kind != CopyKind::peer_to_peer) return std::nullopt;
  const auto* machine = machine_of(devices, device);
  const auto* ceiling = machine ? machine->ceiling(CeilingKind::datasheet) : nullptr;
  if (!ceiling) return std::nullopt;
  for (const auto* want : {host ? "pcie" : "nvlink", "pcie"})
    for (const auto& link : ceiling->links)
      if (link.kind == want) return link;
  return std::nullopt;
}

}  // namespace roofline
