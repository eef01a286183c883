#include "profile/ncu_rep_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "roofline/metrics.h"

namespace roofline::ncu_rep {
namespace {

constexpr double kNotCollected = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kWordBits = 64;
constexpr std::uint32_t kMetric = 13;  // field of a result
constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};

// The name id of a metric where it stands first and is below 2^14, as in nearly all metrics of real files; else
// kElsewhere, which leaves it to the general way. The one place that looks past protozero: a file has millions of
// metrics of which most need no more than this.
std::uint64_t leading_name(std::string_view metric) {
  constexpr char kNameTag = 0x08;  // field 1, varint
  if (metric.size() < 3 || metric[0] != kNameTag) return kElsewhere;
  const auto low = static_cast<unsigned char>(metric[1]);
  const auto high = static_cast<unsigned char>(metric[2]);
  if (low < 0x80) return low;
  return high < 0x80 ? (low & 0x7FU) | std::uint64_t{high} << 7U : kElsewhere;
}

Dim3 dim3(Message m) {
  Dim3 d;
  while (m.next()) {
    switch (m.field()) {
      case 1:
        d.x = m.varint();
        break;
      case 2:
        d.y = m.varint();
        break;
      case 3:
        d.z = m.varint();
        break;
      default:
        break;
    }
  }
  return d;
}

// Flags (1,1): the profiler held the clocks at base; (0,0): it did not.
TimeBasis clock_basis(Message m) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  while (m.next()) {
    if (m.field() == 1) first = m.varint();
    if (m.field() == 2) second = m.varint();
  }
  if (first == 1 && second == 1) return TimeBasis::profiled_locked;
  return first == 0 && second == 0 ? TimeBasis::profiled : TimeBasis::unknown;
}

// The text of the attributes' message, for ranges that were pushed without a plain name.
std::string_view attribute_message(Message attributes) {
  std::string_view text;
  while (attributes.next()) {
    if (attributes.field() != 5) continue;
    for (Message message = attributes.message(); message.next();) {
      if (message.field() == 2 && message.is_bytes()) text = message.bytes();
    }
  }
  return text;
}

std::string_view range_name(Message range) {
  std::string_view name;
  std::string_view message;
  while (range.next()) {
    if (range.field() == 1 && range.is_bytes()) name = range.bytes();
    if (range.field() == 2 && range.is_bytes()) message = attribute_message(range.message());
  }
  return name.empty() ? message : name;
}

}  // namespace

MetricEntry read_metric(Message m) {
  MetricEntry metric;
  bool has_name = false;
  const auto start = m.offset();
  while (m.next()) {
    if (m.field() == 1) {
      metric.name = m.varint();
      has_name = true;
    } else if (m.field() == 2) {
      metric.value = read_value(m.message());
    } else if (m.field() == 3 && has_name && (metric.value.is_number || metric.value.is_text)) {
      break;
    }
  }
  if (!has_name) refuse_at_byte(m.input(), start, "missing-field", "a metric without a name id");
  return metric;
}

// --- MetricCollector ---

MetricCollector::MetricCollector(const std::vector<std::string_view>& strings, MetricNames& names)
    : names_(strings.size()), wanted_(strings.size()) {
  std::vector<std::optional<MetricId>> wanted(strings.size());
  std::string scratch;
  for (std::size_t i = 0; i < strings.size(); ++i) {
    wanted[i] = names.id(valid_utf8(strings[i], scratch));
    names_[i].fact = fact_of(strings[i]);
    wanted_[i] = static_cast<char>(wanted[i] || names_[i].fact != Fact::none);
    if (wanted[i]) ids_.push_back(*wanted[i]);
  }
  std::sort(ids_.begin(), ids_.end());
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  for (std::size_t i = 0; i < strings.size(); ++i) {
    if (!wanted[i]) continue;
    names_[i].rank = static_cast<std::uint32_t>(std::lower_bound(ids_.begin(), ids_.end(), *wanted[i]) - ids_.begin());
  }
  numbers_.resize(ids_.size());
  present_.resize(ids_.size() / kWordBits + 1);
}

void MetricCollector::add(std::uint32_t rank, const Value& value) {
  if (value.is_text) {
    texts_.emplace_back(ids_[rank], value.text);
    return;
  }
  auto& word = present_[rank / kWordBits];
  const std::uint64_t bit = std::uint64_t{1} << rank % kWordBits;
  if ((word & bit) != 0) earlier_.emplace_back(ids_[rank], numbers_[rank]);
  count_ += (word & bit) == 0 ? 1 : 0;
  word |= bit;
  numbers_[rank] = value.is_number ? value.number : kNotCollected;
}

void MetricCollector::hand_over(MetricSet& metrics) {
  metrics.reserve(count_ + earlier_.size());
  for (const auto& [id, number] : earlier_) metrics.set(id, number);
  for (std::size_t w = 0; w < present_.size(); ++w) {
    for (std::uint64_t bits = present_[w]; bits != 0; bits &= bits - 1) {
      const std::size_t rank = w * kWordBits + static_cast<std::size_t>(std::countr_zero(bits));
      metrics.set(ids_[rank], numbers_[rank]);
    }
  }
  metrics.finish();
  hand_over_texts(metrics);
  metrics.pack(last_values_);
  last_values_ = metrics;
  std::fill(present_.begin(), present_.end(), 0);
  earlier_.clear();
  texts_.clear();
  count_ = 0;
}

// Texts (names of limiting metrics, the device's name) are long and rarely differ between launches.
void MetricCollector::hand_over_texts(MetricSet& metrics) {
  if (texts_ != last_texts_) {
    last_set_ = {};
    for (const auto& [id, text] : texts_) last_set_.set_text(id, valid_utf8(text, scratch_));
    last_set_.finish();
    last_texts_ = texts_;
  }
  metrics.share_texts(last_set_);
}

// --- ResultReader ---

ResultReader::ResultReader(const Input& input, const Index& index, MetricNames& names, Profile& profile, bool tolerant)
    : input_(input), index_(index), profile_(profile), tolerant_(tolerant), collector_(index.strings, names) {}

void ResultReader::read(const Entry& entry) {
  Launch launch;
  try {
    launch = parse(entry);
  } catch (const InputError&) {
    MetricSet dropped;
    collector_.hand_over(dropped);  // leave nothing behind for the next result
    if (entry.extra) return;
    throw;
  }
  if (entry.extra && metrics_ == 0) return;
  duplicates_ += launch.metrics.duplicates();
  if (launch.failed) {
    profile_.warnings.push_back({"failed-launch",
                                 fmt::format("launch {} ({}) failed under the profiler; its values are not used",
                                             launch.ordinal, launch.function.empty() ? launch.name : launch.function),
                                 launch.ordinal});
  }
  profile_.launches.push_back(std::move(launch));
}

Launch ResultReader::parse(const Entry& entry) {
  facts_.clear();
  thread_ = 0;
  metrics_ = 0;
  Launch launch;
  launch.process = entry.process;
  launch.offset = entry.offset;
  launch.size = entry.size;
  launch.time_basis = TimeBasis::profiled;
  for (Message m(input_.text().substr(entry.offset, entry.size), input_); m.next();) {
    m.field() == kMetric ? metric(m.message()) : field(m, launch);
  }
  if (launch.name.empty()) launch.name = launch.function.empty() ? launch.mangled : launch.function;
  collector_.hand_over(launch.metrics);
  if (entry.extra && metrics_ == 0) return launch;
  count_blocks(launch);
  launch.failed = is_failed(launch);
  launch.device = device();
  launch.ordinal = profile_.launches.size();
  return launch;
}

void ResultReader::field(Message& m, Launch& launch) {
  switch (m.field()) {
    case 1:
      thread_ = m.varint();
      break;
    case 5:
      launch.mangled = intern(m.bytes());
      break;
    case 6:
      launch.function = intern(m.bytes());
      break;
    case 7:
      launch.name = intern(m.bytes());
      break;
    case 10:
      launch.grid = dim3(m.message());
      break;
    case 11:
      launch.block = dim3(m.message());
      break;
    case 21:
      ranges(m.message(), launch);
      break;
    case 22:
      launch.context = m.varint();
      break;
    case 23:
      launch.stream = m.varint();
      break;
    case 25:
      launch.time_basis = clock_basis(m.message());
      break;
    default:
      break;  // sections, rules, call stacks and all that newer versions add
  }
}

void ResultReader::metric(const Message& m) {
  ++metrics_;
  // Most metrics are not wanted: their values are not even looked at.
  if (const auto name = leading_name(m.rest()); name < collector_.names() && !collector_.wants(name)) return;
  const MetricEntry metric = read_metric(m);
  if (metric.name >= collector_.names()) {
    if (tolerant_) {
      ++unresolved_;
      return;
    }
    refuse_at_byte(input_, m.offset(), "bad-name-id", fmt::format("a metric with name {}", metric.name),
                   fmt::format("a name below {}", collector_.names()),
                   "profile again or fetch the file again; --partial shows what can be read");
  }
  const auto& name = collector_.name(metric.name);
  if (name.fact != Fact::none) {
    if (metric.value.is_text && name.fact == Fact::display_name) facts_.set_name(metric.value.text);
    if (!metric.value.is_text) facts_.set(name.fact, metric.value.is_number ? metric.value.number : kNotCollected);
  }
  if (name.rank == MetricCollector::kUnwanted) return;
  inexact_ += metric.value.inexact ? 1 : 0;
  collector_.add(name.rank, metric.value);
}

// The ranges that the launching thread had open, outermost first as stored.
void ResultReader::ranges(Message state, Launch& launch) {
  while (state.next()) {
    if (state.field() == 2 && state.is_bytes()) thread_ranges(state.message(), launch);
  }
  for (auto& name : launch.nvtx) name = intern(name);
}

void ResultReader::thread_ranges(Message thread, Launch& launch) const {
  while (thread.next()) {
    if (thread.field() == 1 && thread.is_varint() && thread.varint() != thread_) return;
    if (thread.field() != 2 || !thread.is_bytes()) continue;
    for (Message domain = thread.message(); domain.next();) {
      if (domain.field() != 3 || !domain.is_bytes()) continue;
      if (const auto name = range_name(domain.message()); !name.empty()) launch.nvtx.push_back(name);
    }
  }
}

// Index of the device in the profile. Attributes stand in every result and are right in files of several GPUs; the
// session's list fills what a result lacks.
std::uint32_t ResultReader::device() {
  DeviceInfo base;
  const auto id = facts_.device_id();
  const auto& known = index_.session.devices;
  for (const auto& device : known) {
    if (id ? device.id == *id : known.size() == 1) base = device;
  }
  const DeviceInfo device = facts_.over(std::move(base));
  auto& all = profile_.devices;
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& d) { return same_device(d, device); });
  if (it != all.end()) return static_cast<std::uint32_t>(it - all.begin());
  all.push_back(device);
  return static_cast<std::uint32_t>(all.size() - 1);
}

// Reports of the first versions give the grid in threads. Their metric tells: it counts the blocks.
void ResultReader::count_blocks(Launch& launch) {
  static const auto kGridSize = MetricCatalogue::instance().require("launch__grid_size");
  const auto blocks = launch.metrics.get(kGridSize);
  auto& grid = launch.grid;
  const auto& block = launch.block;
  if (!blocks || block.count() == 0 || static_cast<double>(grid.count()) == *blocks) return;
  const Dim3 divided = {grid.x / block.x, grid.y / block.y, grid.z / block.z};
  const bool whole = divided.x * block.x == grid.x && divided.y * block.y == grid.y && divided.z * block.z == grid.z;
  if (whole && static_cast<double>(divided.count()) == *blocks) grid = divided;
}

// Ranges and graphs have no grid either, but they have a time.
bool ResultReader::is_failed(const Launch& launch) const {
  if (launch.grid != Dim3{} || launch.block != Dim3{}) return false;
  if (launch.function == "range" || launch.function == "graph") return false;
  return !facts_.get(Fact::time);
}

std::string_view ResultReader::intern(std::string_view text) {
  return profile_.strings->intern(valid_utf8(text, scratch_));
}

void ResultReader::finish() {
  if (duplicates_ != 0) {
    profile_.warnings.push_back(
        {"duplicate-metrics",
         fmt::format("{} metric values stand twice in their result; the last one counts", duplicates_), std::nullopt});
  }
  if (inexact_ != 0) {
    profile_.warnings.push_back(
        {"inexact-integers", fmt::format("{} integers beyond 2^53 are rounded", inexact_), std::nullopt});
  }
  if (unresolved_ != 0) {
    profile_.warnings.push_back(
        {"unresolved-names", fmt::format("{} metric values are lost: their names stand behind the fault", unresolved_),
         std::nullopt});
  }
}

}  // namespace roofline::ncu_rep
