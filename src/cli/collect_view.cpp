#include "cli/collect_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace roofline::cli {
namespace {

using collect::Plan;
using collect::Request;
using collect::Run;

std::string clocks_text(bool locked) {
  if (locked)
    return "Clocks: locked to the base clock (--clock-control base). Runs repeat well and compare with one another; "
           "times are longer than in a normal run, and roofs are taken at the locked clock.";
  return "Clocks: left alone (--clock-control none). Times are those of a normal run. Clocks may differ from pass to "
         "pass, and then so do the speeds that counters of different passes belong to.";
}

std::string caches_text(bool flushed) {
  if (flushed)
    return "Caches: flushed before every pass (--cache-control all). Every pass starts cold and repeats well; data "
           "that the kernel before left in L2 are read from DRAM again: more bytes than in the real step.";
  return "Caches: left alone (--cache-control none). The first pass of a launch meets what the kernel before left, as "
         "in the real step; later passes meet what the pass before left, so a kernel whose data fit into L2 may "
         "show too few DRAM bytes in those.";
}

std::string slow_down_text(const Request& request, const Plan& plan) {
  const bool two = plan.runs.size() > 1;
  const auto& passes = plan.runs.back().passes;
  const auto times = passes ? fmt::format("{}{} times", two ? "at least " : "about ", passes->count) : "several times";
  const bool chosen = !request.kernel.empty() || !request.nvtx.empty() || request.launch_skip || request.launch_count;
  return fmt::format(
      "Slow-down: a profiled launch runs {}, alone on the GPU, and what it writes is saved and restored in "
      "between.{}{}",
      times, chosen ? " Other launches run once." : "", two ? " The program itself runs twice." : "");
}

// "time, DRAM bytes": each recipe with what it reads.
Table set_table(const collect::Selection& selection) {
  Table table;
  table.title = "Metrics";
  Column quantity, recipe, metrics;
  quantity.title = "for";
  quantity.key = "quantity";
  recipe.title = "recipe";
  recipe.key = "recipe";
  metrics.title = "metrics";
  metrics.key = "metrics";
  quantity.align = recipe.align = metrics.align = Align::left;
  metrics.shrink = true;
  metrics.cut_end = true;
  table.columns = {quantity, recipe, metrics};
  std::set<std::pair<std::string, std::string>> seen;  // a question may ask twice for one thing
  for (const auto& chosen : selection.chosen)
    if (seen.emplace(chosen.quantity, chosen.recipe).second)
      table.rows.push_back({{chosen.quantity}, {chosen.recipe}, {fmt::format("{}", fmt::join(chosen.metrics, ", "))}});
  return table;
}

std::string run_text(const Run& run, std::size_t number, std::size_t runs) {
  const auto each = run.first_launches_only ? "of the first launch of each kernel and launch shape" : "of every launch";
  return fmt::format("{}{}: {} metrics, {} {}, into {}.",
                     runs > 1 ? fmt::format("Run {} of {}, ", number, runs) : std::string(), run.title,
                     run.metrics.size(), passes_text(run.passes), each, run.report);
}

}  // namespace

std::string passes_text(const std::optional<collect::Passes>& passes) {
  if (!passes) return "an unknown number of passes";
  return fmt::format("{}{} pass{}", passes->exact ? "" : "about ", passes->count, passes->count == 1 ? "" : "es");
}

Document plan_document(const Request& request, const Plan& plan) {
  Document document;
  document.title = request.target.known() ? fmt::format("Collecting on {} (compute capability {})", request.target.chip,
                                                        request.target.compute_capability)
                                          : "Collecting on a chip that is not known: metrics that most chips have";
  Bullets runs;
  for (std::size_t i = 0; i < plan.runs.size(); ++i)
    runs.items.push_back({run_text(plan.runs[i], i + 1, plan.runs.size()), Tone::normal});
  if (plan.runs.size() > 1)
    runs.items.push_back({"The second run also takes the tensor counters that the first finds in use.", Tone::normal});
  if (const auto ncu = collect::passes_of_ncu_roofline_set(request.target))
    runs.items.push_back(
        {fmt::format("ncu --set roofline takes {} passes on this chip, counted the same way; ncu itself "
                     "adds one or two to each.",
                     *ncu),
         Tone::normal});
  document.blocks.emplace_back(std::move(runs));
  Bullets conditions;
  conditions.items.push_back({slow_down_text(request, plan), Tone::normal});
  conditions.items.push_back({clocks_text(request.lock_clocks), Tone::normal});
  conditions.items.push_back({caches_text(request.flush_caches), Tone::normal});
  conditions.items.push_back(
      {"Child processes are followed, and each kernel of a CUDA graph is profiled by itself.", Tone::normal});
  document.blocks.emplace_back(std::move(conditions));
  for (const auto& missing : plan.selection.missing)
    document.blocks.emplace_back(Paragraph{"Not collected: " + missing + ".", Tone::warn});
  document.blocks.emplace_back(set_table(plan.selection));
  return document;
}

}  // namespace roofline::cli
