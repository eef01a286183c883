#include "profile/table_columns.h"

#include <algorithm>
#include <array>
#include <utility>

namespace roofline::table {
namespace {

constexpr std::size_t kMaxTitle = 80;     // longer cells are text, not titles
constexpr std::size_t kMaxColumns = 256;  // a header with more is not typed by a person

struct Spelling {
  std::string_view title;
  Role role;
};

// Lower case, words separated by one blank, without units.
constexpr std::array kSpellings = std::to_array<Spelling>({
    {"kernel", Role::kernel},
    {"kernels", Role::kernel},
    {"kernel name", Role::kernel},
    {"name", Role::kernel},
    {"function", Role::kernel},
    {"op", Role::op},
    {"operator", Role::op},
    {"operation", Role::op},
    {"layer", Role::op},
    {"module", Role::op},

    {"launches", Role::calls},
    {"launch count", Role::calls},
    {"calls", Role::calls},
    {"count", Role::calls},
    {"n", Role::calls},
    {"#", Role::calls},
    {"# calls", Role::calls},
    {"# launches", Role::calls},
    {"num calls", Role::calls},
    {"number of calls", Role::calls},
    {"instances", Role::calls},
    {"invocations", Role::calls},

    {"flop", Role::flops},
    {"flops", Role::flops},
    {"flop count", Role::flops},
    {"flops count", Role::flops},
    {"fp ops", Role::flops},
    {"ops", Role::flops},
    {"operations", Role::flops},
    {"work", Role::flops},
    {"aux", Role::aux},
    {"aux flops", Role::aux},
    {"aux ops", Role::aux},

    {"bytes", Role::bytes},
    {"byte", Role::bytes},
    {"bytes moved", Role::bytes},
    {"dram", Role::bytes},
    {"dram bytes", Role::bytes},
    {"hbm", Role::bytes},
    {"hbm bytes", Role::bytes},
    {"memory", Role::bytes},
    {"memory bytes", Role::bytes},
    {"traffic", Role::bytes},
    {"memory traffic", Role::bytes},
    {"dram traffic", Role::bytes},
    {"hbm traffic", Role::bytes},
    {"data", Role::bytes},
    {"data moved", Role::bytes},
    {"read", Role::read},
    {"reads", Role::read},
    {"read bytes", Role::read},
    {"bytes read", Role::read},
    {"dram read", Role::read},
    {"dram read bytes", Role::read},
    {"dram bytes read", Role::read},
    {"hbm read", Role::read},
    {"write", Role::write},
    {"writes", Role::write},
    {"written", Role::write},
    {"write bytes", Role::write},
    {"bytes written", Role::write},
    {"bytes write", Role::write},
    {"dram write", Role::write},
    {"dram write bytes", Role::write},
    {"dram bytes write", Role::write},
    {"dram bytes written", Role::write},
    {"hbm write", Role::write},

    {"i", Role::intensity},
    {"ai", Role::intensity},
    {"oi", Role::intensity},
    {"intensity", Role::intensity},
    {"arithmetic intensity", Role::intensity},
    {"operational intensity", Role::intensity},
    {"dram intensity", Role::intensity},
    {"intensity flop per byte", Role::intensity},
    {"flop/byte", Role::intensity},
    {"flops/byte", Role::intensity},
    {"flop/b", Role::intensity},
    {"flops/b", Role::intensity},
    {"f/b", Role::intensity},
    {"flop per byte", Role::intensity},
    {"flops per byte", Role::intensity},

    {"achieved", Role::rate},
    {"achieved rate", Role::rate},
    {"achieved flops", Role::rate},
    {"rate", Role::rate},
    {"performance", Role::rate},
    {"perf", Role::rate},
    {"throughput", Role::rate},
    {"flop/s", Role::rate},
    {"flops/s", Role::rate},
    {"flop rate", Role::rate},
    {"achieved flop/s", Role::rate},
    {"achieved flops/s", Role::rate},
    {"compute throughput", Role::rate},

    {"bandwidth", Role::bandwidth},
    {"bw", Role::bandwidth},
    {"mem bw", Role::bandwidth},
    {"memory bandwidth", Role::bandwidth},
    {"dram bandwidth", Role::bandwidth},
    {"hbm bandwidth", Role::bandwidth},
    {"achieved bandwidth", Role::bandwidth},
    {"achieved bw", Role::bandwidth},
    {"memory throughput", Role::bandwidth},
    {"dram throughput", Role::bandwidth},
    {"bytes/s", Role::bandwidth},
    {"achieved bytes/s", Role::bandwidth},
    {"achieved dram bytes/s", Role::bandwidth},
    {"dram bytes/s", Role::bandwidth},

    {"time", Role::time},
    {"times", Role::time},
    {"t", Role::time},
    {"duration", Role::time},
    {"latency", Role::time},
    {"elapsed", Role::time},
    {"runtime", Role::time},
    {"run time", Role::time},
    {"kernel time", Role::time},
    {"gpu time", Role::time},
    {"measured", Role::time},
    {"measured time", Role::time},

    {"% of roof", Role::fraction},
    {"% roof", Role::fraction},
    {"of roof", Role::fraction},
    {"roof %", Role::fraction},
    {"roofline", Role::fraction},
    {"roofline %", Role::fraction},
    {"% of roofline", Role::fraction},
    {"pct of roof", Role::fraction},
    {"percent of roof", Role::fraction},
    {"fraction", Role::fraction},
    {"fraction of roof", Role::fraction},
    {"frac of roof", Role::fraction},
    {"roof fraction", Role::fraction},
    {"% of peak", Role::fraction},
    {"% peak", Role::fraction},
    {"efficiency", Role::fraction},
    {"sol", Role::fraction},
    {"% sol", Role::fraction},

    {"precision", Role::precision},
    {"prec", Role::precision},
    {"dtype", Role::precision},
    {"type", Role::precision},
    {"data type", Role::precision},
    {"datatype", Role::precision},
    {"number format", Role::precision},

    {"evidence", Role::evidence},
    {"flops evidence", Role::evidence_flops},
    {"evidence flops", Role::evidence_flops},
    {"bytes evidence", Role::evidence_bytes},
    {"evidence bytes", Role::evidence_bytes},
    {"dram evidence", Role::evidence_bytes},
    {"time evidence", Role::evidence_time},
    {"evidence time", Role::evidence_time},

    {"", Role::ignored},
    {"comment", Role::ignored},
    {"comments", Role::ignored},
    {"note", Role::ignored},
    {"notes", Role::ignored},
    {"remark", Role::ignored},
    {"remarks", Role::ignored},
    {"look", Role::ignored},
    {"share", Role::ignored},
    {"time share", Role::ignored},
    {"% of time", Role::ignored},
    {"% time", Role::ignored},
    {"position", Role::ignored},
    {"verdict", Role::ignored},
    {"bound", Role::ignored},
    {"binding", Role::ignored},
    {"regime", Role::ignored},
    {"source", Role::ignored},
    {"gain", Role::ignored},
    {"roof time", Role::ignored},
    {"roof", Role::ignored},
    {"id", Role::ignored},
    {"input", Role::ignored},
    {"device", Role::ignored},
    {"stream", Role::ignored},
    {"grid", Role::ignored},
    {"block", Role::ignored},
    {"full name", Role::ignored},
});

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '_'; }

// Lower case, one blank between words, '_' read as a blank.
std::string normalise(std::string_view title) {
  std::string out;
  for (const char c : title) {
    if (is_blank(c)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ':' || out.back() == ',')) out.pop_back();
  return lower(out);
}

std::optional<Role> find_role(std::string_view normal) {
  const auto it =
      std::find_if(kSpellings.begin(), kSpellings.end(), [&](const Spelling& s) { return s.title == normal; });
  return it == kSpellings.end() ? std::nullopt : std::optional(it->role);
}

std::optional<Role> role_of(Measure measure) {
  switch (measure) {
    case Measure::flops:
      return Role::flops;
    case Measure::bytes:
      return Role::bytes;
    case Measure::time:
      return Role::time;
    case Measure::flop_rate:
      return Role::rate;
    case Measure::byte_rate:
      return Role::bandwidth;
    case Measure::intensity:
      return Role::intensity;
    case Measure::percent:
      return Role::fraction;
    case Measure::plain:
      break;
  }
  return std::nullopt;
}

// A title's unit may correct the role that its words suggest: "Throughput (TB/s)" is a bandwidth, "Time (%)" a share.
Role with_unit(Role role, Measure measure) {
  if (!is_number_role(role) || measure_of(role) == measure) return role;
  const bool speed = role == Role::rate || role == Role::bandwidth || role == Role::flops || role == Role::bytes;
  if (speed && (measure == Measure::flop_rate || measure == Measure::byte_rate)) return *role_of(measure);
  if (role == Role::rate && measure == Measure::percent) return Role::fraction;
  if (role == Role::fraction || measure == Measure::percent) return Role::ignored;
  return Role::unknown;
}

struct Bracket {
  std::string_view before;
  std::string_view inside;
};

// "Time (us)", "Bytes [GB]"
Bracket split_bracket(std::string_view title) {
  if (title.size() < 3 || (title.back() != ')' && title.back() != ']')) return {title, {}};
  const auto open = title.rfind(title.back() == ')' ? '(' : '[');
  if (open == std::string_view::npos || open == 0) return {title, {}};
  return {trim(title.substr(0, open)), trim(title.substr(open + 1, title.size() - open - 2))};
}

bool cut_suffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix) || text.size() == suffix.size()) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

bool cut_prefix(std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix) || text.size() == prefix.size()) return false;
  text.erase(0, prefix.size());
  return true;
}

bool says_per_call(std::string_view text) {
  return text == "per call" || text == "per launch" || text == "each" || text == "avg" || text == "mean";
}

std::optional<bool> take_scope(std::string& normal) {
  for (const std::string_view suffix : {" per call", "/call", " per launch", "/launch", " each"}) {
    if (cut_suffix(normal, suffix)) return true;
  }
  for (const std::string_view prefix : {"avg ", "average ", "mean "}) {
    if (cut_prefix(normal, prefix)) return true;
  }
  if (cut_prefix(normal, "total ") || cut_prefix(normal, "sum of ")) return false;
  return std::nullopt;
}

// "time us", "GB moved", "GFLOP": a unit as the last, first or only word.
struct UnitWord {
  std::string_view word;
  std::string_view others;
};

std::vector<UnitWord> unit_words(std::string_view title) {
  const auto last = title.find_last_of(" _,\t");
  const auto first = title.find_first_of(" _,\t");
  if (last == std::string_view::npos) return {{title, {}}};
  return {{title.substr(last + 1), title.substr(0, last)}, {title.substr(0, first), title.substr(first + 1)}};
}

bool set_unit_word(Column& column, std::string_view title) {
  for (const auto& [word, others] : unit_words(title)) {
    const auto unit = parse_cell_unit(word);
    if (!unit || !unit->measure) continue;
    auto rest = normalise(others);
    const auto scope = take_scope(rest);
    auto role = find_role(rest);
    if (rest.empty() || says_per_call(rest) || rest == "total") role = role_of(*unit->measure);
    if (!role) continue;
    column.role = with_unit(*role, *unit->measure);
    column.unit = *unit;
    column.ambiguous = is_ambiguous_flops(word);
    if (scope) column.per_call = scope;
    if (says_per_call(rest)) column.per_call = true;
    return true;
  }
  return false;
}

// "bf16.tensor FLOPs"
bool set_precise(Column& column, std::string_view title) {
  const auto end = title.find_first_of(" \t");
  const auto precision = parse_precision(lower(title.substr(0, end)));
  if (!precision) return false;
  const auto rest = end == std::string_view::npos ? std::string_view{} : trim(title.substr(end));
  if (!rest.empty()) {
    Column flops;
    if (const auto role = find_role(normalise(rest)); !role && !set_unit_word(flops, rest)) return false;
    if (const auto role = find_role(normalise(rest)); role && *role != Role::flops) return false;
    if (flops.role != Role::unknown && flops.role != Role::flops) return false;
    column.unit = flops.unit;
  }
  column.role = Role::precise_flops;
  column.precision = precision;
  return true;
}

// "TB_per_s" and "FLOPs per second" as "TB/s" and "FLOPs/s".
std::string with_slash(std::string_view title) {
  std::string text(title);
  for (const std::string_view ending : {"_per_s", " per s", "_per_sec", " per sec", "_per_second", " per second"}) {
    if (cut_suffix(text, ending)) return text + "/s";
  }
  return text;
}

Column recognise(std::string_view cell) {
  Column column;
  const auto title = plain_text(cell);
  if (title.size() > kMaxTitle) return column;
  column.title = std::string(title);
  const auto [outside, inside] = split_bracket(title);
  const auto before = with_slash(outside);
  const auto bracket_unit = parse_cell_unit(inside);
  if (set_precise(column, before)) {
    if (bracket_unit) column.unit = *bracket_unit;
    return column;
  }
  auto normal = normalise(before);
  column.per_call = take_scope(normal);
  if (says_per_call(normalise(inside))) column.per_call = true;
  if (const auto role = find_role(normal)) {
    column.role = *role;
  } else if (!set_unit_word(column, before)) {
    return column;
  }
  if (bracket_unit) {
    column.unit = *bracket_unit;
    column.ambiguous = is_ambiguous_flops(inside);
    if (bracket_unit->measure) column.role = with_unit(column.role, *bracket_unit->measure);
  }
  if (title.find('%') != std::string_view::npos && !bracket_unit) column.unit = {Measure::percent, 0.01};
  return column;
}

bool has_role(const std::vector<Column>& columns, Role role, bool sure) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const Column& c) { return c.role == role && !(sure && c.ambiguous); });
}

// "GFLOPS" is a rate, unless another column is one without doubt.
void settle_ambiguous(std::vector<Column>& columns) {
  const bool has_rate = has_role(columns, Role::rate, true);
  for (auto& column : columns) {
    if (!column.ambiguous || (column.role != Role::rate && column.role != Role::flops)) continue;
    column.role = has_rate ? Role::flops : Role::rate;
    column.unit.measure = measure_of(column.role);
  }
}

// A table without a kernel column may name its rows by operator.
void settle_names(std::vector<Column>& columns) {
  if (has_role(columns, Role::kernel, false)) return;
  const auto op = std::find_if(columns.begin(), columns.end(), [](const Column& c) { return c.role == Role::op; });
  if (op != columns.end()) op->role = Role::kernel;
}

// Nsight Systems prints its summaries, also those of system calls, under these titles.
bool is_timeline_summary(const std::vector<Column>& columns) {
  const auto titled = [&](std::string_view start, char with) {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& c) {
      return lower(c.title).starts_with(start) && c.title.find(with) != std::string::npos;
    });
  };
  return titled("total time (ns)", '(') && titled("time", '%');
}

bool is_quantity(const Column& column) {
  return is_number_role(column.role) && column.role != Role::calls && column.role != Role::fraction;
}

}  // namespace

bool is_number_role(Role role) { return role >= Role::calls && role <= Role::fraction; }

Measure measure_of(Role role) {
  switch (role) {
    case Role::flops:
    case Role::precise_flops:
    case Role::aux:
      return Measure::flops;
    case Role::bytes:
    case Role::read:
    case Role::write:
      return Measure::bytes;
    case Role::intensity:
      return Measure::intensity;
    case Role::rate:
      return Measure::flop_rate;
    case Role::bandwidth:
      return Measure::byte_rate;
    case Role::time:
      return Measure::time;
    case Role::fraction:
      return Measure::percent;
    default:
      return Measure::plain;
  }
}

std::vector<Column> recognise_header(const std::vector<std::string_view>& cells) {
  if (cells.size() < 2 || cells.size() > kMaxColumns) return {};
  std::vector<Column> columns;
  columns.reserve(cells.size());
  for (const auto cell : cells) columns.push_back(recognise(cell));
  settle_ambiguous(columns);
  settle_names(columns);
  const bool any = std::any_of(columns.begin(), columns.end(), is_quantity);
  if (!any || !has_role(columns, Role::kernel, false) || is_timeline_summary(columns)) return {};
  return columns;
}

}  // namespace roofline::table
