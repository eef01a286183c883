// Reports kept over time: recorded once, looked up, exported, and what became of one kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/chart.h"
#include "roofline/compare.h"
#include "roofline/document.h"
#include "roofline/record.h"

namespace roofline::history {

using Labels = std::map<std::string, std::string>;

// "key=value". Throws UsageError; see check_labels().
std::pair<std::string, std::string> parse_label(std::string_view text);
// Keys: 1 to 100 bytes without '=' and control characters; values: up to 1000 bytes; both UTF-8 without NUL. Throws
// UsageError.
void check_labels(const Labels& labels);

// Microseconds since 1970, UTC.
using Time = std::int64_t;
Time now();
// "2026-01-31", "2026-01-31T12:34:56Z", "2026-01-31 12:34:56", with an offset "+02:00" or as UTC. Throws UsageError.
Time parse_time(std::string_view text);
std::string format_time(Time time);  // "2026-01-31T12:34:56Z"; fractions of a second where there are any
// "90d", "12h", "2w", "30m", "45s" in microseconds. Throws UsageError.
std::int64_t parse_duration(std::string_view text);

// What is kept of a record beside its kernels and its JSON.
struct RecordInfo {
  std::int64_t id = 0;  // of this store
  std::string uid;      // of all stores: 32 hexadecimal digits
  Time time = 0;        // when recorded, or as the user said
  std::string tool_version, catalogue_version;
  std::vector<std::string> machines;  // names
  std::string machine;                // the same, joined with ", "
  CeilingKind ceiling = CeilingKind::datasheet;
  std::string config;               // JSON: the options that the report was made with
  std::vector<std::string> inputs;  // paths as given
  Labels labels;
  std::size_t kernels = 0;
  std::optional<double> time_s, roof_time_s, fraction, wall_s;
  Bound bound = Bound::exact;
  double placed_time_share = 0;
  std::optional<double> clock_hz;          // median over the kernels' time
  std::optional<double> prediction_error;  // mean |predicted / measured - 1|, where a prediction was given
};

struct NewRecord {
  std::string report;  // JSON, schema roofline/report/1
  std::string source;  // for messages: where the report came from
  Labels labels;
  std::optional<Time> time;  // absent: now
  std::string uid;           // empty: a new one
  std::optional<double> prediction_error;
};

struct Filter {
  Labels labels;        // all of them
  std::string machine;  // exactly; empty for any
  std::optional<Time> before;
  std::size_t newest = 0;  // only this many; 0: all
};

// One kernel in one record: the rows of all its shapes added up.
struct TrendPoint {
  RecordInfo record;
  std::size_t rows = 0;
  std::uint64_t launches = 0;
  std::optional<double> time_s;       // of all rows; absent where one has none
  std::optional<double> roof_time_s;  // of the rows with a fraction
  std::optional<double> fraction;     // roof time / time over the rows with a fraction
  Bound bound = Bound::exact;
  Position position = Position::unplaced;  // with the most time
  std::optional<double> clock_hz;
  // Under the ceilings that the catalogue has now, and as they were when recorded: datasheet fractions.
  std::optional<double> datasheet_then, datasheet_now;
  std::vector<std::string> names;  // short names in this record
  KernelRecord sum;                // work of all rows added up, where each row has it; grid and block of the longest
};

struct PruneRule {
  std::optional<std::size_t> keep;  // the newest N of those that match
  std::optional<Time> before;       // only older ones
  Labels labels;                    // of these only
  bool dry_run = false;
};

class Store {
 public:
  // "PATH", "sqlite:PATH" or "postgresql://...". Opening for reading creates nothing; for writing creates and migrates.
  // Throws InputError: kinds store-missing, -damaged, -newer, -older, -foreign, -read-only, -full, -busy, -unreachable,
  // -io and -error.
  enum class Access : std::uint8_t { read, write };
  static Store open(const std::string& where, Access access);
  // $ROOFLINE_STORE, else $XDG_DATA_HOME/roofline/history.db, else ~/.local/share/roofline/history.db. Throws
  // UsageError where none of the variables helps.
  static std::string default_location();

  const std::string& name() const;  // where it is, for people: without a password

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Atomic: when this returns, the record is on disk; when it throws, nothing of it is. Throws InputError for a report
  // that cannot be read, UsageError for labels. A uid that is there already is left alone and returns its id, with
  // `fresh` false.
  struct Recorded {
    std::int64_t id = 0;
    bool fresh = true;
  };
  Recorded record(const NewRecord& record);

  std::vector<RecordInfo> list(const Filter& filter = {}) const;  // newest first
  // By id or uid (or a unique beginning of one, 6 digits or more). Throws UsageError where there is none.
  RecordInfo find(std::string_view id) const;
  std::string report(std::int64_t id) const;  // the JSON, byte for byte
  StepRecord step(const RecordInfo& record) const;
  // Of each record, in this order, the kernels of these operators or name families alone, with nothing but names,
  // shapes, launches and times.
  std::vector<StepRecord> times(std::span<const RecordInfo> records, std::span<const std::string> names) const;

  // By operator, name family, short or full name, else by part of one. Oldest first.
  std::vector<TrendPoint> trend(std::string_view kernel, const Filter& filter = {}) const;
  // Names of kernels in the store that are like `text`, for "did you mean".
  std::vector<std::string> kernel_names(std::size_t most) const;

  // What was (or with dry_run would be) removed.
  std::vector<RecordInfo> prune(const PruneRule& rule);

  // How this store answers its own questions: lines of the database's EXPLAIN, by name of the question.
  std::vector<std::pair<std::string, std::string>> query_plans() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// ---------------------------------------------------------------- views

Document list_document(std::span<const RecordInfo> records, std::string_view store);
Document record_document(const RecordInfo& record, const StepRecord& step);

enum class TrendMetric : std::uint8_t { fraction, time };
struct TrendOptions {
  TrendMetric metric = TrendMetric::fraction;
  bool recompute = false;  // beside the recorded figures those under the present catalogue
  bool unicode = true;     // of the sparkline
};
Document trend_document(std::string_view kernel, std::span<const TrendPoint> points, const TrendOptions& options);
// The kernel's way through the roofline chart, under the machines' datasheet roofs.
Chart trend_chart(std::string_view kernel, std::span<const TrendPoint> points);
// One line of `values` as a curve; absent ones as blanks.
std::string sparkline(std::span<const std::optional<double>> values, bool unicode);

// ---------------------------------------------------------------- present catalogue

// The fraction of the datasheet roof of recorded work under the catalogue of this program. Absent for a machine that
// it does not know, and for rows without time or work. `machine` is a name as recorded.
std::optional<double> datasheet_fraction_now(const KernelRecord& kernel, std::string_view machine);
// The record with its datasheet figures placed again: rows under the datasheet ceiling get new fractions, the others
// keep theirs, which came from the run's own clocks or from measuring. Returns how many rows changed.
std::size_t recompute(StepRecord& record);

// recompute(), and the version of the present catalogue. Rows at other roofs than the datasheet's follow the same entry
// of the catalogue: where their datasheet fraction did not move, they keep their fraction; where it did, or where that
// is not known, they lose it, with a reason, and with them the record its total. Returns false, with the record as it
// was, where none of its fractions can be kept or placed again.
bool to_present_catalogue(StepRecord& record);

struct Alignment {
  bool done = false;                  // both sides are under the present catalogue now
  std::vector<std::string> left_out;  // kernels, by short name, that have lost their fraction in this
};
// Peaks that were corrected between two sides are no change of the program: where their catalogues differ, all repeats
// of both go under the present one, or none does: then they stay different and a gate says so.
Alignment align_catalogues(GateSide& before, GateSide& after);
// What people are to know of it; empty where nothing was done.
std::vector<std::string> describe(const Alignment& alignment);

// ---------------------------------------------------------------- exchange

// One JSON object a line: {"schema": "roofline/history-record/1", "uid", "time", "labels", "prediction_error",
// "report": {...}}; the report is the recorded text without its line ends.
void export_json_lines(const Store& store, const Filter& filter, std::ostream& out);
struct Imported {
  std::size_t fresh = 0, known = 0;
};
// Throws InputError with `path` and line; what stands before the fault stays imported.
Imported import_json_lines(Store& store, std::istream& in, const std::string& path);

// One line per kernel row; RFC 4180, values in SI units.
void export_csv(const Store& store, const Filter& filter, std::ostream& out);

struct MetricsOptions {
  std::vector<std::string> labels;  // keys of user labels that become labels of the metrics
  std::size_t top = 20;             // kernels of each record, by time; the rest as "other"; 0: all
};
// OpenMetrics 1.0 text: for each machine, ceiling and combination of those labels the newest record. Readable as
// Prometheus text too, so fit for the textfile collector.
std::string export_openmetrics(const Store& store, const Filter& filter, const MetricsOptions& options);

// ---------------------------------------------------------------- baselines

struct Baseline {
  GateSide side;  // empty: the store has nothing to compare with
  std::vector<std::int64_t> records;
  std::string what;             // for people: "record 12 and 4 more of commit=1a2b"
  std::optional<double> noise;  // of one run, from this machine's records
};
// `what` is "latest" (the newest record of the candidate's machine and those with the same labels, if it has any),
// "latest:N" (its newest N), "label:key=value" (its newest 20 with this label), or ids joined by commas. `labels` limit
// the first two. Throws UsageError for what is none of these.
// `learn_noise` asks for the noise, where the baseline is a single record.
Baseline find_baseline(const Store& store, std::string_view what, const StepRecord& candidate, const Labels& labels,
                       bool learn_noise = false);
// Whether `what` names records rather than a file.
bool names_records(std::string_view what);

// ---------------------------------------------------------------- the gate's outputs

struct GateContext {
  std::string candidate, baseline;  // for people
  double max_drop = 0.05;
};
std::string gate_json(const GateResult& result, const GateContext& context);
std::string gate_junit(const GateResult& result, const GateContext& context);
std::string gate_github(const GateResult& result, const GateContext& context);  // workflow commands

// TOML: [default] and [kernel."NAME"] tables with max_drop = "5%" or 0.05, min_fraction, max_time = "12 us" (or seconds
// as a number). Throws InputError with the line.
struct Budget {
  std::optional<KernelBudget> fallback;
  std::map<std::string, KernelBudget> kernels;
};
Budget read_budget(std::string_view toml, const std::string& path);

// Relative standard deviation of one run, from how a kernel's time differs between neighbouring records (median of the
// absolute differences: single jumps do not count). Absent for fewer than 20 records.
std::optional<double> estimate_noise(std::span<const StepRecord> oldest_first);

}  // namespace roofline::history
