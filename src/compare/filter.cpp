#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "roofline/compare.h"
#include "roofline/error.h"

namespace roofline {
namespace {

// The sums of a report over what is left of it.
void add_up(StepRecord& record) {
  double time = 0, placed = 0, roof = 0;
  bool timed = false;
  bool lower = false;
  for (const auto& k : record.kernels) {
    if (!k.time_s) continue;
    timed = true;
    time += *k.time_s;
    if (!k.fraction || k.ceiling != record.ceiling) continue;
    placed += *k.time_s;
    roof += *k.fraction * *k.time_s;
    lower = lower || k.bound == Bound::lower;
  }
  record.time_s = timed ? std::optional(time) : std::nullopt;
  record.roof_time_s = placed > 0 ? std::optional(roof) : std::nullopt;
  record.fraction = placed > 0 ? std::optional(roof / placed) : std::nullopt;
  record.bound = lower ? Bound::lower : Bound::exact;
  record.placed_time_share = time > 0 ? placed / time : 0;
  for (auto& k : record.kernels) k.time_share = time > 0 ? k.time_s.value_or(0) / time : 0;
  record.wall_s.reset();
}

}  // namespace

void keep_kernels(StepRecord& record, const std::string& expression) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);
  const RE2 regex(expression, options);
  if (!regex.ok()) throw UsageError(fmt::format("'{}' is no regular expression: {}", expression, regex.error()));
  const auto names = record.kernels.size();
  std::erase_if(record.kernels, [&](const KernelRecord& k) {
    return !RE2::PartialMatch(k.full_name.empty() ? k.name : k.full_name, regex);
  });
  if (record.kernels.empty())
    throw UsageError(fmt::format("'{}' matches none of {} kernels of {}", expression, names,
                                 record.inputs.empty() ? "the report" : record.inputs.front()));
  add_up(record);
}

}  // namespace roofline
