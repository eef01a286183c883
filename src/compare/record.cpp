#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "roofline/error.h"
#include "roofline/record.h"

namespace roofline {
namespace {

namespace json = simdjson::ondemand;

constexpr std::string_view kSchemaFamily = "roofline/report/";
constexpr std::string_view kSchema = "roofline/report/1";

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors begin UTF-8 with it

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

// ---------------------------------------------------------------- from a report in memory

std::optional<double> dram_total(const Work& work) { return work.level(MemoryLevel::dram).total.get(); }

void copy_work(const Work& work, KernelRecord& out) {
  out.launches = static_cast<std::uint64_t>(std::llround(std::clamp(work.launches, 0.0, kExactIntegers)));
  out.time_s = work.time.get();
  const auto flops = work.flops();
  out.flops = flops.get();
  out.flops_bound = flops ? flops.bound() : Bound::exact;
  for (const auto& op : work.operations)
    if (op.operations) out.ops[to_string(op.precision)] += op.operations.value();
  const auto& dram = work.level(MemoryLevel::dram).total;
  out.dram_bytes = dram_total(work);
  out.dram_bound = dram ? dram.bound() : Bound::exact;
  out.link_bytes = work.link.bus_bytes.get();
}

void copy_placement(const Placement& p, KernelRecord& out) {
  out.roof_time_s = p.roof_time_s;
  out.fraction = p.fraction;
  out.fraction_upper = p.fraction_upper;
  out.bound = p.bound;
  out.binding = p.binding;
  out.regime = p.regime;
  out.ceiling = p.ceiling;
  out.clock_hz = p.clock_hz;
  out.limiter = p.limiter;
  out.position = p.position;
  out.reason = p.reason;
  out.look = p.look;
  out.gain_s = p.gain_s;
}

KernelRecord record_of(const KernelRow& row) {
  KernelRecord out;
  out.name = row.name;
  out.full_name = row.full_name;
  out.op = row.op;
  out.grid = row.grid;
  out.block = row.block;
  out.device = row.device;
  out.time_share = row.time_share;
  out.time_basis = row.time_basis;
  copy_work(row.group.work, out);
  if (out.time_s) out.launch_time_s = row.group.time_s;
  copy_placement(row.group.placement, out);
  if (row.datasheet) out.fraction_datasheet = row.datasheet->fraction;
  return out;
}

// ---------------------------------------------------------------- from JSON

template <typename Enum, std::size_t N>
Enum enumerator(std::string_view text, const std::array<Enum, N>& known, Enum otherwise) {
  for (const auto value : known)
    if (to_string(value) == text) return value;
  return otherwise;  // of a later minor version: readers ignore what they do not know
}

constexpr std::array kTimeBases = {TimeBasis::unknown,  TimeBasis::profiled_locked, TimeBasis::profiled,
                                   TimeBasis::timeline, TimeBasis::given,           TimeBasis::model};
constexpr std::array kBounds = {Bound::exact, Bound::lower, Bound::upper};
constexpr std::array kRegimes = {Regime::unknown, Regime::memory, Regime::compute, Regime::link};
constexpr std::array kCeilings = {CeilingKind::datasheet, CeilingKind::at_clock, CeilingKind::measured};
constexpr std::array kPositions = {
    Position::unplaced,           Position::memory_optimal, Position::memory_suboptimal,  Position::compute_optimal,
    Position::compute_suboptimal, Position::latency_bound,  Position::communication_bound};

// Where the reader is: "kernels[12].roof.fraction".
class Place {
 public:
  class Step {
   public:
    Step(Place& place, std::string_view key) : place_(place), size_(place.text_.size()) {
      if (size_ > 0) place_.text_ += '.';
      place_.text_ += key.substr(0, kMaxKey);
    }
    Step(Place& place, std::size_t index) : place_(place), size_(place.text_.size()) {
      fmt::format_to(std::back_inserter(place_.text_), "[{}]", index);
    }
    // What is unwound by an error stays: it names the place.
    ~Step() {
      if (std::uncaught_exceptions() == exceptions_) place_.text_.resize(size_);
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    static constexpr std::size_t kMaxKey = 40;
    Place& place_;
    std::size_t size_;
    int exceptions_ = std::uncaught_exceptions();
  };
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A fault that has a place, but no label and offset yet.
struct Fault {
  std::string kind, found, expected;
};

class RecordReader {
 public:
  RecordReader(std::string_view text, const std::string& label)
      : label_(label),
        skipped_(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0),
        text_(text.substr(skipped_)),
        size_(text.size() - skipped_) {}

  StepRecord read() {
    try {
      document_ = parser_.iterate(text_);
      opened_ = true;
      read_document();
      // The end of the text is the one place that has no location.
      if (document_.current_location().error() != simdjson::OUT_OF_BOUNDS)
        throw Fault{"not-json", "more text after the report", "the end of the file"};
    } catch (const Fault& fault) {
      refuse(fault, offset());
    } catch (const simdjson::simdjson_error& error) {
      const bool cut =
          error.error() == simdjson::INCOMPLETE_ARRAY_OR_OBJECT || error.error() == simdjson::UNCLOSED_STRING;
      refuse(explain(error.error()), cut ? std::optional<std::uint64_t>(size_) : offset());
    }
    return std::move(record_);
  }

 private:
  // ------------------------------------------------------------ faults

  std::optional<std::uint64_t> offset() {
    const char* at = nullptr;
    if (!opened_) return std::nullopt;
    if (document_.current_location().get(at) != simdjson::SUCCESS) return std::nullopt;
    const auto distance = at - text_.data();
    if (distance < 0 || static_cast<std::size_t>(distance) > size_) return std::nullopt;
    return static_cast<std::uint64_t>(distance);
  }

  [[noreturn]] void refuse(const Fault& fault, std::optional<std::uint64_t> offset) {
    InputProblem problem;
    problem.kind = fault.kind;
    problem.path = label_;
    if (offset) problem.offset = *offset + skipped_;
    problem.found = place_.text().empty() ? fault.found : fmt::format("{}: {}", place_.text(), fault.found);
    problem.expected = fault.expected;
    problem.action = fault.kind == "unknown-schema" ? "read it with the version of roofline that wrote it"
                                                    : "write it again with roofline report --json";
    throw InputError(std::move(problem));
  }

  static Fault explain(simdjson::error_code code) {
    using simdjson::error_code;
    switch (code) {
      case error_code::INCORRECT_TYPE:
        return {"wrong-type", "a value of another type", "what schema/report-1.json says"};
      case error_code::NUMBER_ERROR:
      case error_code::NUMBER_OUT_OF_RANGE:
        return {"not-a-number", "a number that is none", "a finite number or null"};
      case error_code::CAPACITY:
      case error_code::MEMALLOC:
        return {"too-large", "more text than can be read at once", "a report of less than 4 GiB"};
      case error_code::UTF8_ERROR:
        return {"not-json", "text that is not UTF-8", "JSON in UTF-8"};
      case error_code::EMPTY:
        return {"not-json", "an empty file", "a JSON report"};
      default:
        return {"not-json", fmt::format("a fault in the JSON text ({})", simdjson::error_message(code)),
                "a complete JSON report"};
    }
  }

  // ------------------------------------------------------------ values

  template <typename Visit>
  void each_field(json::value value, Visit visit) {
    if (value.is_null()) return;
    for (auto field : value.get_object()) {
      const std::string_view key = field.unescaped_key();
      const Place::Step step(place_, key);
      visit(key, field.value());
    }
  }

  template <typename Visit>
  void each_element(json::value value, Visit visit) {
    if (value.is_null()) return;
    std::size_t index = 0;
    for (auto element : value.get_array()) {
      const Place::Step step(place_, index++);
      visit(element.value());
    }
  }

  static std::optional<double> number(json::value value) {
    if (value.is_null()) return std::nullopt;
    const double number = value.get_double();
    if (!std::isfinite(number)) throw Fault{"not-a-number", "a number that is not finite", "a finite number or null"};
    return number;
  }

  // Times, counts, fractions: none of them is ever below zero, or so large that sums are no longer finite.
  static std::optional<double> amount(json::value value) {
    constexpr double kLargest = 1e30;
    const auto n = number(value);
    if (n && *n > kLargest) throw Fault{"out-of-range", fmt::format("{}", *n), "a number below 1e30, or null"};
    if (n && *n < 0) throw Fault{"out-of-range", fmt::format("{}", *n), "a number that is not negative, or null"};
    return n;
  }

  static std::uint64_t whole(json::value value, std::uint64_t otherwise) {
    const auto n = amount(value);
    if (!n) return otherwise;
    if (*n > kExactIntegers) throw Fault{"out-of-range", fmt::format("{}", *n), "a whole number below 2^53"};
    return static_cast<std::uint64_t>(std::llround(*n));
  }

  static std::string text(json::value value) {
    if (value.is_null()) return {};
    return std::string(std::string_view(value.get_string()));
  }

  static std::optional<bool> flag(json::value value) {
    if (value.is_null()) return std::nullopt;
    return static_cast<bool>(value.get_bool());
  }

  template <typename Enum, std::size_t N>
  static Enum word(json::value value, const std::array<Enum, N>& known, Enum otherwise) {
    if (value.is_null()) return otherwise;
    return enumerator(value.get_string(), known, otherwise);
  }

  Dim3 dimensions(json::value value) {
    std::array<std::uint64_t, 3> d{};
    std::size_t n = 0;
    each_element(value, [&](json::value element) {
      if (n >= d.size()) throw Fault{"wrong-type", "more than three dimensions", "an array of three whole numbers"};
      d[n++] = whole(element, 0);
    });
    if (n != 0 && n != d.size())
      throw Fault{"wrong-type", fmt::format("{} of three dimensions", n), "an array of three whole numbers"};
    return {d[0], d[1], d[2]};
  }

  // ------------------------------------------------------------ the document

  void read_document() {
    bool has_schema = false;
    bool has_kernels = false;
    for (auto field : document_.get_object()) {
      const std::string_view key = field.unescaped_key();
      const Place::Step step(place_, key);
      json::value value = field.value();
      if (key == "schema") {
        check_schema(text(value));
        has_schema = true;
      } else if (key == "tool") {
        read_tool(value);
      } else if (key == "inputs") {
        read_names(value, "path", record_.inputs);
      } else if (key == "machines") {
        read_names(value, "name", record_.machines);
      } else if (key == "kernels") {
        has_kernels = true;
        if (value.is_null()) throw Fault{"wrong-type", "null", "an array of kernels"};
        each_element(value, [&](json::value kernel) { read_kernel(kernel); });
      } else if (key == "total") {
        read_total(value);
      }
    }
    if (!has_schema) throw Fault{"not-a-report", "no \"schema\"", fmt::format("\"schema\": \"{}\"", kSchema)};
    if (!has_kernels) throw Fault{"missing-key", "no \"kernels\"", "an array of kernels"};
  }

  static void check_schema(const std::string& schema) {
    if (schema == kSchema) return;
    const auto found = fmt::format("\"{}\"", schema.substr(0, 60));
    if (schema.starts_with(kSchemaFamily)) throw Fault{"unknown-schema", found, fmt::format("\"{}\"", kSchema)};
    throw Fault{"not-a-report", found, fmt::format("\"{}\"", kSchema)};
  }

  void read_tool(json::value value) {
    each_field(value, [&](std::string_view key, json::value v) {
      if (key == "version") record_.tool_version = text(v);
      if (key == "catalogue_version") record_.catalogue_version = text(v);
    });
  }

  void read_names(json::value value, std::string_view wanted, std::vector<std::string>& out) {
    each_element(value, [&](json::value element) {
      out.emplace_back();
      each_field(element, [&](std::string_view key, json::value v) {
        if (key == wanted) out.back() = text(v);
      });
    });
  }

  void read_total(json::value value) {
    each_field(value, [&](std::string_view key, json::value v) {
      if (key == "time_s")
        record_.time_s = amount(v);
      else if (key == "roof_time_s")
        record_.roof_time_s = amount(v);
      else if (key == "fraction")
        record_.fraction = amount(v);
      else if (key == "wall_s")
        record_.wall_s = amount(v);
      else if (key == "bound")
        record_.bound = word(v, kBounds, Bound::exact);
      else if (key == "placed_time_share")
        record_.placed_time_share = amount(v).value_or(0);
      else if (key == "ceiling")
        record_.ceiling = word(v, kCeilings, CeilingKind::datasheet);
    });
  }

  void read_kernel(json::value value) {
    if (value.is_null()) throw Fault{"wrong-type", "null", "a kernel"};
    KernelRecord k;
    each_field(value, [&](std::string_view key, json::value v) { read_kernel_field(key, v, k); });
    record_.kernels.push_back(std::move(k));
  }

  void read_kernel_field(std::string_view key, json::value v, KernelRecord& k) {
    if (key == "name")
      k.name = text(v);
    else if (key == "full_name")
      k.full_name = text(v);
    else if (key == "operator")
      k.op = text(v);
    else if (key == "grid")
      k.grid = dimensions(v);
    else if (key == "block")
      k.block = dimensions(v);
    else if (key == "device")
      k.device = static_cast<std::uint32_t>(std::min<std::uint64_t>(whole(v, 0), ~0U));
    else if (key == "launches")
      k.launches = whole(v, 1);
    else if (key == "time_s")
      k.time_s = amount(v);
    else if (key == "time_stats")
      read_spread(v, k);
    else if (key == "time_share")
      k.time_share = amount(v).value_or(0);
    else if (key == "time_basis")
      k.time_basis = word(v, kTimeBases, TimeBasis::unknown);
    else if (key == "flops")
      read_flops(v, k);
    else if (key == "ops")
      read_operations(v, k);
    else if (key == "bytes")
      read_bytes(v, k);
    else if (key == "roof")
      read_roof(v, k);
    else if (key == "roof_datasheet")
      read_datasheet(v, k);
    else if (key == "clock_hz")
      k.clock_hz = amount(v);
    else if (key == "limiter")
      k.limiter = text(v);
    else if (key == "position")
      k.position = word(v, kPositions, Position::unplaced);
    else if (key == "reason")
      k.reason = text(v);
    else if (key == "look")
      k.look = flag(v).value_or(false);
    else if (key == "gain_s")
      k.gain_s = amount(v);
  }

  void read_spread(json::value value, KernelRecord& k) {
    std::optional<double> min, median, max;
    each_field(value, [&](std::string_view key, json::value v) {
      if (key == "min")
        min = amount(v);
      else if (key == "median")
        median = amount(v);
      else if (key == "max")
        max = amount(v);
    });
    if (min && median && max) k.launch_time_s = Spread{*min, *median, *max};
  }

  void read_operations(json::value value, KernelRecord& k) {
    each_field(value, [&](std::string_view key, json::value v) {
      if (const auto n = amount(v)) k.ops[std::string(key)] += *n;
    });
  }

  void read_flops(json::value value, KernelRecord& k) {
    each_field(value, [&](std::string_view key, json::value v) {
      if (key == "total")
        k.flops = amount(v);
      else if (key == "by_precision")
        read_operations(v, k);
      else if (key == "bound")
        k.flops_bound = word(v, kBounds, Bound::exact);
    });
  }

  void read_bytes(json::value value, KernelRecord& k) {
    each_field(value, [&](std::string_view level, json::value traffic) {
      if (level == "dram")
        each_field(traffic, [&](std::string_view key, json::value v) {
          if (key == "total")
            k.dram_bytes = amount(v);
          else if (key == "bound")
            k.dram_bound = word(v, kBounds, Bound::exact);
        });
      else if (level == "link")
        each_field(traffic, [&](std::string_view key, json::value v) {
          if (key == "bus_bytes") k.link_bytes = amount(v);
        });
    });
  }

  void read_roof(json::value value, KernelRecord& k) {
    each_field(value, [&](std::string_view key, json::value v) {
      if (key == "ceiling")
        k.ceiling = word(v, kCeilings, CeilingKind::datasheet);
      else if (key == "time_s")
        k.roof_time_s = amount(v);
      else if (key == "fraction")
        k.fraction = amount(v);
      else if (key == "fraction_upper")
        k.fraction_upper = amount(v);
      else if (key == "bound")
        k.bound = word(v, kBounds, Bound::exact);
      else if (key == "binding")
        k.binding = text(v);
      else if (key == "regime")
        k.regime = word(v, kRegimes, Regime::unknown);
    });
  }

  void read_datasheet(json::value value, KernelRecord& k) {
    each_field(value, [&](std::string_view key, json::value v) {
      if (key == "fraction") k.fraction_datasheet = amount(v);
    });
  }

  std::string label_;
  std::size_t skipped_;  // before the text
  simdjson::padded_string text_;
  std::size_t size_;
  json::parser parser_;
  json::document document_;
  bool opened_ = false;
  Place place_;
  StepRecord record_;
};

}  // namespace

StepRecord record_of(const Report& report) {
  StepRecord out;
  out.tool_version = ROOFLINE_VERSION;
  out.catalogue_version = report.catalogue_version;
  for (const auto& input : report.inputs) out.inputs.push_back(input.path);
  for (const auto& machine : report.machines) out.machines.push_back(machine.name);
  out.kernels.reserve(report.rows.size());
  bool timed = false;
  for (const auto& row : report.rows) {
    out.kernels.push_back(record_of(row));
    timed = timed || out.kernels.back().time_s.has_value();
  }
  const auto& total = report.total;
  if (timed) out.time_s = total.time_s;  // a sum over no known time is not zero
  if (total.fraction) out.roof_time_s = total.roof_time_s;
  out.fraction = total.fraction;
  out.bound = total.bound;
  out.placed_time_share = timed ? total.placed_time_share : 0;
  out.ceiling = total.ceiling;
  return out;
}

StepRecord read_record(std::string_view text, const std::string& label) { return RecordReader(text, label).read(); }

}  // namespace roofline
