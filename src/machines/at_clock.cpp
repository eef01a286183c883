#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "roofline/machines.h"
#include "roofline/metrics.h"

namespace roofline {
namespace {

// What a metric gives to a ceiling.
enum class Use : std::uint8_t {
  peak,        // operations per clock of all SMs, times factor
  plain_peak,  // the same, to be trusted on chips without sparsity only
  sm_clock,    // rank: lower is better
  dram_clock,
  lts_clock,
  l1_clock,
  dram,  // bytes per clock, times factor
  lts2xbar,
  lts_t,
  lts_t_slice,  // per slice
  slices,
  l1,
  sm_count,
};

struct Term {
  std::string metric;
  Use use = Use::peak;
  double factor = 1;
  std::size_t index = 0;  // precision of a peak, rank of a clock
  MetricId id = 0;
  std::string source;  // "2 x sm__...peak_sustained"
};

struct PeakMetric {
  std::string_view precision;
  std::string_view metric;
  double factor;
};

// CUDA-core peaks count instructions: 2 FLOPs per FMA, 4 per packed half2 FMA. The derived__ names already carry the
// factor. Source: NVIDIA's roofline sections.
constexpr std::array kCudaCore = std::to_array<PeakMetric>({
    {"fp32.vector", "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", 2},
    {"fp32.vector", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", 2},
    {"fp32.vector", "derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", 1},
    {"fp64.vector", "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained", 2},
    {"fp64.vector", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained", 2},
    {"fp64.vector", "derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2", 1},
    {"fp16.vector", "sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained", 4},
    {"fp16.vector", "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained", 4},
    {"fp16.vector", "derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4", 1},
});

// Leaves of the tensor counters, all chips. Where a type has several paths the best one is its roof (HGMMA, not HMMA,
// on GH100). Names: sm__ops_path_tensor_<leaf>[_sparsity_off|_sparsity_on].sum.peak_sustained.
struct TensorLeaf {
  std::string_view precision;
  std::string_view leaf;
  bool split_by_sparsity;
};
constexpr std::array kTensorLeaves = std::to_array<TensorLeaf>({
    {"fp64.tensor", "src_fp64", false},
    {"int1.tensor", "src_int1", false},
    {"int1.tensor", "op_bgmma_src_int1", false},
    {"int1.tensor", "op_bmma_src_int1", false},
    {"fp16_bf16_tf32.tensor", "src_fp16_bf16_tf32_dst_fp32", false},
    // Turing's merged counter can only count FP16: the chip has no BF16 or TF32.
    {"fp16.tensor", "src_fp16_bf16_tf32_dst_fp32", false},
    {"bf16.tensor", "src_bf16_dst_fp32", true},
    {"bf16.tensor", "op_hmma_src_bf16_dst_fp32", true},
    {"bf16.tensor", "op_hgmma_src_bf16_dst_fp32", true},
    {"bf16.tensor", "op_utchmma_src_bf16_dst_fp32", true},
    {"fp16.tensor", "src_fp16_dst_fp32", true},
    {"fp16.tensor", "op_hmma_src_fp16_dst_fp32", true},
    {"fp16.tensor", "op_hgmma_src_fp16", true},
    {"fp16.tensor", "op_utchmma_src_fp16_dst_fp32", true},
    {"fp16.acc16.tensor", "src_fp16_dst_fp16", true},
    {"fp16.acc16.tensor", "op_hmma_src_fp16_dst_fp16", true},
    {"fp16.acc16.tensor", "op_hgmma_src_fp16", true},
    {"fp16.acc16.tensor", "op_utchmma_src_fp16_dst_fp16", true},
    {"tf32.tensor", "src_tf32_dst_fp32", true},
    {"tf32.tensor", "op_hmma_src_tf32_dst_fp32", true},
    {"tf32.tensor", "op_hgmma_src_tf32_dst_fp32", true},
    {"tf32.tensor", "op_utchmma_src_tf32_dst_fp32", true},
    {"fp8.tensor", "src_fp8", true},
    {"fp8.tensor", "src_fp8_dst_fp32", true},
    {"fp8.tensor", "op_utcqmma_src_fp8_dst_fp32", true},
    {"fp8.acc16.tensor", "src_fp8_dst_fp16", true},
    {"fp8.acc16.tensor", "op_utcqmma_src_fp8_dst_fp16", true},
    {"fp4_fp6_fp8.tensor", "op_utcqmma_src_fp4_fp6_fp8_dst_fp32", true},
    {"fp4_fp6_fp8.acc16.tensor", "op_utcqmma_src_fp4_fp6_fp8_dst_fp16", true},
    {"fp8.tensor", "op_utcqmma_src_fp4_fp6_fp8_dst_fp32", true},
    {"fp6.tensor", "op_utcqmma_src_fp4_fp6_fp8_dst_fp32", true},
    {"fp4_fp6.tensor", "src_fp4_fp6_dst_fp32", true},
    {"fp4_fp6.tensor", "op_utcqmma_src_fp4_fp6_dst_fp32", true},
    {"fp4_fp6.acc16.tensor", "src_fp4_fp6_dst_fp16", true},
    {"fp4_fp6.acc16.tensor", "op_utcqmma_src_fp4_fp6_dst_fp16", true},
    {"fp6.tensor", "src_fp4_fp6_dst_fp32", true},
    {"fp6.tensor", "op_utcqmma_src_fp4_fp6_dst_fp32", true},
    {"fp4.tensor", "src_fp4_dst_fp32", true},
    {"fp4.tensor", "op_utcomma_src_fp4_dst_fp32", true},
    {"int8.tensor", "src_int8", true},
    {"int8.tensor", "op_imma_src_int8", true},
    {"int8.tensor", "op_igmma_src_int8", true},
    {"int8.tensor", "op_utcimma_src_int8", true},
    {"int4.tensor", "src_int4", true},
});
// GV100 and TU10x have no sparsity, hence no suffix. On later chips the same names are parents whose peak is the
// sparse one.
constexpr std::array kPlainLeaves = std::to_array<PeakMetric>({
    {"fp16.tensor", "sm__ops_path_tensor_src_fp16_dst_fp32.sum.peak_sustained", 1},
    {"fp16.acc16.tensor", "sm__ops_path_tensor_src_fp16_dst_fp16.sum.peak_sustained", 1},
    {"int8.tensor", "sm__ops_path_tensor_src_int8.sum.peak_sustained", 1},
    {"int4.tensor", "sm__ops_path_tensor_src_int4.sum.peak_sustained", 1},
});
bool without_sparsity(std::string_view compute_capability) { return compute_capability.starts_with("7."); }

struct OtherMetric {
  std::string_view metric;
  Use use;
  double factor;
  std::size_t rank;
};
constexpr double kSectorBytes = 32;
constexpr double kWritebackBytes = 128;
constexpr std::array kOthers = std::to_array<OtherMetric>({
    {"sm__cycles_elapsed.avg.per_second", Use::sm_clock, 1, 0},
    {"gpc__cycles_elapsed.avg.per_second", Use::sm_clock, 1, 1},
    {"smsp__cycles_elapsed.avg.per_second", Use::sm_clock, 1, 2},
    {"dram__cycles_elapsed.avg.per_second", Use::dram_clock, 1, 0},
    {"lts__cycles_elapsed.avg.per_second", Use::lts_clock, 1, 0},
    {"l1tex__cycles_elapsed.avg.per_second", Use::l1_clock, 1, 0},
    {"dram__bytes.sum.peak_sustained", Use::dram, 1, 0},
    {"lts__lts2xbar_cycles_active.sum.peak_sustained", Use::lts2xbar, kSectorBytes, 0},
    {"derived__lts__lts2xbar_bytes.sum.peak_sustained", Use::lts2xbar, 1, 0},
    {"lts__t_bytes.sum.peak_sustained", Use::lts_t, 1, 0},
    {"lts__t_sectors.sum.peak_sustained", Use::lts_t, kSectorBytes, 0},
    {"lts__t_sectors.avg.peak_sustained", Use::lts_t_slice, kSectorBytes, 0},
    {"device__attribute_l2s_count", Use::slices, 1, 0},
    {"l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained", Use::l1, kWritebackBytes, 0},
    {"l1tex__lsu_writeback_active_mem_lg.sum.peak_sustained", Use::l1, kWritebackBytes, 0},
    {"l1tex__lsu_writeback_active.sum.peak_sustained", Use::l1, kWritebackBytes, 0},
    {"derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.peak_sustained", Use::l1, 1, 0},
    {"derived__l1tex__lsu_writeback_bytes_mem_lg.sum.peak_sustained", Use::l1, 1, 0},
    {"derived__l1tex__lsu_writeback_bytes.sum.peak_sustained", Use::l1, 1, 0},
    {"launch__sm_count", Use::sm_count, 1, 0},
});

// All of the above with their ids, looked up once: a launch then costs one pass over its values.
class Terms {
 public:
  static const Terms& instance() {
    static const Terms terms;
    return terms;
  }

  struct Range {
    std::uint16_t first = 0, last = 0;
  };
  std::span<const Term> of(MetricId id) const {
    if (id >= ranges_.size()) return {};
    const auto range = ranges_[id];
    return std::span(terms_).subspan(range.first, range.last - range.first);
  }
  const std::vector<Precision>& precisions() const { return precisions_; }

 private:
  Terms() {
    for (const auto& m : kCudaCore) add_peak(m.precision, std::string(m.metric), m.factor, Use::peak);
    for (const auto& m : kPlainLeaves) add_peak(m.precision, std::string(m.metric), m.factor, Use::plain_peak);
    for (const auto& leaf : kTensorLeaves) add_leaf(leaf);
    for (const auto& m : kOthers) add(std::string(m.metric), m.use, m.factor, m.rank);
    std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.id < b.id; });
    ranges_.resize(MetricCatalogue::instance().size());
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      auto& range = ranges_[terms_[i].id];
      if (range.last == 0) range.first = static_cast<std::uint16_t>(i);
      range.last = static_cast<std::uint16_t>(i + 1);
    }
  }

  void add_leaf(const TensorLeaf& leaf) {
    const auto base = fmt::format("sm__ops_path_tensor_{}", leaf.leaf);
    if (!leaf.split_by_sparsity) return add_peak(leaf.precision, base + ".sum.peak_sustained", 1, Use::peak);
    add_peak(leaf.precision, base + "_sparsity_off.sum.peak_sustained", 1, Use::peak);
    add_peak(leaf.precision, base + "_sparsity_on.sum.peak_sustained", 1, Use::peak, true);
  }

  void add_peak(std::string_view key, std::string metric, double factor, Use use, bool sparse = false) {
    auto precision = *parse_precision(key);
    precision.sparse = sparse;
    auto it = std::find(precisions_.begin(), precisions_.end(), precision);
    if (it == precisions_.end()) it = precisions_.insert(it, precision);
    add(std::move(metric), use, factor, static_cast<std::size_t>(it - precisions_.begin()));
  }

  // A metric that no reader keeps cannot occur in a launch: it is left out rather than asked for.
  void add(std::string metric, Use use, double factor, std::size_t index) {
    const auto id = MetricCatalogue::instance().find(metric);
    if (!id) return;
    auto source = factor == 1 ? metric : fmt::format("{:g} x {}", factor, metric);
    terms_.push_back({std::move(metric), use, factor, index, *id, std::move(source)});
  }

  std::vector<Term> terms_;
  std::vector<Precision> precisions_;
  std::vector<Range> ranges_;
};

struct Value {
  double amount = 0;  // per clock, or hertz
  const Term* term = nullptr;

  explicit operator bool() const { return term != nullptr; }
  void take_larger(double v, const Term& t) {
    if (v > amount) *this = {v, &t};
  }
};

// What one launch's report says that bears on its roofs.
struct Found {
  std::vector<Value> peaks;  // per Terms::precisions(), operations per clock
  Value sm_clock, dram_clock, lts_clock, l1_clock;
  Value dram, lts2xbar, lts_t, lts_t_slice, slices, l1, sm_count;

  Found(const MetricSet& metrics, bool plain) : peaks(Terms::instance().precisions().size()), plain_(plain) {
    const auto& terms = Terms::instance();
    metrics.for_each([&](MetricId id, double value) {
      // Failed launches carry zeros and NaN.
      if (!(value > 0) || !std::isfinite(value)) return;
      for (const auto& term : terms.of(id)) take(term, value * term.factor);
    });
  }

 private:
  bool plain_;

  void take(const Term& term, double amount) {
    switch (term.use) {
      case Use::plain_peak:
        if (plain_) peaks[term.index].take_larger(amount, term);
        return;
      case Use::peak:
        return peaks[term.index].take_larger(amount, term);
      case Use::sm_clock:
        if (!sm_clock || term.index < sm_clock.term->index) sm_clock = {amount, &term};
        return;
      case Use::dram_clock:
        return dram_clock.take_larger(amount, term);
      case Use::lts_clock:
        return lts_clock.take_larger(amount, term);
      case Use::l1_clock:
        return l1_clock.take_larger(amount, term);
      case Use::dram:
        return dram.take_larger(amount, term);
      case Use::lts2xbar:
        return lts2xbar.take_larger(amount, term);
      case Use::lts_t:
        return lts_t.take_larger(amount, term);
      case Use::lts_t_slice:
        return lts_t_slice.take_larger(amount, term);
      case Use::slices:
        return slices.take_larger(amount, term);
      case Use::l1:
        return l1.take_larger(amount, term);
      case Use::sm_count:
        return sm_count.take_larger(amount, term);
    }
  }
};

class AtClock {
 public:
  AtClock(const Found& found, const DeviceInfo& device, const Machine* machine)
      : found_(found),
        device_(device),
        rated_(machine == nullptr ? nullptr : machine->ceiling(CeilingKind::datasheet)),
        rated_sms_(machine == nullptr ? std::nullopt : machine->sm_count) {
    if (machine != nullptr && !machine->rates.empty())
      rates_ = MachineCatalogue::instance().rates(machine->rates);
    else if (machine == nullptr)
      rates_ = chip_rates(device.compute_capability);
    find_sms();
  }

  Ceiling build() {
    ceiling_.kind = CeilingKind::at_clock;
    ceiling_.peaks.reserve(kExpectedPeaks);
    ceiling_.bandwidths.reserve(kMemoryLevels.size() + 1);
    if (found_.sm_clock) {
      ceiling_.sm_clock_hz = found_.sm_clock.amount;
      add_peaks_of_report();
      add_peaks_from_rates();
      add_peaks_scaled();
      add_l1_and_shared();
    }
    if (found_.dram_clock) ceiling_.memory_clock_hz = dram_clock();
    add_dram();
    add_l2();
    if (rated_ != nullptr) ceiling_.links = rated_->links;
    return std::move(ceiling_);
  }

 private:
  // A MIG slice or a green context has fewer SMs than the device: what launches may use counts.
  void find_sms() {
    const auto whole = device_.sm_count ? device_.sm_count : rated_sms_;
    if (whole) sms_ = *whole;
    if (!found_.sm_count) return;
    if (whole && found_.sm_count.amount < *whole) share_ = found_.sm_count.amount / *whole;
    sms_ = found_.sm_count.amount;
  }

  double clock() const { return found_.sm_clock.amount; }
  const std::string& clock_name() const { return found_.sm_clock.term->metric; }

  bool has(const Precision& p) const {
    return std::any_of(ceiling_.peaks.begin(), ceiling_.peaks.end(), [&](const Peak& k) { return k.precision == p; });
  }

  static std::string product(const Term& term, const std::string& clock, std::string_view rest = {}) {
    std::string text;
    text.reserve(term.source.size() + clock.size() + rest.size() + 3);
    text.append(term.source).append(" x ").append(clock).append(rest);
    return text;
  }

  std::string share_text() const {
    return share_ < 1 ? fmt::format(" x {:g} of {:g} SMs", sms_, sms_ / share_) : std::string();
  }

  void add_peaks_of_report() {
    const auto& precisions = Terms::instance().precisions();
    const auto share = share_text();
    for (std::size_t i = 0; i < precisions.size(); ++i)
      if (const auto& value = found_.peaks[i])
        ceiling_.peaks.push_back(
            {precisions[i], value.amount * share_ * clock(), product(*value.term, clock_name(), share), clock()});
  }

  void add_peaks_from_rates() {
    if (rates_ == nullptr || sms_ <= 0) return;
    const auto source =
        fmt::format("{:g} SMs x operations per clock and SM of {} x {}", sms_, rates_->id, clock_name());
    for (const auto& [precision, rate] : rates_->per_sm_clock)
      if (!has(precision)) ceiling_.peaks.push_back({precision, rate * sms_ * clock(), source, clock()});
    if (!rates_->sparsity.empty()) add_sparse_peaks(rates_->sparsity + " sparsity, " + source);
  }

  void add_sparse_peaks(const std::string& source) {
    const auto dense = ceiling_.peaks.size();
    for (std::size_t i = 0; i < dense; ++i) {
      auto p = ceiling_.peaks[i].precision;
      if (p.sparse || p.path != Path::tensor) continue;
      const double factor = rates_->sparse_factor(p.type);
      p.sparse = true;
      if (factor > 1 && !has(p)) ceiling_.peaks.push_back({p, ceiling_.peaks[i].ops_per_s * factor, source, clock()});
    }
  }

  void add_peaks_scaled() {
    if (rated_ == nullptr) return;
    for (const auto& peak : rated_->peaks) {
      if (!peak.clock_hz || has(peak.precision)) continue;
      const double part = rated_sms_ && sms_ > 0 ? sms_ / *rated_sms_ : 1;
      ceiling_.peaks.push_back({peak.precision, peak.ops_per_s * part * clock() / *peak.clock_hz,
                                peak.source + ", scaled to " + clock_name(), clock()});
    }
  }

  void add_l1_and_shared() {
    const auto& l1_clock = found_.l1_clock ? found_.l1_clock : found_.sm_clock;
    if (found_.l1)
      ceiling_.bandwidths.push_back({MemoryLevel::l1, "lsu_writeback", found_.l1.amount * share_ * l1_clock.amount,
                                     product(*found_.l1.term, l1_clock.term->metric, share_text())});
    if (rates_ == nullptr || sms_ <= 0) return;
    const auto add = [&](MemoryLevel level, Definition definition, double bytes) {
      ceiling_.bandwidths.push_back(
          {level, std::move(definition), bytes * sms_ * l1_clock.amount,
           fmt::format("{:g} SMs x {:g} B per clock x {}", sms_, bytes, l1_clock.term->metric)});
    };
    if (!found_.l1 && rates_->l1_bytes) add(MemoryLevel::l1, "lsu_writeback", *rates_->l1_bytes);
    if (rates_->shared_bytes) add(MemoryLevel::shared, "shared_wavefronts", *rates_->shared_bytes);
  }

  // Reports of 2018 on Pascal give the data rate of a pin where later ones give half of it: far above the rated clock.
  // With a peak per cycle in the report the two belong together, whichever it is.
  double dram_clock() const {
    constexpr double kFarAbove = 1.5;
    const double clock = found_.dram_clock.amount;
    const auto rated =
        rated_ != nullptr && rated_->memory_clock_hz ? rated_->memory_clock_hz : device_.max_memory_clock_hz;
    const bool data_rate = !found_.dram && rated && clock > kFarAbove * *rated;
    return data_rate ? clock / 2 : clock;
  }

  void add_dram(double bytes_per_s, std::string source) {
    ceiling_.bandwidths.push_back({MemoryLevel::dram, "dram", bytes_per_s, std::move(source)});
  }

  void add_dram() {
    // Both edges of the clock carry data: 2 transfers per clock on every memory the profiler knows.
    const auto bus_bytes = device_.memory_bus_bits ? *device_.memory_bus_bits / 8.0 * 2 : 0;
    const auto rated = rated_ == nullptr ? std::nullopt : rated_->bandwidth(MemoryLevel::dram, "dram");
    if (found_.dram_clock) {
      const auto& name = found_.dram_clock.term->metric;
      const double clock = dram_clock();
      if (found_.dram) return add_dram(found_.dram.amount * clock, product(*found_.dram.term, name));
      if (bus_bytes > 0)
        return add_dram(bus_bytes * clock, fmt::format("{:g} B per clock of the bus x {}", bus_bytes, name));
      if (rated && rated_->memory_clock_hz)
        return add_dram(*rated * clock / *rated_->memory_clock_hz, "datasheet, scaled to " + name);
    }
    if (rated) return add_dram(*rated, "datasheet: the report names no memory clock");
    if (bus_bytes > 0 && device_.max_memory_clock_hz)
      add_dram(bus_bytes * *device_.max_memory_clock_hz, "bus x rated memory clock: the report names no memory clock");
  }

  void add_l2() {
    if (!found_.lts_clock) return;
    const double clock = found_.lts_clock.amount;
    const auto& name = found_.lts_clock.term->metric;
    const auto add = [&](Definition definition, double bytes, std::string source) {
      ceiling_.bandwidths.push_back({MemoryLevel::l2, std::move(definition), bytes * clock, std::move(source)});
    };
    if (found_.lts_t)
      add("lts_t", found_.lts_t.amount, product(*found_.lts_t.term, name));
    else if (found_.lts_t_slice && found_.slices)
      add("lts_t", found_.lts_t_slice.amount * found_.slices.amount,
          product(*found_.lts_t_slice.term, name, fmt::format(" x {:g} slices", found_.slices.amount)));
    if (found_.lts2xbar) return add("lts2xbar", found_.lts2xbar.amount, product(*found_.lts2xbar.term, name));
    const auto rated = rated_ == nullptr ? std::nullopt : rated_->bandwidth(MemoryLevel::l2, "lts2xbar");
    if (rated && rated_->sm_clock_hz) add("lts2xbar", *rated / *rated_->sm_clock_hz, "datasheet, scaled to " + name);
  }

  static constexpr std::size_t kExpectedPeaks = 28;
  const Found& found_;
  const DeviceInfo& device_;
  const Ceiling* rated_;
  std::optional<int> rated_sms_;
  const ChipRates* rates_ = nullptr;
  double sms_ = 0;    // 0 when unknown
  double share_ = 1;  // of the device's SMs
  Ceiling ceiling_;
};

}  // namespace

std::optional<Ceiling> at_clock_ceiling(const Launch& launch, const DeviceInfo& device, const Machine* catalogue) {
  const Found found(launch.metrics, without_sparsity(device.compute_capability));
  if (!found.sm_clock && !found.dram_clock) return std::nullopt;
  return AtClock(found, device, catalogue).build();
}

}  // namespace roofline
