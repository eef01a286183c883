#include <fmt/format.h>

#include <algorithm>

#include "profile/ncu_rep_blocks.h"
#include "profile/ncu_rep_result.h"
#include "profile/reader.h"

namespace roofline {
namespace {

using ncu_rep::Index;
using ncu_rep::ReportBytes;
using ncu_rep::ResultReader;

constexpr std::uint64_t kCheckedVersion = 7;  // in every file from 2018 to 2026
constexpr std::uint64_t kProgressStep = std::uint64_t{8} << 20;

// "Nsight Compute 2025.1.0.0" from "2025.1.0.0 (build 35237751) (public-release)".
std::string producer(const ncu_rep::Session& session) {
  for (const std::string_view provider : {"Nsight Compute Target", "Nsight Compute Host"}) {
    for (const auto& [name, version] : session.versions) {
      if (name == provider) return "Nsight Compute " + version.substr(0, version.find(' '));
    }
  }
  return "Nsight Compute";  // before 2020.2 the file does not say which
}

void warn_about_container(const Index& index, Profile& profile) {
  if (index.version != kCheckedVersion) {
    profile.warnings.push_back(
        {"unknown-version",
         fmt::format("report version {}; only version {} has been checked", index.version, kCheckedVersion),
         std::nullopt});
  }
  if (index.extra_entries != 0) {
    profile.warnings.push_back(
        {"extra-entries",
         fmt::format("{} entries of an unknown kind; those that are no results were skipped", index.extra_entries),
         std::nullopt});
  }
}

void read_results(const Input& input, const ReadOptions& options, const Index& index, ResultReader& reader) {
  std::uint64_t reported = 0;
  for (const auto& entry : index.results) {
    reader.read(entry);
    if (options.progress && entry.offset - reported >= kProgressStep) {
      reported = entry.offset;
      options.progress(reported, input.text().size());
    }
  }
  if (options.progress) options.progress(input.text().size(), input.text().size());
}

void read_all(const Input& input, const ReadOptions& options, Index& index, MetricNames& names, Profile& profile) {
  std::optional<InputError> fault;
  try {
    read_index(input, index);
  } catch (const InputError& error) {
    if (!options.partial) throw;
    fault = error;
  }
  warn_about_container(index, profile);
  profile.launches.reserve(index.results.size());
  ResultReader reader(input, index, names, profile, fault.has_value());
  try {
    read_results(input, options, index, reader);
  } catch (const InputError& error) {
    if (!options.partial) throw;
    fault = error;
  }
  reader.finish();
  if (fault) keep_partial(profile, *fault);
}

}  // namespace

bool looks_like_ncu_rep(std::string_view head) { return head.starts_with(std::string_view("NVR\0", 4)); }

Profile read_ncu_rep(const Input& input, const ReadOptions& options) {
  Profile profile;
  profile.path = input.path;
  profile.format = "ncu-rep";
  profile.strings = std::make_shared<StringPool>();
  Index index;
  MetricNames names(options);
  read_all(input, options, index, names, profile);
  profile.producer = producer(index.session);
  profile.command_line = index.session.command_line;
  profile.extra_metrics = names.extra();
  if (profile.launches.empty()) {
    profile.devices = index.session.devices;
    profile.warnings.push_back({"no-launches", "no kernel launches in this report", std::nullopt});
  }
  profile.bytes = std::make_shared<ReportBytes>(input.bytes, std::move(index.strings));
  return profile;
}

}  // namespace roofline
