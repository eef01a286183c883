// The roofline chart: a model in the units of the field, and its outputs. All outputs share one layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/document.h"
#include "roofline/report.h"

namespace roofline {

struct ChartRoof {
  enum class Kind : std::uint8_t { memory, compute };
  enum class Role : std::uint8_t {
    in_use,     // the ceiling the rows were placed under
    datasheet,  // the vendor's, where another ceiling is in use
    other,      // of a further machine
  };
  Kind kind = Kind::memory;
  Role role = Role::in_use;
  MemoryLevel level = MemoryLevel::dram;  // memory roofs
  double value = 0;                       // bytes/s (memory) or FLOP/s (compute)
  std::string name;                       // "DRAM", "L2 (lts_t)", "bf16.tensor"
  std::string label;                      // the name and its value
};

// Where a compute roof meets the DRAM roof of the ceiling in use.
struct ChartRidge {
  double intensity = 0;    // FLOP/byte
  double flops_per_s = 0;  // the compute roof
};

// Towards which side of the drawn point the truth lies.
enum class Toward : std::uint8_t { nowhere, up, left, right };

// One marker. It stands at (intensity, flops_per_s); or, without those, on the strip at `dram_fraction`.
struct ChartPoint {
  std::size_t number = 0;           // 1 is the row with the most time: as in a table sorted by time
  std::optional<std::size_t> row;   // index into Report::rows
  std::string label;                // short, unique within the chart
  std::string full_name;            // as the profiler wrote it: hostile text
  std::string facts;                // one line of numbers for people
  std::optional<double> intensity;  // FLOP/byte
  std::optional<double> flops_per_s;
  std::optional<double> dram_fraction;     // 0..1, of the DRAM roof
  bool flops_unknown = false;              // on the strip because nothing was counted, not because there are no FLOPs
  std::optional<double> roof_flops_per_s;  // rate that the binding roof allows at this intensity
  double share = 0;                        // of the report's time, 0..1
  double area = 0;                         // of the mark: the share, or the same for all marks of one kernel
  std::optional<double> fraction;          // of the roof
  Position position = Position::unplaced;
  Toward toward = Toward::nowhere;
  bool past = false;  // of a comparison: as it was before
  bool look = false;
  std::optional<double> gain_s;
  std::optional<double> gain_share;  // of the report's time
};

struct ChartLink {
  enum class Kind : std::uint8_t { levels, trajectory, comparison };
  Kind kind = Kind::levels;
  std::size_t from = 0, to = 0;  // indices into Chart::points
};

struct Chart {
  std::string title;
  std::string subtitle;  // machine and ceiling
  std::vector<ChartRoof> roofs;
  std::vector<ChartRidge> ridges;
  std::vector<ChartPoint> points;  // most time first
  std::vector<ChartLink> links;
  std::vector<std::string> notes;  // what is not shown and why; how to read what is special
};

// Every row of the report: the whole step in one chart.
Chart report_chart(const Report& report);

// One row at its DRAM, L2, L1 and shared-memory intensity, the points joined. Throws UsageError where `row` is no index
// into report.rows.
Chart hierarchical_chart(const Report& report, std::size_t row);

// One kernel over a sweep (batch sizes, input sizes, time): the points joined in the order given, each with its label.
// The roofs are those of the steps' machines.
struct ChartStep {
  const Report* report = nullptr;
  std::size_t row = 0;
  std::string label;  // "batch 8"
};
Chart trajectory_chart(std::string title, std::span<const ChartStep> steps);

// Kernels before and after a change, an arrow from each `before` row to its `after` row.
struct ChartMatch {
  std::optional<std::size_t> before;  // index into the rows of the report before; absent for a new kernel
  std::optional<std::size_t> after;   // absent for a kernel that is gone
};
Chart comparison_chart(const Report& before, const Report& after, std::span<const ChartMatch> matches);

// The roofs of a machine without a kernel: those of `drawn`, and where that is not the datasheet's, its beside them.
Chart machine_chart(const Machine& machine, const Ceiling& drawn);

// The chart that says most of this report: hierarchical for one row whose caches were counted, else report_chart().
Chart best_chart(const Report& report);

enum class SvgTheme : std::uint8_t { automatic, light, dark };  // automatic: as the reader's system prefers
struct SvgOptions {
  SvgTheme theme = SvgTheme::automatic;
  double width = 1000;  // CSS pixels; the height follows
};
// A self-contained SVG 1.1 file: no scripts, no outside resources, text as text, a title and a description.
std::string to_svg(const Chart& chart, const SvgOptions& options = {});

// The SVG drawn by librsvg and cairo, light theme. `scale` is pixels per CSS pixel. Throw std::runtime_error where the
// picture cannot be made.
std::string to_png(const Chart& chart, double scale = 2.0);
std::string to_pdf(const Chart& chart);
// The same for any SVG that needs nothing from outside.
std::string svg_to_png(const std::string& svg, double scale = 2.0);
std::string svg_to_pdf(const std::string& svg, const std::string& title);

// Unicode: lines in braille dots; else ASCII. Rows follow the width.
std::string to_terminal(const Chart& chart, const TerminalStyle& style);

}  // namespace roofline
