// Getting the numbers: which metrics answer a question on a chip, in how many passes, and the profiler run for them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/counting.h"
#include "roofline/document.h"
#include "roofline/profile.h"

namespace roofline::collect {

// --- which metric exists where ---

// data/metric_matrix.csv: metrics by chip, with the replay passes that one alone takes. Counted by CUPTI's host
// library without a GPU; what the profiler adds by itself (launch__...) takes none.
class MetricMatrix {
 public:
  static const MetricMatrix& instance();
  // The same layout from text. Throws std::logic_error: a fault in our own data.
  static MetricMatrix parse(std::string_view csv);

  struct Chip {
    std::string name;                // "GA104"
    std::string compute_capability;  // "8.6"
    std::string like;                // the chip with the same metrics: "GA102"; itself for most
  };
  std::span<const Chip> chips() const { return chips_; }
  const Chip* chip(std::string_view name) const;  // in any case; nullptr when unknown

  std::size_t size() const { return cells_.size(); }
  // Passes of the metric alone; nullopt where the chip does not have it, or the chip is unknown.
  std::optional<int> passes(std::string_view metric, std::string_view chip) const;
  bool exists(std::string_view metric, std::string_view chip) const { return passes(metric, chip).has_value(); }

 private:
  std::vector<Chip> chips_;
  std::map<std::string, std::size_t, std::less<>> column_of_;  // by chip
  std::map<std::string, std::string, std::less<>> cells_;      // one character per column; "base.*" for all roll-ups
};

// What is known of the chip to collect on.
struct Target {
  std::string chip;                // "GH100"; empty: unknown, collect what every chip has
  std::string compute_capability;  // "9.0"; may be empty
  std::string device;              // "NVIDIA H100 80GB HBM3"; may be empty
  bool known() const { return !chip.empty(); }
};
// By chip ("GH100") or compute capability ("9.0"), with the device name to tell apart chips that share one.
std::optional<Target> find_target(std::string_view chip_or_capability, std::string_view device = {});

// --- metric sets ---

enum class Question : std::uint8_t {
  table,      // where each kernel stands: time, DRAM bytes, operations
  hierarchy,  // and L2, L1 and shared memory
  diagnose,   // the table, and why: what the rules read
  all,
};
std::string_view to_string(Question question);

enum class TensorCounters : std::uint8_t {
  automatic,  // find the number formats first where that saves passes, see plan()
  every,      // all of the chip in one run
  none,       // only whether the tensor pipe was in use
};

// What recipes and rules declare, before anything is chosen.
struct Declarations {
  std::vector<RecipeReads> recipes;
  std::vector<std::string> rule_metrics;
  std::vector<TensorLeaf> leaves;
};
Declarations declarations(const Target& target);

struct Chosen {
  std::string quantity;  // as in RecipeReads, "tensor.operations" or "rules"
  std::string recipe;
  std::vector<std::string> metrics;
};
struct Selection {
  std::vector<std::string> metrics;  // in the order of their need, each once
  std::vector<Chosen> chosen;
  std::vector<std::string> missing;  // "dram: no recipe fits this chip"
};
// For the run that finds the number formats: every leaf, and whether the tensor pipe was in use.
std::vector<std::string> types_metrics(const Declarations& declared, const Target& target,
                                       const MetricMatrix& matrix = MetricMatrix::instance());
// Per quantity the recipe that is exact rather than a bound, then the one with fewest new passes, then the first
// declared. `leaves`: the counters of tensor operations to take along, by metric name. On an unknown chip: what
// most chips have.
Selection select(const Declarations& declared, const Target& target, Question question,
                 std::span<const std::string> leaves, const MetricMatrix& matrix = MetricMatrix::instance());

// --- passes ---

struct Passes {
  int count = 0;
  bool exact = false;  // as the library counts exactly these metrics; else an estimate
  // ncu itself took one or two more than the library counts, in every report of 2024.1 and newer that was compared.
};
// data/collection_passes.csv has the combined count of each set with no, one, two and all number formats of tensor
// operations. Other mixes are estimated from them: up to one too few and four too many (tests/collect).
// nullopt on an unknown chip.
std::optional<Passes> passes_of(const Target& target, Question question, std::span<const std::string> leaves);
// Of `ncu --set roofline` on the chip, counted the same way.
std::optional<int> passes_of_ncu_roofline_set(const Target& target);
// The metrics of a row of data/collection_passes.csv on one chip.
std::vector<std::string> metrics_of_row(std::string_view question, std::string_view formats, const Target& target,
                                        const MetricMatrix& matrix = MetricMatrix::instance());
// Of a row's metrics on all chips: the file keeps it beside its counts, so that stale ones are seen.
std::string fingerprint(std::string_view question, std::string_view formats,
                        const MetricMatrix& matrix = MetricMatrix::instance());
// Of the run that finds the number formats.
std::optional<int> passes_of_types_run(const Target& target);
// The leaves whose number format is in the list: "bf16", "bf16+fp8", "all", "none"; "bf16+dense" leaves out sparse
// operations and the FP16 accumulator.
std::vector<std::string> leaves_of(const Target& target, std::string_view formats);
// A row as the file has it: one count per chip of the matrix that has metrics of its own.
struct PassRow {
  std::string question, formats, fingerprint;
  std::map<std::string, int, std::less<>> passes;
};
std::span<const PassRow> pass_rows();

// --- the profiler's command line ---

struct Request {
  Target target;
  Question question = Question::table;
  TensorCounters tensor = TensorCounters::automatic;
  std::string kernel;  // regular expression on demangled names; empty: all
  std::optional<std::uint64_t> launch_skip, launch_count;
  std::vector<std::string> nvtx;  // ranges as ncu writes them: "decode/", "step]"
  bool lock_clocks = false;       // else --clock-control none
  bool flush_caches = false;      // else --cache-control none
  bool overwrite = false;
  std::string output;                // without extension
  std::vector<std::string> command;  // the program and its arguments
  std::string ncu = "ncu";
};

// What this ncu understands, from its --help: options differ by version.
struct NcuOptions {
  std::string version;  // "2025.3.1.0"; empty when unknown
  bool graph_profiling = true, kernel_name_base = true, kernel_id = true;
  static NcuOptions parse(std::string_view version_text, std::string_view help_text);
};

struct Run {
  std::string purpose;  // "types" or "measure"
  std::string title;    // for people
  std::vector<std::string> arguments;
  std::string report;  // the file it writes
  std::vector<std::string> metrics;
  std::optional<Passes> passes;  // per launch
  bool first_launches_only = false;
};
struct Plan {
  std::vector<Run> runs;
  Selection selection;
  std::vector<std::string> leaves;  // of the last run, while they are known
};
// Throws UsageError for what a profiler would misread, or could only fail on.
void check(const Request& request);
// One run; or, where that saves passes, a short one first that finds the number formats: every tensor counter, on the
// first launch of each kernel alone. The second then takes the counters that were not 0 (see formats_found()).
Plan plan(const Request& request, const NcuOptions& ncu);
// The last run, once the first has told which counters are not 0.
Run measuring_run(const Request& request, const NcuOptions& ncu, std::span<const std::string> leaves);

// The counters of tensor operations above 0 in a report, by metric name.
std::vector<std::string> leaves_found(const Target& target, const Profile& types);
// The measured profile with 0 for the counters that were left out of the second run because the first found them 0 in
// the same kernel. Kernels that the first run does not hold keep them absent. `filled` receives how many launches.
Profile with_types(Profile measured, const Profile& types, const Target& target, std::size_t& filled);

// Words for a POSIX shell: "'it'\''s'".
std::string shell_quote(std::string_view word);
std::string shell_line(std::span<const std::string> words);

// --- what stands in the way ---

struct ProgramOutput {
  int status = -1;  // exit code, or 128 + signal; -1: could not be started
  std::string text;
};
// The machine as seen by the checks: real, or made up by a test.
struct System {
  std::string root;  // before "/proc/..." and "/dev/..."
  std::function<std::optional<std::string>(const char*)> environment;
  std::function<ProgramOutput(std::span<const std::string>)> run;  // a program that answers and ends
  static System real();

  std::optional<std::string> read(const std::string& path) const;  // under `root`
  bool exists(const std::string& path) const;
  // The program on $PATH, else in one of the usual places of the CUDA toolkit; empty when nowhere.
  std::string find_program(std::string_view name) const;
};

struct Obstacle {
  std::string id;  // "no-ncu", "no-driver", "no-gpu", "no-permission", "container", "mig", "wsl", "profiler", "dcgm"
  bool blocks = false;  // nothing can be measured; else it may
  std::string finding;
  std::vector<std::string> remedies;
};
struct Preflight {
  std::string ncu;  // path; empty when not found
  NcuOptions options;
  std::vector<Target> gpus;  // as the driver lists them
  std::vector<Obstacle> obstacles;
  bool blocked() const;
};
Preflight preflight(const System& system, const std::string& ncu, bool locks_clocks);
Document preflight_document(const Preflight& preflight);

// --- running ---

// Starts the program with its own arguments, no shell between. Its standard input stays ours; output and error are
// handed on line by line. SIGINT, SIGTERM and SIGHUP reach it and everything it started. Throws UsageError where it
// cannot be started.
struct Exit {
  int code = 0;            // 0..255
  int signal = 0;          // that ended it; 0: none
  int interrupted_by = 0;  // a signal that we got and handed on
};
// `on_pause` is called when the lines that were there are handed on: the time to flush them.
Exit run_program(std::span<const std::string> arguments, const std::function<void(std::string_view)>& on_line,
                 const std::function<void()>& on_pause = {});

// What ncu says when it fails, recognised.
struct Failure {
  std::string id;  // "no-permission", "application-failed", "nothing-profiled", "children", "file-exists", ...
  std::string finding;
  std::string remedy;
};
class NcuLog {
 public:
  void line(std::string_view text);  // one line of output, of ncu or of the program
  std::size_t profiled() const { return profiled_; }
  std::optional<int> passes() const { return passes_; }                      // most of a launch, as ncu counted them
  std::optional<int> application_code() const { return application_code_; }  // where ncu says that it failed
  // What ncu warned of and complained about, each once, without the program's own end; for a run that stands.
  std::vector<std::string> warnings() const;
  std::vector<std::string> errors() const;
  // After the end. nullopt: launches were profiled and a report was written.
  std::optional<Failure> failure(const Exit& exit, bool report_exists) const;

 private:
  struct Error {
    std::string text;  // without "==ERROR== "
    bool warning = false;
  };
  void connected(std::string_view text);
  std::string programs() const;
  std::vector<std::string> texts(bool warnings) const;
  std::optional<Failure> known_failure(bool warnings) const;
  bool measured() const;

  std::vector<std::string> programs_;  // that ncu followed
  std::size_t profiled_ = 0, finished_ = 0, failed_ = 0;
  std::optional<int> passes_, application_code_;
  std::vector<Error> errors_;
};

// --- AMD ---

// Command lines of rocprof-compute or rocprofv3 for the chip ("gfx942"), with what each is for.
Document rocprof_document(std::string_view gfx, const Request& request);

// --- how many passes a step takes ---

struct StepShape {
  std::string name;     // "BF16"
  std::string formats;  // of its tensor operations: "bf16+dense", "bf16+fp8+dense"
  double launches = 0;  // of one step
  double kernels = 0;   // different ones, which the first run looks at once each
  double from = 0;      // compute capabilities that the step is for
  double below = 1000;
};
// Average passes per launch on every chip, beside those of `ncu --set roofline`.
Document pass_document(std::span<const StepShape> steps);

}  // namespace roofline::collect
