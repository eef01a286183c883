// What stands in the way of counters on this machine, and what to do about it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "roofline/collect.h"

namespace roofline::collect {
namespace {

constexpr unsigned kCapSysAdmin = 21;  // linux/capability.h
constexpr unsigned kCapPerfmon = 38;
constexpr int kDriverWithPerfmon = 565;  // the first driver that accepts CAP_PERFMON

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kBlank) - begin + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The value of "Key: value" in a file of such lines.
std::optional<std::string> value_of(std::string_view text, std::string_view key) {
  for (const auto& line : split(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':')
      return trimmed(std::string_view(line).substr(key.size() + 1));
  return std::nullopt;
}

class Checks {
 public:
  Checks(const System& system, Preflight& out) : system_(system), out_(out) {}

  void profiler(const std::string& asked) {
    out_.ncu = asked.find('/') == std::string::npos ? system_.find_program(asked) : asked;
    if (asked.find('/') != std::string::npos && !system_.exists(asked)) out_.ncu.clear();
    if (out_.ncu.empty()) {
      block("no-ncu",
            fmt::format("Nsight Compute ({}) is neither on the PATH nor where the CUDA toolkit puts it", asked),
            {"install Nsight Compute (nsight-compute of the CUDA repositories, part of the CUDA toolkit), or name it: "
             "--ncu PATH",
             "without it: roofline report reads reports that were made elsewhere, and --dry-run prints the command to "
             "run "
             "there"});
      return;
    }
    const std::array<std::string, 2> version = {out_.ncu, "--version"};
    const std::array<std::string, 2> help = {out_.ncu, "--help"};
    const auto answer = system_.run(version);
    if (answer.status != 0) {
      block("ncu-broken",
            fmt::format("{} --version ends with code {}: {}", out_.ncu, answer.status, first_line(answer.text)),
            {"install Nsight Compute again, or name another: --ncu PATH"});
      return;
    }
    out_.options = NcuOptions::parse(answer.text, system_.run(help).text);
  }

  void driver() {
    wsl_ = text("/proc/version").find("icrosoft") != std::string::npos;
    const bool loaded = system_.exists("/proc/driver/nvidia/version") || system_.exists("/dev/nvidiactl");
    if (!loaded && !(wsl_ && system_.exists("/dev/dxg"))) {
      block("no-driver", "no NVIDIA driver is loaded: /proc/driver/nvidia/version and /dev/nvidiactl are missing",
            {"in a container, start it with the GPUs: docker run --gpus all, or nvidia.com/gpu in Kubernetes",
             "on the machine itself: install the driver, then modprobe nvidia"});
      return;
    }
    list_gpus();
  }

  void permission() {
    if (find("no-driver")) return;
    const bool restricted = value_of(text("/proc/driver/nvidia/params"), "RmProfilingAdminOnly") == "1";
    if (!restricted || may_profile()) return;
    std::vector<std::string> remedies;
    if (in_container())
      remedies.push_back(
          "for this run: start the container with --cap-add SYS_ADMIN (Kubernetes: securityContext.capabilities.add)");
    else
      remedies.push_back(
          "for this run: sudo with the environment kept, as in sudo -E env \"PATH=$PATH\" roofline collect ...");
    remedies.push_back(
        "for good, by the machine's administrator (in a container: on its host): write\n"
        "options nvidia NVreg_RestrictProfilingToAdminUsers=0\n"
        "to /etc/modprobe.d/nvidia-profiling.conf, run update-initramfs -u, and restart");
    remedies.push_back(
        "on a rented machine where neither is possible no profiler can count: choose one that allows it");
    block("no-permission",
          "ERR_NVGPUCTRPERM would follow: the driver gives performance counters to administrators alone "
          "(RmProfilingAdminOnly is 1), and this process is none",
          std::move(remedies));
  }

  void container() {
    if (!in_container() || find("no-permission")) return;
    note("container", "this is a container: whether it may read counters was decided when it was started",
         {"if ncu reports ERR_NVGPUCTRPERM, start it with --cap-add SYS_ADMIN, or lift the restriction on the host"});
  }

  void wsl() {
    if (!wsl_) return;
    note("wsl", "this is WSL: counters are granted on the Windows side, and old drivers have none for WSL",
         {"in Windows: NVIDIA Control Panel, Desktop > Enable Developer Settings, Developer > Manage GPU Performance "
          "Counters, allow access to all users; then wsl --shutdown",
          "if ncu then says that no kernels were profiled, update the Windows driver"});
  }

  void mig(bool locks_clocks) {
    if (!mig_) return;
    note("mig",
         "a GPU is split by MIG: units that instances share (L2, DRAM) count only where one instance has them alone",
         {"profile on an instance that is the whole GPU, or switch MIG off: nvidia-smi -i 0 -mig 0"});
    if (locks_clocks)
      block("mig-clocks", "clocks of a MIG instance cannot be locked by ncu",
            {"leave out --clock-control base, and lock them for the whole GPU: nvidia-smi --lock-gpu-clocks"});
  }

  void others() {
    std::string profilers;
    bool dcgm = false;
    for (const auto& name : process_names()) {
      dcgm = dcgm || name == "nv-hostengine" || name == "dcgm-exporter";
      for (const char* known : {"ncu", "nsys", "nsys-launcher", "nv-nsight-cu-cli", "nvprof", "cuda-gdb"})
        if (name == known) profilers += (profilers.empty() ? "" : ", ") + name;
    }
    if (!profilers.empty())
      note("profiler",
           fmt::format("another profiler or debugger runs: {}. Only one at a time gets the counters", profilers),
           {"wait for it, or end it"});
    for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
      if (const auto value = system_.environment(variable); value && !value->empty())
        note("profiler", fmt::format("{} is set ({}): another tool would be loaded into the program", variable, *value),
             {fmt::format("unset {}", variable)});
    if (dcgm)
      note("dcgm", "DCGM runs here; while it samples profiling metrics it holds the counters",
           {"before: dcgmi profile --pause; afterwards: dcgmi profile --resume"});
  }

 private:
  static std::string first_line(const std::string& output) { return split(output, '\n').front(); }
  std::string text(const std::string& path) const { return system_.read(path).value_or(""); }
  bool find(std::string_view id) const {
    return std::any_of(out_.obstacles.begin(), out_.obstacles.end(), [&](const Obstacle& o) { return o.id == id; });
  }
  void add(std::string id, bool blocks, std::string finding, std::vector<std::string> remedies) {
    out_.obstacles.push_back({std::move(id), blocks, std::move(finding), std::move(remedies)});
  }
  void block(std::string id, std::string finding, std::vector<std::string> remedies) {
    add(std::move(id), true, std::move(finding), std::move(remedies));
  }
  void note(std::string id, std::string finding, std::vector<std::string> remedies) {
    add(std::move(id), false, std::move(finding), std::move(remedies));
  }

  void list_gpus() {
    const auto smi = system_.find_program("nvidia-smi");
    if (smi.empty()) return;
    const std::array<std::string, 3> query = {smi, "--query-gpu=name,compute_cap,mig.mode.current",
                                              "--format=csv,noheader"};
    const auto answer = system_.run(query);
    if (answer.status != 0 || trimmed(answer.text).empty() || answer.text.find("No devices") != std::string::npos) {
      block("no-gpu", fmt::format("the driver is there, but nvidia-smi lists no GPU: {}", first_line(answer.text)),
            {"see that the container or the batch job was given one, and what CUDA_VISIBLE_DEVICES says"});
      return;
    }
    for (const auto& line : split(trimmed(answer.text), '\n')) {
      const auto fields = split(line, ',');
      if (fields.size() < 2) continue;
      mig_ = mig_ || (fields.size() > 2 && fields[2] == "Enabled");
      auto target = find_target(fields[1], fields[0]);
      out_.gpus.push_back(target ? *target : Target{"", fields[1], fields[0]});
    }
  }

  int driver_version() const {
    const auto line = text("/proc/driver/nvidia/version");
    const auto at = line.find("Module");
    if (at == std::string::npos) return 0;
    const auto digits =
        line.find_first_of("0123456789", line.find("  ", at) == std::string::npos ? at : line.find("  ", at));
    int number = 0;
    if (digits != std::string::npos) std::from_chars(line.data() + digits, line.data() + line.size(), number);
    return number;
  }

  bool may_profile() const {
    const auto effective = value_of(text("/proc/self/status"), "CapEff");
    std::uint64_t bits = 0;
    if (!effective) return false;
    std::from_chars(effective->data(), effective->data() + effective->size(), bits, 16);
    const bool perfmon = (bits >> kCapPerfmon & 1U) != 0 && driver_version() >= kDriverWithPerfmon;
    return (bits >> kCapSysAdmin & 1U) != 0 || perfmon;
  }

  bool in_container() const {
    if (system_.exists("/.dockerenv") || system_.exists("/run/.containerenv")) return true;
    const auto group = text("/proc/1/cgroup");
    return std::any_of(kContainerMarks.begin(), kContainerMarks.end(),
                       [&](std::string_view mark) { return group.find(mark) != std::string::npos; });
  }

  std::vector<std::string> process_names() const {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(system_.root + "/proc", error), end; !error && it != end;
         it.increment(error)) {
      const auto name = it->path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (const auto comm = system_.read("/proc/" + name + "/comm")) names.push_back(trimmed(*comm));
    }
    return names;
  }

  static constexpr std::array<std::string_view, 4> kContainerMarks = {"docker", "kubepods", "containerd", "libpod"};
  const System& system_;
  Preflight& out_;
  bool wsl_ = false, mig_ = false;
};

}  // namespace

bool Preflight::blocked() const {
  return std::any_of(obstacles.begin(), obstacles.end(), [](const Obstacle& o) { return o.blocks; });
}

Preflight preflight(const System& system, const std::string& ncu, bool locks_clocks) {
  Preflight result;
  Checks checks(system, result);
  checks.profiler(ncu);
  checks.driver();
  checks.permission();
  checks.container();
  checks.wsl();
  checks.mig(locks_clocks);
  checks.others();
  return result;
}

Document preflight_document(const Preflight& preflight) {
  Document document;
  document.title = "Can counters be read here?";
  for (const auto& obstacle : preflight.obstacles) {
    document.blocks.emplace_back(
        Paragraph{fmt::format("{}: {}.", obstacle.id, obstacle.finding), obstacle.blocks ? Tone::bad : Tone::warn});
    Bullets remedies;
    for (const auto& remedy : obstacle.remedies) remedies.items.push_back({remedy, Tone::normal});
    document.blocks.emplace_back(std::move(remedies));
  }
  if (preflight.obstacles.empty()) document.blocks.emplace_back(Paragraph{"Nothing stands in the way.", Tone::good});
  if (!preflight.ncu.empty())
    document.blocks.emplace_back(Paragraph{
        fmt::format("ncu: {}{}", preflight.ncu,
                    preflight.options.version.empty() ? ", version unknown" : ", version " + preflight.options.version),
        Tone::faint});
  for (const auto& gpu : preflight.gpus)
    document.blocks.emplace_back(Paragraph{fmt::format("GPU: {}, compute capability {}, chip {}", gpu.device,
                                                       gpu.compute_capability, gpu.known() ? gpu.chip : "unknown"),
                                           Tone::faint});
  return document;
}

}  // namespace roofline::collect
