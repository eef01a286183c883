#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "profile/amd_sysinfo.h"
#include "profile/reader.h"
#include "profile/sniff.h"
#include "profile/unpack.h"
#include "roofline/profile.h"

namespace roofline {
namespace {

constexpr std::size_t kHead = std::size_t{1} << 20;

using LooksLike = bool (*)(std::string_view);
using Read = Profile (*)(const Input&, const ReadOptions&);

struct Format {
  LooksLike looks_like;
  Read read;
};

// In the order they are asked.
constexpr Format kExports[] = {{looks_like_amd_counters, read_amd_counters},
                               {looks_like_ncu_csv, read_ncu_csv},
                               {looks_like_nvprof_csv, read_nvprof_csv}};

std::optional<Read> find_export(std::string_view head) {
  for (const auto& format : kExports) {
    if (format.looks_like(head)) return format.read;
  }
  return std::nullopt;
}

Read choose(const Input& input) {
  const auto head = input.text().substr(0, kHead);
  if (looks_like_ncu_rep(head)) return read_ncu_rep;
  if (auto problem = recognise_foreign(head, input.path)) throw InputError(std::move(*problem));
  if (const auto read = find_export(head)) return *read;
  // A program may print more than the head before the profiler's table starts.
  if (head.size() < input.text().size() && head.find('\0') == std::string_view::npos) {
    if (const auto read = find_export(input.text())) return *read;
  }
  if (auto problem = recognise_foreign_text(head, input.path)) throw InputError(std::move(*problem));
  if (looks_like_table(head)) return read_table;
  throw InputError(unknown_format(head, input.path));
}

Profile read_input(const Input& given, const ReadOptions& options) {
  const Unpacked unpacked = unpack(given, options);
  const Input input{unpacked.bytes, given.path};
  Profile profile = choose(input)(input, options);
  profile.path = given.path;
  if (unpacked.fault) keep_partial(profile, *unpacked.fault);
  return profile;
}

// Whatever goes wrong with a file, its name is said.
Profile read_named(const std::string& path, const ReadOptions& options, std::shared_ptr<const FileView> bytes) {
  try {
    if (!bytes) bytes = view_file(path, options.max_decompressed);
    return read_input({std::move(bytes), path}, options);
  } catch (const std::bad_alloc&) {
    throw InputError({"out-of-memory", path, std::nullopt, std::nullopt, "it needs more memory than there is", "", ""});
  }
}

// Progress of several files as one figure; callers' functions need not be safe for threads.
class SharedProgress {
 public:
  SharedProgress(std::size_t files, const ReadOptions& options) : files_(files), call_(options.progress) {}

  ReadOptions options_for(std::size_t file, ReadOptions options) {
    if (call_) options.progress = [this, file](std::uint64_t done, std::uint64_t total) { add(file, done, total); };
    return options;
  }

 private:
  struct State {
    std::uint64_t done = 0, total = 0;
  };
  void add(std::size_t file, std::uint64_t done, std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    files_[file] = {done, total};
    State sum;
    for (const auto& f : files_) sum = {sum.done + f.done, sum.total + f.total};
    call_(sum.done, sum.total);
  }

  std::mutex mutex_;
  std::vector<State> files_;
  std::function<void(std::uint64_t, std::uint64_t)> call_;
};

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || (std::filesystem::equivalent(a, b, error) && !error);
}

void warn_of_repeated_names(std::span<const std::string> paths, std::vector<Profile>& profiles) {
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const auto before = paths.first(i);
    const auto it = std::find_if(before.begin(), before.end(), [&](const auto& p) { return same_file(p, paths[i]); });
    if (it == before.end()) continue;
    profiles[i].warnings.push_back({"same-file", "named twice: it is the same file as " + *it, std::nullopt});
  }
}

}  // namespace

Profile open_profile(const std::string& path, const ReadOptions& options) {
  return read_named(amd_workload_file(path), options, nullptr);
}

Profile read_profile(std::string_view bytes, const std::string& label, const ReadOptions& options) {
  // A copy: the profile may outlive the caller's bytes and reads rules and sections from its own later on.
  return read_named(label, options, copy_bytes(bytes));
}

std::vector<Profile> open_profiles(std::span<const std::string> paths, const ReadOptions& options) {
  std::vector<Profile> profiles(paths.size());
  std::vector<std::exception_ptr> faults(paths.size());
  SharedProgress progress(paths.size(), options);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) {
      try {
        profiles[i] = open_profile(paths[i], progress.options_for(i, options));
      } catch (...) {
        faults[i] = std::current_exception();
      }
    }
  };
  const std::size_t workers = std::min<std::size_t>(paths.size(), std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  threads.clear();  // joins
  for (const auto& fault : faults) {
    if (fault) std::rethrow_exception(fault);  // the first in the order given; it names its file
  }
  warn_of_repeated_names(paths, profiles);
  return profiles;
}

}  // namespace roofline
