// Opening profiler files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/error.h"
#include "roofline/launch.h"

namespace roofline {

// How numbers are written in text exports. `automatic` decides from the whole file and warns when it had to.
enum class NumberLocale : std::uint8_t { automatic, point, comma };

struct ReadOptions {
  bool keep_all_metrics = false;  // also those nobody declared (comparisons, dumps)
  bool partial = false;           // hand back what stands before a fault instead of throwing
  NumberLocale locale = NumberLocale::automatic;
  std::uint64_t max_decompressed = std::uint64_t{64} << 30;               // bytes
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // may be empty
};

// Reads any supported file by its content, never by its extension; "-" is standard input; gzip and zstd are
// unpacked on the way. Throws InputError.
Profile open_profile(const std::string& path, const ReadOptions& options = {});

// The same for bytes in memory; `label` stands for the path in messages.
Profile read_profile(std::string_view bytes, const std::string& label, const ReadOptions& options = {});

// Several files, read in parallel, in the order given. A file named twice is read twice and bears a warning.
std::vector<Profile> open_profiles(std::span<const std::string> paths, const ReadOptions& options = {});

enum class MergeMode : std::uint8_t { launch_by_launch, by_shape };

// Joins profiles of several runs of one program (bytes in one, FLOPs in another). `launch_by_launch` demands equal
// device, stream, ordinal, name, grid and block, and quantities present in both within 5 % (time aside); it throws
// InputError naming the first mismatch. `by_shape` joins medians per (name, grid, block) and marks them derived.
// Time is taken from the run that is not slowed down by instruction counting. A profile with several runs (see
// Launch::run) is as many profiles. Throws UsageError for no profile, and for a single run launch by launch.
Profile merge_profiles(std::span<const Profile> profiles, MergeMode mode);

// --- Nsight Compute extras, read on demand ---

struct RuleResult {
  std::string rule;  // "SOLBottleneck"
  std::string title;
  std::string section;
  struct Message {
    std::string text;
    std::string type;  // "none", "ok", "warning", "error", "optimization"
  };
  std::vector<Message> messages;
  std::string speedup_type;  // "local", "global", or empty
  double speedup_percent = 0;
};
std::vector<RuleResult> rule_results(const Profile& profile, const Launch& launch);

// A roof or an achieved point of a chart that NVIDIA's section files define inside the report, evaluated.
struct SectionRoofline {
  std::string section, chart, label;
  bool roof = false;   // else an achieved point
  double work = 0;     // FLOP/s; NaN when a metric is missing
  double traffic = 0;  // bytes/s; NaN when a metric is missing
  std::string work_expression, traffic_expression;
};
std::vector<SectionRoofline> section_rooflines(const Profile& profile, const Launch& launch);

}  // namespace roofline
