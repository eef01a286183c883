// What people and programs see of a timeline.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roofline/chart.h"
#include "roofline/document.h"
#include "roofline/machine.h"
#include "roofline/step.h"
#include "roofline/timeline.h"

namespace roofline {

struct TimelineViewOptions {
  std::size_t top = 15;    // kernels listed; 0: all
  bool by_shape = false;   // grid and block beside each kernel
  bool all_steps = false;  // a table of all steps
};

// A timeline with what was found in it.
struct AnalyzedTimeline {
  Timeline timeline;
  std::vector<DeviceStep> devices;
};

// Verdict, where the time goes, kernels, copies and steps of each GPU, and what is to be said about the recording.
// Where the input holds only sums: the kernels, and what sums cannot tell.
Document timeline_document(const AnalyzedTimeline& analyzed, const TimelineViewOptions& options);

// What joins the GPUs of different machines, as no trace says.
struct Network {
  std::optional<double> bytes_per_s;           // of the port that each GPU has, one direction
  std::optional<std::uint32_t> gpus_per_node;  // nullopt: as many as the file lists, where it lists more than one
};

// Schema roofline/timeline/1, see docs/timeline.md. `report_json` is a report in the schema roofline/report/1 that was
// joined; empty for none.
std::string timeline_json(std::span<const AnalyzedTimeline> timelines, const std::string& report_json = {},
                          const Network& network = {});

// One step as lanes, streams and host threads against time: the median step of the device, or all of its work where
// there are no steps. A self-contained SVG 1.1 file.
std::string lanes_svg(const Timeline& timeline, const DeviceStep& step, const SvgOptions& options = {});
// The same for a terminal: a line per lane, where letters begin what runs longest in a column.
std::string lanes_text(const Timeline& timeline, const DeviceStep& step, const TerminalStyle& style = {});

}  // namespace roofline
