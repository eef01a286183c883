// Each obstacle, on a made-up machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/fixtures.h"

namespace roofline::collect {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRoot = "CapEff:\t000001ffffffffff\n";
constexpr const char* kUser = "CapEff:\t0000000000000000\n";

// A machine in order: driver, one H100, ncu, no restriction.
class Machine {
 public:
  Machine() {
    write("/proc/version", "Linux version 6.1.0 (gcc)\n");
    write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.10  Thu Jan 1\n");
    write("/proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n");
    write("/proc/self/status", kUser);
    write("/proc/1/cgroup", "0::/init.scope\n");
    write("/proc/1/comm", "systemd\n");
    program("ncu");
    program("nvidia-smi");
  }

  void write(const std::string& path, const std::string& text) { scratch_.write("root" + path, text); }
  void remove(const std::string& path) { testing::fs::remove_all(scratch_.file("root" + path)); }
  void program(const std::string& name) { scratch_.write("root/usr/bin/" + name, "#!/bin/sh\n", true); }

  Preflight check(const std::string& ncu = "ncu", bool locks = false) const {
    System system;
    system.root = scratch_.file("root");
    system.environment = [&](const char* name) -> std::optional<std::string> {
      const auto it = variables.find(name);
      return it == variables.end() ? std::nullopt : std::optional<std::string>(it->second);
    };
    system.run = [&](std::span<const std::string> words) -> ProgramOutput {
      if (words.front().ends_with("nvidia-smi")) return {smi_status, smi};
      if (words.back() == "--version") return {ncu_status, "Version 2025.3.1.0 (build 0)\n"};
      return {0, "--graph-profiling --kernel-id --kernel-name-base"};
    };
    return preflight(system, ncu, locks);
  }

  std::map<std::string, std::string> variables = {{"PATH", "/nowhere:/usr/bin"}};
  std::string smi = "NVIDIA H100 80GB HBM3, 9.0, Disabled\n";
  int smi_status = 0, ncu_status = 0;

 private:
  testing::Scratch scratch_;
};

std::vector<std::string> ids(const Preflight& result) {
  std::vector<std::string> all;
  for (const auto& obstacle : result.obstacles) all.push_back(obstacle.id);
  return all;
}

std::string words(const Preflight& result) { return to_terminal(preflight_document(result), {0, false, false}); }

TEST(Check, AMachineInOrder) {
  const Machine machine;
  const auto result = machine.check();
  EXPECT_THAT(ids(result), IsEmpty());
  EXPECT_FALSE(result.blocked());
  EXPECT_THAT(result.ncu, HasSubstr("/usr/bin/ncu"));
  EXPECT_EQ(result.options.version, "2025.3.1.0");
  ASSERT_EQ(result.gpus.size(), 1U);
  EXPECT_EQ(result.gpus.front().chip, "GH100");
  EXPECT_EQ(result.gpus.front().device, "NVIDIA H100 80GB HBM3");
  EXPECT_THAT(words(result), HasSubstr("Nothing stands in the way"));
}

TEST(Check, NoNcu) {
  Machine machine;
  machine.remove("/usr/bin/ncu");
  EXPECT_THAT(ids(machine.check()), ElementsAre("no-ncu"));
  EXPECT_TRUE(machine.check().blocked());
  EXPECT_THAT(ids(machine.check("/opt/my/ncu")), ElementsAre("no-ncu"));
}

TEST(Check, NcuWhereTheToolkitPutsIt) {
  Machine machine;
  machine.remove("/usr/bin/ncu");
  machine.write("/opt/nvidia/nsight-compute/2025.1.0/ncu", "");
  EXPECT_THAT(ids(machine.check()), ElementsAre("no-ncu")) << "not executable";
  machine.program("../../opt/nvidia/nsight-compute/2024.3.0/ncu");
  EXPECT_THAT(machine.check().ncu, HasSubstr("2024.3.0/ncu"));
  machine.program("../../opt/nvidia/nsight-compute/2025.3.0/ncu");
  EXPECT_THAT(machine.check().ncu, HasSubstr("2025.3.0/ncu"));
  machine.program("../local/cuda/bin/ncu");
  EXPECT_THAT(machine.check().ncu, HasSubstr("/usr/local/cuda/bin/ncu"));
  machine.variables["CUDA_HOME"] = "/usr/cuda-12";
  machine.program("../cuda-12/bin/ncu");
  EXPECT_THAT(machine.check().ncu, HasSubstr("/usr/cuda-12/bin/ncu"));
}

TEST(Check, NcuThatDoesNotStart) {
  Machine machine;
  machine.ncu_status = 127;
  EXPECT_THAT(ids(machine.check()), ElementsAre("ncu-broken"));
}

TEST(Check, NoDriverAndNoGpu) {
  Machine machine;
  machine.smi = "No devices were found\n";
  EXPECT_THAT(ids(machine.check()), ElementsAre("no-gpu"));
  machine.smi_status = 9;
  machine.smi = "NVIDIA-SMI has failed\n";
  EXPECT_THAT(words(machine.check()), HasSubstr("NVIDIA-SMI has failed"));
  machine.remove("/proc/driver");
  EXPECT_THAT(ids(machine.check()), ElementsAre("no-driver"));
}

TEST(Check, PermissionWithBothWaysToGrantIt) {
  Machine machine;
  machine.write("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  const auto result = machine.check();
  EXPECT_THAT(ids(result), ElementsAre("no-permission"));
  EXPECT_TRUE(result.blocked());
  EXPECT_THAT(words(result), HasSubstr("sudo"));
  EXPECT_THAT(words(result), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  machine.write("/proc/self/status", kRoot);
  EXPECT_THAT(ids(machine.check()), IsEmpty());
  // CAP_PERFMON alone is enough for drivers from 565 on.
  machine.write("/proc/self/status", "CapEff:\t0000004000000000\n");
  EXPECT_THAT(ids(machine.check()), IsEmpty());
  machine.write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06  Wed\n");
  EXPECT_THAT(ids(machine.check()), ElementsAre("no-permission"));
}

TEST(Check, Containers) {
  Machine machine;
  machine.write("/.dockerenv", "");
  EXPECT_THAT(ids(machine.check()), ElementsAre("container"));
  EXPECT_FALSE(machine.check().blocked());
  machine.write("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  EXPECT_THAT(ids(machine.check()), ElementsAre("no-permission"));
  EXPECT_THAT(words(machine.check()), HasSubstr("--cap-add SYS_ADMIN"));
  machine.remove("/.dockerenv");
  machine.write("/proc/driver/nvidia/params", "");
  machine.write("/proc/1/cgroup", "0::/kubepods.slice/pod7\n");
  EXPECT_THAT(ids(machine.check()), ElementsAre("container"));
}

TEST(Check, Mig) {
  Machine machine;
  machine.smi = "NVIDIA A100-SXM4-40GB, 8.0, Enabled\n";
  EXPECT_THAT(ids(machine.check()), ElementsAre("mig"));
  EXPECT_THAT(ids(machine.check("ncu", true)), ElementsAre("mig", "mig-clocks"));
  EXPECT_TRUE(machine.check("ncu", true).blocked());
}

TEST(Check, Wsl) {
  Machine machine;
  machine.write("/proc/version", "Linux version 5.15.0-microsoft-standard-WSL2\n");
  machine.remove("/proc/driver");
  EXPECT_THAT(ids(machine.check()), ElementsAre("no-driver", "wsl"));
  machine.write("/dev/dxg", "");
  EXPECT_THAT(ids(machine.check()), ElementsAre("wsl"));
  EXPECT_THAT(words(machine.check()), HasSubstr("Control Panel"));
}

TEST(Check, OtherToolsThatHoldTheCounters) {
  Machine machine;
  machine.write("/proc/40/comm", "nv-hostengine\n");
  machine.write("/proc/41/comm", "nsys\n");
  machine.variables["CUDA_INJECTION64_PATH"] = "/opt/lib.so";
  const auto result = machine.check();
  EXPECT_THAT(ids(result), ElementsAre("profiler", "profiler", "dcgm"));
  EXPECT_THAT(words(result), HasSubstr("dcgmi profile --pause"));
  EXPECT_THAT(words(result), HasSubstr("/opt/lib.so"));
  EXPECT_FALSE(result.blocked());
}

TEST(Check, OddAnswersAreNoChip) {
  Machine machine;
  machine.smi = "garbage\n, ,\nNVIDIA Future, 99.0, [N/A]\n";
  const auto result = machine.check();
  ASSERT_FALSE(result.gpus.empty());
  for (const auto& gpu : result.gpus) EXPECT_FALSE(gpu.known());
  machine.write("/proc/driver/nvidia/params", std::string("RmProfilingAdminOnly: 1\n\0\xff", 26));
  machine.write("/proc/self/status", "CapEff:\tzz\n");
  EXPECT_THAT(ids(machine.check()), ElementsAre("no-permission"));
}

// A process that ends between the open and the read; a folder opens and fails to be read in the same way.
TEST(Preflight, WhatCannotBeReadIsAbsent) {
  Machine machine;
  machine.write("/proc/77/comm/x", "");
  EXPECT_NO_THROW(machine.check());
  System system = System::real();
  EXPECT_EQ(system.read("/proc"), std::nullopt);
  EXPECT_EQ(system.read("/no/such/file"), std::nullopt);
  EXPECT_EQ(system.read("/dev/null"), "");
}

}  // namespace
}  // namespace roofline::collect
