// roofline history record, list, show, trend, export, import and prune.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "cli/choices.h"
#include "cli/command.h"
#include "cli/history_part.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "roofline/chart.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

using history::Filter;
using history::Store;

class RecordPart : public HistoryPart {
 public:
  void setup(CLI::App& history) override {
    command_ = history.add_subcommand("record", "Keep reports: JSON reports, or any profile that roofline reads");
    command_->add_option("FILE", files_, "One record each; '-' reads standard input")->required();
    labels_.setup(*command_, "Something to find the record by: commit=1a2b3c, branch=main, batch=8");
    command_->add_option("--time", time_, "When it was taken, if not now: 2026-01-31T12:34:56Z");
    command_->add_option("--prediction", prediction_,
                         "A model's JSON report (roofline model ... --json): its mean error is kept with the record");
    store_.setup(*command_);
    source_.setup(*command_);
  }

  int run() override {
    history::NewRecord record;
    record.labels = labels_.labels();
    if (!time_.empty()) record.time = history::parse_time(time_);
    // Nothing is written before all files are read.
    std::vector<std::string> reports;
    for (const auto& file : files_) {
      reports.push_back(source_.json(file));
      read_record(reports.back(), file);
    }
    auto store = store_.open(Store::Access::write);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      record.report = std::move(reports[i]);
      record.source = files_[i];
      record.prediction_error = prediction_error(record.report, files_[i]);
      const auto recorded = store.record(record);
      // Whoever reads this line may rely on the record: it is on disk.
      fmt::print("{}\n", recorded.id);
      if (std::fflush(stdout) != 0) throw UsageError("cannot write to standard output");
    }
    return kOk;
  }

 private:
  std::optional<double> prediction_error(const std::string& report, const std::string& file) {
    if (prediction_.empty()) return std::nullopt;
    const auto prediction = read_record(source_.json(prediction_), prediction_);
    if (!is_prediction(prediction))
      throw UsageError(fmt::format("--prediction {}: this is a measurement, not a model's report", prediction_));
    return score_prediction(prediction, GateSide{{read_record(report, file)}}).mean_error;
  }

  std::vector<std::string> files_;
  LabelOption labels_;
  std::string time_, prediction_;
  StoreOption store_;
  ReportSource source_;
};

// --label and -n: which records.
class FilterOptions {
 public:
  void setup(CLI::App& command) {
    labels_.setup(command, "Only records with this label; several must all be there");
    command.add_option("-n,--newest", newest_, "Only the newest N (0: all)");
    command.add_option("--on", machine_, "Only records of this machine, named as `list` names it");
  }
  Filter filter() const {
    Filter filter;
    filter.labels = labels_.labels();
    filter.newest = newest_;
    filter.machine = machine_;
    return filter;
  }

 private:
  LabelOption labels_;
  std::size_t newest_ = 0;
  std::string machine_;
};

class ListPart : public HistoryPart {
 public:
  void setup(CLI::App& history) override {
    command_ = history.add_subcommand("list", "The records, newest first");
    command_->add_flag("--explain", explain_, "Instead: how the database looks up what the commands ask for");
    filter_.setup(*command_);
    store_.setup(*command_);
    output_.setup(*command_);
  }
  int run() override {
    store_.protect_from(output_path(*command_));
    const auto store = store_.open(Store::Access::read);
    if (explain_) {
      for (const auto& [question, plan] : store.query_plans()) fmt::print("{}\n{}", question, plan);
      return kOk;
    }
    output_.print(list_document(store.list(filter_.filter()), store.name()));
    return kOk;
  }

 private:
  bool explain_ = false;
  FilterOptions filter_;
  StoreOption store_;
  Output output_;
};

class ShowPart : public HistoryPart {
 public:
  void setup(CLI::App& history) override {
    command_ = history.add_subcommand("show", "One record; with --json the report exactly as it was recorded");
    command_->add_option("ID", id_, "Number or uid (its first 6 digits or more)")->required();
    store_.setup(*command_);
    output_.setup(*command_);
  }
  int run() override {
    store_.protect_from(output_path(*command_));
    const auto store = store_.open(Store::Access::read);
    const auto record = store.find(id_);
    output_.print(record_document(record, store.step(record)), [&] { return store.report(record.id); });
    return kOk;
  }

 private:
  std::string id_;
  StoreOption store_;
  Output output_;
};

const std::map<std::string, history::TrendMetric> kMetrics = {{"fraction", history::TrendMetric::fraction},
                                                              {"time", history::TrendMetric::time}};

class TrendPart : public HistoryPart {
 public:
  void setup(CLI::App& history) override {
    command_ = history.add_subcommand("trend", "One kernel over all records");
    command_->add_option("KERNEL", kernel_, "Operator, name or name family; or a part that fits one kernel")
        ->required();
    command_->add_option("--metric", options_.metric, "fraction (of the roof) or time")
        ->transform(one_of(kMetrics))
        ->type_name("METRIC");
    command_->add_flag("--recompute", options_.recompute,
                       "Beside the recorded figures those under the present machine catalogue");
    filter_.setup(*command_);
    store_.setup(*command_);
    output_.setup(*command_);
  }
  int run() override {
    store_.protect_from(output_path(*command_));
    const auto points = store_.open(Store::Access::read).trend(kernel_, filter_.filter());
    options_.unicode = !output_.for_terminal() || detect_style(0).unicode;
    output_.print(trend_document(kernel_, points, options_),
                  Output::Forms{nullptr, [&] { return trend_chart(kernel_, points); }});
    return kOk;
  }

 private:
  std::string kernel_;
  history::TrendOptions options_;
  FilterOptions filter_;
  StoreOption store_;
  Output output_;
};

enum class ExportFormat { automatic, json, csv, openmetrics };
const std::map<std::string, ExportFormat> kExportFormats = {{"json", ExportFormat::json},
                                                            {"jsonl", ExportFormat::json},
                                                            {"csv", ExportFormat::csv},
                                                            {"openmetrics", ExportFormat::openmetrics}};

class ExportPart : public HistoryPart {
 public:
  void setup(CLI::App& history) override {
    command_ = history.add_subcommand("export", "Records as JSON lines (for import), CSV, or metrics for Prometheus");
    command_->add_option("--format", format_, "json, csv or openmetrics")
        ->transform(one_of(kExportFormats))
        ->type_name("FORMAT");
    command_->add_option("-o,--output", output_, "Write to a file, in one step (.jsonl .json .csv .prom)");
    command_
        ->add_option("--metric-label", metrics_.labels,
                     "openmetrics: a label that becomes one of the metrics; few values, as of branch or model")
        ->allow_extra_args(false)
        ->take_all();
    command_->add_option("--top", metrics_.top, "openmetrics: kernels of each record, the rest as one (0: all)")
        ->check(at_most(kMostRows));
    filter_.setup(*command_);
    store_.setup(*command_);
  }

  int run() override {
    const auto store = store_.open(Store::Access::read);
    const auto format = chosen();
    if (output_.empty()) {
      write(store, format, std::cout);
      std::cout.flush();
      if (!std::cout) throw UsageError("cannot write to standard output");
      return kOk;
    }
    store_.protect_from(output_);
    store_.protect_from(beside());
    write_file(store, format);
    return kOk;
  }

 private:
  ExportFormat chosen() const {
    if (format_ != ExportFormat::automatic) return format_;
    const auto ends = [&](std::string_view end) { return output_.ends_with(end); };
    if (ends(".csv")) return ExportFormat::csv;
    if (ends(".prom")) return ExportFormat::openmetrics;
    if (output_.empty() || ends(".json") || ends(".jsonl")) return ExportFormat::json;
    throw UsageError(fmt::format("cannot tell the format of '{}' by its extension; add --format", output_));
  }

  void write(const Store& store, ExportFormat format, std::ostream& out) const {
    if (format == ExportFormat::json) return export_json_lines(store, filter_.filter(), out);
    if (format == ExportFormat::csv) return export_csv(store, filter_.filter(), out);
    out << export_openmetrics(store, filter_.filter(), metrics_);
  }

  std::string beside() const { return output_ + ".part"; }

  // A collector that reads the folder must never see half a file: written beside it, then renamed.
  void write_file(const Store& store, ExportFormat format) const {
    const auto part = beside();
    const auto refuse = [&] {
      std::remove(part.c_str());
      throw UsageError(fmt::format("cannot write '{}'", output_));
    };
    {
      std::ofstream file(part, std::ios::binary);
      if (!file) refuse();
      write(store, format, file);
      file.close();
      if (!file) refuse();
    }
    if (std::rename(part.c_str(), output_.c_str()) != 0) refuse();
  }

  ExportFormat format_ = ExportFormat::automatic;
  std::string output_;
  history::MetricsOptions metrics_;
  FilterOptions filter_;
  StoreOption store_;
};

class ImportPart : public HistoryPart {
 public:
  void setup(CLI::App& history) override {
    command_ =
        history.add_subcommand("import", "Records that export wrote as JSON; those known already are left alone");
    command_->add_option("FILE", file_, "JSON lines; '-' reads standard input")->required();
    store_.setup(*command_);
  }
  int run() override {
    std::ifstream file;
    if (file_ != "-") {
      file.open(file_, std::ios::binary);
      if (!file)
        throw InputError({"unreadable", file_, {}, {}, "cannot be opened", {}, "check the name and its permissions"});
    }
    auto store = store_.open(Store::Access::write);
    const auto done = import_json_lines(store, file_ == "-" ? std::cin : file, file_);
    fmt::print("{} imported, {} known already\n", done.fresh, done.known);
    return kOk;
  }

 private:
  std::string file_;
  StoreOption store_;
};

class PrunePart : public HistoryPart {
 public:
  void setup(CLI::App& history) override {
    command_ = history.add_subcommand("prune", "Remove old records");
    command_->add_option("--keep", rule_.keep, "Keep the newest N");
    command_->add_option("--older-than", age_, "Only records older than this: 90d, 12h, 2w");
    labels_.setup(*command_, "Only records with this label; the others stay and are not counted");
    command_->add_flag("--dry-run", rule_.dry_run, "Only say what would be removed");
    store_.setup(*command_);
  }
  int run() override {
    if (!rule_.keep && age_.empty()) throw UsageError("prune: give --keep N, --older-than AGE, or both");
    if (!age_.empty()) rule_.before = history::now() - history::parse_duration(age_);
    rule_.labels = labels_.labels();
    auto store = store_.open(Store::Access::write);
    const auto removed = store.prune(rule_);
    fmt::print("{} record{} {}\n", removed.size(), removed.size() == 1 ? "" : "s",
               rule_.dry_run ? "would be removed" : "removed");
    return kOk;
  }

 private:
  history::PruneRule rule_;
  std::string age_;
  LabelOption labels_;
  StoreOption store_;
};

}  // namespace

std::unique_ptr<HistoryPart> make_record_part() { return std::make_unique<RecordPart>(); }
std::unique_ptr<HistoryPart> make_list_part() { return std::make_unique<ListPart>(); }
std::unique_ptr<HistoryPart> make_show_part() { return std::make_unique<ShowPart>(); }
std::unique_ptr<HistoryPart> make_trend_part() { return std::make_unique<TrendPart>(); }
std::unique_ptr<HistoryPart> make_export_part() { return std::make_unique<ExportPart>(); }
std::unique_ptr<HistoryPart> make_import_part() { return std::make_unique<ImportPart>(); }
std::unique_ptr<HistoryPart> make_prune_part() { return std::make_unique<PrunePart>(); }

}  // namespace roofline::cli
