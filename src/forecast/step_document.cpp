#include <algorithm>
#include <cmath>

#include "forecast/cells.h"
#include "roofline/forecast.h"

namespace roofline::model {
namespace {

double bytes_of(const StepRow& row) { return row.group.work.level(MemoryLevel::dram).total.value_or(0); }
double flops_of(const StepRow& row) {
  double sum = 0;
  for (const auto& op : row.group.work.operations) sum += op.operations.value_or(0);
  return sum;
}

std::optional<double> quotient(double a, double b) { return b > 0 ? std::optional(a / b) : std::nullopt; }

// What binds the row: a kernel too small to reach any roof is bound by its launch.
std::string regime_text(const Forecast& f, const StepRow& row) {
  if (f.launch_bound(row)) return "launch";
  const auto& p = row.group.placement;
  return fmt::format("{} ({})", to_string(p.regime), p.binding);
}

double sort_value(const StepRow& row, SortKey key) {
  switch (key) {
    case SortKey::time:
      return row.predicted_s;
    case SortKey::gain:
      return row.predicted_s - row.group.placed_roof_time_s;
    case SortKey::fraction:
      return -row.group.placed_roof_time_s / row.predicted_s;
    case SortKey::flops:
      return flops_of(row);
    case SortKey::bytes:
      return bytes_of(row);
    case SortKey::intensity:
      return flops_of(row) / std::max(1.0, bytes_of(row));
    case SortKey::name:
    case SortKey::order:
      break;
  }
  return 0;
}

std::vector<const StepRow*> sorted(const Forecast& f, SortKey key) {
  std::vector<const StepRow*> rows;
  for (const auto& row : f.step.rows) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](const StepRow* a, const StepRow* b) {
    if (key == SortKey::name) return a->name < b->name;
    return sort_value(*a, key) > sort_value(*b, key);
  });
  return rows;
}

std::vector<Column> columns(bool links) {
  using namespace cells;
  auto link = number("Link", "link_bytes", 6);
  link.data_only = !links;
  auto launches = number("N", "launches", 4);
  return {words("Kernel", "kernel"),
          std::move(launches),
          number("FLOPs", "flops", 2),
          number("Bytes", "dram_bytes", 3),
          std::move(link),
          number("FLOP/B", "intensity_flop_per_byte", 1),
          number("Bound", "roof_time_s"),
          number("Predicted", "time_s"),
          number("% of roof", "fraction_of_roof", 5),
          words("Bound by", "regime", 1),
          number("Share", "time_share", 2)};
}

std::vector<Cell> cells_of(const Forecast& f, const StepRow& row) {
  using namespace cells;
  const double flops = flops_of(row);
  const double bytes = bytes_of(row);
  const double roof = row.group.placed_roof_time_s;
  const bool small = f.launch_bound(row);
  const double fraction = roof / row.predicted_s;
  const Cell percent = {small ? "" : numbers::percent(fraction), fraction, Tone::normal};
  return {text(row.name),
          count(row.group.work.launches),
          amount(flops, ""),
          amount(bytes, "B"),
          amount(row.group.work.link.bus_bytes.get(), "B"),
          ratio(quotient(flops, bytes)),
          seconds(roof),
          seconds(row.predicted_s),
          percent,
          text(regime_text(f, row), small ? Tone::faint : Tone::normal),
          share(row.predicted_s / f.step.totals.predicted_s)};
}

std::vector<Cell> footer(const Forecast& f) {
  using namespace cells;
  const auto& t = f.step.totals;
  std::vector<Cell> out = {text("step"),
                           count(t.launches),
                           amount(t.operations, ""),
                           amount(t.bytes, "B"),
                           t.link_bytes > 0 ? amount(t.link_bytes, "B") : Cell{},
                           ratio(quotient(t.operations, t.bytes)),
                           seconds(t.roof_s),
                           seconds(t.predicted_s),
                           {numbers::percent(t.roof_s / t.predicted_s), t.roof_s / t.predicted_s},
                           text(""),
                           share(1.0)};
  for (auto& cell : out) cell.tone = Tone::strong;
  return out;
}

std::string title(const Forecast& f) {
  return forecast_report(f).inputs.front().path + " · " + (f.machine.name.empty() ? f.machine.id : f.machine.name);
}

std::string step_sentence(const Forecast& f) {
  const auto& t = f.step.totals;
  auto out = fmt::format("{}: at least {} (bound), {} predicted.", f.decode() ? "Step" : "Time to first token",
                         si(t.roof_s, "s"), si(t.predicted_s, "s"));
  const double replicas = static_cast<double>(f.options.tp);
  out += fmt::format(" {} tokens/s at most, {} predicted{}.", numbers::count(std::round(f.step.bound_tokens_per_s())),
                     numbers::count(std::round(f.step.predicted_tokens_per_s())),
                     f.options.tp > 1 ? fmt::format(" by {:.0f} GPUs together", replicas) : "");
  return out;
}

std::string memory_sentence(const Forecast& f) {
  const auto& m = f.step.memory;
  auto out =
      fmt::format("Memory{}: weights {} + KV cache {} = {}", f.options.tp > 1 || f.options.ep > 1 ? " per GPU" : "",
                  si(m.weights(), "B"), si(m.kv_cache, "B"), si(m.total(), "B"));
  if (!f.memory_bytes) return out + "; the memory of this machine is not known";
  out += fmt::format(" of {}", si(*f.memory_bytes, "B"));
  const auto most = largest_batch(f.config, f.options, *f.memory_bytes, kUsableMemory);
  if (f.fits() == true)
    return out + fmt::format(": fits; up to batch {} at this context with {} of the memory", most,
                             numbers::percent(kUsableMemory));
  out += fmt::format(": does not fit into {} of it", numbers::percent(kUsableMemory));
  if (most > 0) return out + fmt::format("; batch {} would", most);
  return out + "; not even batch 1 would: more GPUs (tp, ep), or a smaller number format";
}

Bullets notes(const Forecast& f) {
  Bullets out;
  const auto add = [&](std::string text, Tone tone = Tone::normal) { out.items.push_back({std::move(text), tone}); };
  add(memory_sentence(f), f.fits() == false ? Tone::warn : Tone::normal);
  add("Evidence: model. Bytes are compulsory DRAM traffic, every operand once; nothing here was measured");
  add(fmt::format("Bound: {} limits of {}, a sum over kernels of the largest of compute, DRAM and link time",
                  to_string(f.ceiling.kind), f.machine.id.empty() ? f.machine.name : f.machine.id));
  if (f.calibration.scaled)
    add(fmt::format("Predicted: {}", f.calibration.note), Tone::warn);
  else
    add(fmt::format("Predicted: constants of {}: {}", f.calibration.machine, f.calibration.note));
  add("Gaps between kernels and the serving engine's own work are in neither");
  if (std::any_of(f.step.rows.begin(), f.step.rows.end(), [&](const StepRow& row) { return f.launch_bound(row); }))
    add(fmt::format("launch: under {:g} launch floors of work; fuse such kernels, faster memory would not help",
                    f.thresholds.launch_bound));
  for (const auto& note : f.config.notes) add(note, Tone::warn);
  return out;
}

}  // namespace

Document forecast_document(const Forecast& f, SortKey sort) {
  Document document;
  document.title = title(f);
  Table table;
  table.columns = columns(f.step.totals.link_bytes > 0);
  for (const auto* row : sorted(f, sort)) table.rows.push_back(cells_of(f, *row));
  table.footer = footer(f);
  document.blocks.emplace_back(std::move(table));
  document.blocks.emplace_back(Paragraph{step_sentence(f), Tone::strong});
  document.blocks.emplace_back(notes(f));
  return document;
}

}  // namespace roofline::model
