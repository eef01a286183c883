#include "measure/cpu.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

#include "measure/kernels.h"

namespace roofline::measure {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<int> allowed_cpus() {
  // Grows until the kernel's own mask fits: machines with more than 1024 processors exist.
  for (std::size_t bits = CPU_SETSIZE; bits <= std::size_t{1} << 16; bits *= 2) {
    auto* set = CPU_ALLOC(bits);
    const auto size = CPU_ALLOC_SIZE(bits);
    CPU_ZERO_S(size, set);
    std::vector<int> cpus;
    const bool ok = sched_getaffinity(0, size, set) == 0;
    for (std::size_t i = 0; ok && i < bits; ++i)
      if (CPU_ISSET_S(i, size, set)) cpus.push_back(static_cast<int>(i));
    CPU_FREE(set);
    if (ok) return cpus;
  }
  return {0};
}

std::vector<std::pair<int, double>> reported_caches(int cpu) {
  std::vector<std::pair<int, double>> caches;
  for (int index = 0; index < 16; ++index) {
    const auto folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
    const auto type = file_text(folder + "type");
    const std::string level(trimmed(file_text(folder + "level")));
    if (level.empty()) break;
    const double bytes = parse_cache_size(file_text(folder + "size"));
    if (trimmed(type) != "Instruction" && bytes > 0 && level.size() == 1)
      caches.emplace_back(level.front() - '0', bytes);
  }
  std::sort(caches.begin(), caches.end());
  return caches;
}

std::string vendor_of(const std::string& id) {
  if (id == "AuthenticAMD") return "AMD";
  if (id == "GenuineIntel") return "Intel";
  if (id == "HygonGenuine") return "Hygon";
  if (id == "0x41") return "Arm";
  if (id == "0x61") return "Apple";
  if (id == "0xc0") return "Ampere";
  return id.empty() ? "unknown" : id;
}

std::string field_of(std::string_view cpuinfo, std::initializer_list<std::string_view> fields) {
  for (const auto field : fields)
    if (auto text = cpuinfo_field(cpuinfo, field); !text.empty()) return text;
  return {};
}

std::optional<double> container_quota() { return parse_cpu_max(file_text("/sys/fs/cgroup/cpu.max")); }

}  // namespace

std::string cpuinfo_field(std::string_view text, std::string_view field) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || trimmed(line.substr(0, colon)) != field) continue;
    return std::string(trimmed(line.substr(colon + 1)));
  }
  return {};
}

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr int kMost = 1 << 16;
  std::vector<int> out;
  text = trimmed(text);
  while (!text.empty()) {
    const auto comma = text.find(',');
    auto part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    int first = 0;
    const auto* end = part.data() + part.size();
    auto parsed = std::from_chars(part.data(), end, first);
    int last = first;
    if (parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == '-')
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    if (parsed.ec != std::errc{} || parsed.ptr != end || first < 0 || last < first || last > kMost) return {};
    for (int i = first; i <= last; ++i) out.push_back(i);
  }
  return out;
}

double parse_cache_size(std::string_view text) {
  text = trimmed(text);
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || !(number > 0)) return 0;
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  if (unit == "K") return number * 1024;
  if (unit == "M") return number * 1024 * 1024;
  return unit.empty() ? number : 0;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  double quota = 0;
  double period = 0;
  text = trimmed(text);
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto second = text.substr(blank + 1);
  if (std::from_chars(text.data(), text.data() + blank, quota).ec != std::errc{}) return std::nullopt;
  if (std::from_chars(second.data(), second.data() + second.size(), period).ec != std::errc{}) return std::nullopt;
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  return quota / period;
}

Processors processors() {
  Processors out;
  const auto cpus = allowed_cpus();
  out.all = cpus.size();
  std::set<int> taken;
  for (const int cpu : cpus) {
    const auto siblings =
        parse_cpu_list(file_text(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu)));
    if (taken.count(cpu) != 0) continue;
    taken.insert(siblings.begin(), siblings.end());
    out.one_per_core.push_back(cpu);
  }
  return out;
}

std::string processor_text(const CpuFacts& cpu) {
  return cpu.detail.empty() ? cpu.name : fmt::format("{} ({})", cpu.name, cpu.detail);
}

CpuFacts cpu_facts() {
  CpuFacts facts;
  const auto cpuinfo = file_text("/proc/cpuinfo");
  facts.vendor = vendor_of(field_of(cpuinfo, {"vendor_id", "CPU implementer"}));
  facts.name = field_of(cpuinfo, {"model name", "Model", "Hardware"});
  const auto family = field_of(cpuinfo, {"cpu family"});
  const auto model = field_of(cpuinfo, {"model", "CPU part"});
  if (!model.empty())
    facts.detail = family.empty() ? "part " + model : fmt::format("family {}, model {}", family, model);
  if (facts.name.empty()) facts.name = facts.vendor + " processor";
  utsname system{};
  if (uname(&system) == 0) facts.architecture = static_cast<const char*>(system.machine);
  for (const auto* const* set = kernel_sets(); *set != nullptr; ++set) facts.isas.emplace_back((*set)->isa);
  const auto cpus = processors();
  facts.cpus = cpus.all;
  facts.cores = cpus.one_per_core.size();
  facts.reported = reported_caches(cpus.one_per_core.empty() ? 0 : cpus.one_per_core.front());
  facts.cpu_quota = container_quota();
  const auto flags = " " + cpuinfo_field(cpuinfo, "flags") + " ";
  facts.virtual_machine = flags.find(" hypervisor ") != std::string::npos;
  return facts;
}

std::size_t available_memory() {
  const auto text = cpuinfo_field(file_text("/proc/meminfo"), "MemAvailable");
  std::size_t kilobytes = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), kilobytes).ec != std::errc{}) return 0;
  auto bytes = kilobytes * 1024;
  const auto limit = file_text("/sys/fs/cgroup/memory.max");
  std::size_t most = 0;
  if (std::from_chars(limit.data(), limit.data() + limit.size(), most).ec == std::errc{} && most > 0)
    bytes = std::min(bytes, most);
  return bytes;
}

CpuTimes machine_times() {
  std::istringstream line(file_text("/proc/stat"));
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
  line >> name >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  return {(user + nice + system + irq + soft) * tick, steal * tick, (idle + wait) * tick};
}

double own_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace roofline::measure
