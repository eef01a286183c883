#include "profile/ncu_csv_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "profile/ncu_display_names.h"
#include "profile/text_number.h"

namespace roofline {
namespace {

using Member = CsvCell NcuIdentity::*;

struct Part {
  std::size_t NcuHeader::*column;
  Member member;
};
constexpr auto kParts = std::to_array<Part>({
    {&NcuHeader::id, &NcuIdentity::id},
    {&NcuHeader::process, &NcuIdentity::process},
    {&NcuHeader::kernel, &NcuIdentity::kernel},
    {&NcuHeader::context, &NcuIdentity::context},
    {&NcuHeader::stream, &NcuIdentity::stream},
    {&NcuHeader::block, &NcuIdentity::block},
    {&NcuHeader::grid, &NcuIdentity::grid},
    {&NcuHeader::device, &NcuIdentity::device},
    {&NcuHeader::cc, &NcuIdentity::cc},
    {&NcuHeader::invocations, &NcuIdentity::invocations},
});

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Words of GPU names that hold no digit.
constexpr auto kNameWords = std::to_array<std::string_view>(
    {"GeForce",   "RTX",    "GTX",         "Tesla",   "Quadro",   "TITAN", "Titan",  "PCIe",       "PCIE", "SXM",
     "NVL",       "Ti",     "SUPER",       "Super",   "Laptop",   "GPU",   "Ada",    "Generation", "Xp",   "V",
     "Blackwell", "Server", "Workstation", "Edition", "Jetson",   "Orin",  "Xavier", "AGX",        "Nano", "Thor",
     "D",         "Max-Q",  "HBM",         "GH",      "Graphics", "Pro",   "PRO",    "Embedded"});

bool is_name_word(std::string_view word) {
  if (word.empty() || !std::all_of(word.begin(), word.end(), [](char c) { return is_alnum(c) || c == '-'; }))
    return false;
  return std::any_of(word.begin(), word.end(), is_digit) ||
         std::find(kNameWords.begin(), kNameWords.end(), word) != kNameWords.end();
}

std::string_view next_word(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(" \t\r\n(),;:\"'<>|"), text.size()));
}

// The words after `brand` that belong to a name; empty when they name no model.
std::string name_at(std::string_view text, std::string_view brand) {
  std::string name(brand);
  std::size_t at = brand.size();
  bool model = false;
  while (at < text.size() && text[at] == ' ') {
    const std::string_view word = next_word(text.substr(at + 1));
    if (!is_name_word(word)) break;
    // "NVIDIA 2023" is a copyright line; "RTX 5070" and "H100" are models.
    const bool digits_only = std::all_of(word.begin(), word.end(), is_digit);
    if (digits_only && name == "NVIDIA") break;
    model = model || std::any_of(word.begin(), word.end(), is_digit) || word == "TITAN" || word == "Titan";
    name.append(" ").append(word);
    at += 1 + word.size();
  }
  return model ? name : std::string();
}

}  // namespace

bool NcuIdentity::same_cells(const NcuIdentity& other) const {
  return std::all_of(kParts.begin(), kParts.end(),
                     [&](const Part& p) { return (this->*p.member).raw == (other.*p.member).raw; });
}

std::string NcuIdentity::key() const {
  std::string key;
  for (const Part& part : kParts) key.append((this->*part.member).raw).push_back('\n');
  return key;
}

CsvCell cell_at(const std::vector<CsvCell>& cells, std::size_t column) {
  return column < cells.size() ? cells[column] : CsvCell{};
}

NcuIdentity identity_of(const std::vector<CsvCell>& cells, const NcuHeader& header) {
  NcuIdentity identity;
  for (const Part& part : kParts) identity.*part.member = cell_at(cells, header.*part.column);
  return identity;
}

CsvCell NcuIdentity::*identity_member(const NcuHeader& header, std::size_t column) {
  for (const Part& part : kParts) {
    if (header.*part.column == column) return part.member;
  }
  return nullptr;
}

Dim3 parse_dim3(std::string_view text) {
  std::array<std::uint64_t, 3> sizes = {1, 1, 1};
  std::size_t found = 0;
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p != end && found < sizes.size();) {
    if (!is_digit(*p)) {
      ++p;
      continue;
    }
    const auto [stop, error] = std::from_chars(p, end, sizes[found]);
    if (error != std::errc()) return {};
    ++found;
    p = stop;
  }
  return found == 0 ? Dim3{} : Dim3{sizes[0], sizes[1], sizes[2]};
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  text = trim(text);
  if (text.empty() || !is_digit(text.front()) || text.size() > 40) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c == ',' || c == '.' || c == ' ') continue;
    if (!is_digit(c) || value > (UINT64_MAX - 9) / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::uint32_t NcuDevices::index_of(const NcuIdentity& identity) {
  if (last_ != kNone && identity.device.raw == last_device_ && identity.cc.raw == last_cc_ &&
      identity.device_name == last_name_) {
    return last_;
  }
  last_device_ = identity.device.raw;
  last_cc_ = identity.cc.raw;
  last_name_ = identity.device_name;
  const auto id = static_cast<std::uint32_t>(parse_whole(identity.device.raw).value_or(0));
  const int cc = parse_compute_capability(identity.cc.raw);
  const std::string capability = cc == 0 ? std::string() : fmt::format("{}.{}", cc / 10, cc % 10);
  for (last_ = 0; last_ < devices_.size(); ++last_) {
    const DeviceInfo& device = devices_[last_];
    if (device.id == id && device.compute_capability == capability && device.name == identity.device_name) return last_;
  }
  DeviceInfo& device = devices_.emplace_back();
  device.id = id;
  device.compute_capability = capability;
  device.name = identity.device_name;
  return last_;
}

std::uint32_t NcuRuns::of_process(std::uint64_t process) const {
  const auto it = run_of_.find(process);
  return it == run_of_.end() ? 0 : it->second;
}

std::uint32_t NcuRuns::of_launch(std::optional<std::uint64_t> number, std::uint64_t process, std::uint32_t device) {
  if (!number) return 0;
  if (runs_.empty()) runs_.emplace_back();
  const auto [it, new_process] = run_of_.try_emplace(process, latest_);
  const Run& run = runs_[it->second];
  // Numbers that merely go down may be a sorted table; a new process or table whose numbers do starts again.
  const bool goes_down = !run.numbers.empty() && *number <= run.last;
  if (run.numbers.contains({device, *number}) || (goes_down && (new_process || new_table_))) {
    it->second = static_cast<std::uint32_t>(runs_.size());
    runs_.emplace_back();
  }
  new_table_ = false;
  latest_ = it->second;
  runs_[latest_].numbers.emplace(device, *number);
  runs_[latest_].last = *number;
  return latest_;
}

std::string gpu_named_in(std::string_view output) {
  std::string found;
  for (const std::string_view brand : {"NVIDIA", "Tesla", "GeForce", "Quadro"}) {
    for (auto at = output.find(brand); at != std::string_view::npos; at = output.find(brand, at + 1)) {
      // "NVIDIA GeForce ..." was looked at under its first word.
      if (at > 0 && (is_alnum(output[at - 1]) || output.substr(0, at).ends_with("NVIDIA "))) continue;
      std::string name = name_at(output.substr(at), brand);
      if (name.empty() || name == found) continue;
      if (!found.empty()) return {};
      found = std::move(name);
    }
  }
  return found;
}

}  // namespace roofline
