// From cells to metric values: names, units, number formats.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/csv_lines.h"
#include "profile/metric_names.h"
#include "profile/number_locale.h"
#include "profile/reader.h"

namespace roofline {

// One metric that a cell goes to, with the conversion to the metric's unit: value * multiply / divide.
struct CellTarget {
  MetricId id = 0;
  double multiply = 1;
  double divide = 1;
  bool is_text = false;      // kept as it stands
  bool is_fallback = false;  // only where the launch has no value of its own
  bool may_be_negative = false;
  bool lacks_unit = false;  // a number here would be of unknown scale
};

// What the cells of one file have in common. Puts values into launches and warnings into the profile.
class NcuValues {
 public:
  // All arguments must outlive the object; `text` is what the cells are views of.
  NcuValues(const Input& input, std::string_view text, const ReadOptions& options, Profile& profile);

  // The format of the numbers from here on. Throws InputError ("ambiguous-locale") when the evidence contradicts
  // itself and ReadOptions::locale does not decide.
  void use_locale(const LocaleEvidence& evidence);
  bool locale_is_forced() const { return options_.locale != NumberLocale::automatic; }

  // A row of the details page, or a column of the raw page with nothing but label and unit.
  struct Row {
    std::optional<std::string_view> section;  // nullopt: no such column
    std::string_view item, label, unit;
    int compute_capability = 0;
  };
  // Where the cells of such a row go. Empty when nobody wants the metric, or when its unit is unknown, which warns.
  std::vector<CellTarget> targets_of(const Row& row, std::uint64_t line);

  // Puts the cell's number or text into the launch, the profile's `launch`-th. Throws InputError
  // ("contradictory-locale") for a number in another format than the file's.
  void store(Launch& launch, std::size_t index, const CellTarget& target, const CsvCell& cell);
  // Finishes all metric sets and gives the devices the facts that are among the metrics.
  void finish();

  void warn(std::string code, std::string message);
  std::uint64_t line_of(const char* position);
  std::string_view intern(std::string_view text) { return profile_.strings->intern(text); }
  const Input& input() const { return input_; }

 private:
  struct Fallback {
    std::size_t launch;
    MetricId id;
    double value;
  };

  void add_target(std::vector<CellTarget>& targets, std::string_view name, double scale, const Row& row,
                  std::uint64_t line);
  bool set_conversion(CellTarget& target, std::string_view name, double scale, const Row& row, std::uint64_t line);
  void store_other(Launch& launch, std::size_t index, const CellTarget& target, const CsvCell& cell);
  void store_number(Launch& launch, std::size_t index, const CellTarget& target, double value, const char* position);
  [[noreturn]] void refuse_number(std::string_view cell, NumberShape shape);
  void warn_once(std::string key, std::string code, std::string message);

  const Input& input_;
  std::string_view text_;
  const ReadOptions& options_;
  Profile& profile_;
  MetricNames names_;
  LineCounter lines_;
  NumberLocale locale_ = NumberLocale::point;
  LocaleEvidence::Verdict verdict_;
  std::optional<LocaleEvidence::Verdict> firm_before_;  // of an earlier table of the file
  std::set<std::string> told_;
  std::vector<Fallback> fallbacks_;
};

}  // namespace roofline
