// Operators of a step: figures worked out by hand, and properties that must hold for every model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "roofline/error.h"
#include "roofline/machines.h"
#include "roofline/model.h"

namespace roofline::model {
namespace {

using ::testing::HasSubstr;

std::vector<Operator> step(const ModelConfig& config, const StepOptions& options) {
  std::vector<Operator> operators;
  build_step(config, options, operators);
  return operators;
}

StepOptions decode(Count batch, Count context, const char* scheme = "bf16") {
  StepOptions o;
  o.batch = batch;
  o.context = context;
  o.scheme = find_scheme(scheme);
  o.beyond_context = true;
  return o;
}

struct Sum {
  double calls = 0, launches = 0, operations = 0, read = 0, write = 0, link = 0, aux = 0;
  double bytes() const { return read + write; }
};

Sum sum(const std::vector<Operator>& operators, std::string_view name) {
  Sum s;
  for (const auto& op : operators) {
    if (op.name != name) continue;
    s.calls += op.calls;
    s.launches += op.calls * op.launches;
    s.operations += op.calls * op.operations;
    s.read += op.calls * op.read_bytes;
    s.write += op.calls * op.write_bytes;
    s.link += op.calls * op.link_bytes;
    s.aux += op.calls * op.aux_ops;
  }
  return s;
}

const Roofs& h100() {
  static const Roofs kRoofs(*MachineCatalogue::instance().find("h100")->ceiling(CeilingKind::datasheet));
  return kRoofs;
}

// ---------------------------------------------------------------- worked by hand: Llama-3-8B, batch 32, context 2048

TEST(Llama8B, MatrixProducts) {
  const auto ops = step(resolve_config("llama-3-8b"), decode(32, 2048));
  const auto qkv = sum(ops, "qkv_proj");
  EXPECT_EQ(qkv.calls, 32);
  EXPECT_EQ(qkv.operations, 51539607552);                 // 32 layers x 2 x 32 x 4096 x 6144
  EXPECT_EQ(qkv.read, 32 * (262144.0 + 50331648));        // 32 x 4096 x 2 in, 4096 x 6144 x 2 weights
  EXPECT_EQ(qkv.write, 32 * 393216.0);                    // 32 x 6144 x 2
  EXPECT_EQ(sum(ops, "o_proj").operations, 34359738368);  // 32 x 2 x 32 x 4096 x 4096
  EXPECT_EQ(sum(ops, "gate_up_proj").operations, 240518168576);
  EXPECT_EQ(sum(ops, "down_proj").operations, 120259084288);
  EXPECT_EQ(sum(ops, "lm_head").operations, 33621540864);  // 2 x 32 x 4096 x 128256
}

TEST(Llama8B, Attention) {
  const auto attention = sum(step(resolve_config("llama-3-8b"), decode(32, 2048)), "attention");
  EXPECT_EQ(attention.operations, 34359738368);  // 32 layers x 4 x 32 x 2048 x 32 heads x 128
  EXPECT_EQ(attention.aux, 335544320);           // 5 per score
  // K and V: 32 x 2048 x 2 x 8 x 128 x 2; Q: 32 x 4096 x 2; block table: 32 x 128 pages x 4.
  EXPECT_EQ(attention.read, 32 * (268435456.0 + 262144 + 16384));
  EXPECT_NEAR(attention.operations / attention.bytes(), 3.99, 0.005);  // 2 x group size / bytes per element
}

TEST(Llama8B, SmallKernels) {
  const auto ops = step(resolve_config("llama-3-8b"), decode(32, 2048));
  EXPECT_EQ(sum(ops, "embedding").read, 32 * 4096 * 2 + 32 * 8);  // a gather, not the table
  EXPECT_EQ(sum(ops, "rms_norm").calls, 1);
  EXPECT_EQ(sum(ops, "add_rms_norm").calls, 64);
  EXPECT_EQ(sum(ops, "add_rms_norm").bytes(), 64.0 * (4 * 262144 + 8192));
  EXPECT_EQ(sum(ops, "silu_and_mul").bytes(), 32.0 * 3 * 32 * 14336 * 2);
  EXPECT_EQ(sum(ops, "sampling").bytes(), 10.0 * 32 * 128256 + 8 * 32);
  EXPECT_EQ(sum(ops, "kv_cache_write").operations, 0);
}

TEST(Llama8B, WholeStep) {
  const auto ops = step(resolve_config("llama-3-8b"), decode(32, 2048));
  const auto all = totals(ops, h100(), nullptr);
  EXPECT_NEAR(all.operations, 514.8e9, 0.05e9);
  EXPECT_NEAR(all.bytes, 24.00e9, 0.005e9);
  EXPECT_EQ(all.launches, 325);
  EXPECT_NEAR(all.roof_s, 7.16e-3, 0.01e-3);
}

TEST(DeepSeek, AbsorbedAttention) {
  auto options = decode(1, 4096);
  const auto ops = step(resolve_config("deepseek-v3"), options);
  const auto attention = sum(ops, "mla_attention");
  EXPECT_EQ(attention.operations, 61.0 * 2 * 4096 * 128 * (576 + 512));
  EXPECT_EQ(attention.read, 61.0 * (128 * 576 * 2 + 4096 * 576 * 2 + 64 * 4));  // keys and values are the same bytes
  EXPECT_NEAR(attention.operations / 61 / (4096 * 576 * 2), 242, 0.5);
  EXPECT_EQ(sum(ops, "kv_b_proj").calls, 0);
  options.latent = LatentForm::expanded;
  const auto expanded = step(resolve_config("deepseek-v3"), options);
  EXPECT_EQ(sum(expanded, "kv_b_proj").operations, 61.0 * 2 * 4096 * 512 * 128 * 256);
  EXPECT_EQ(sum(expanded, "mla_attention").operations, 61.0 * 2 * 4096 * 128 * 320);
  EXPECT_EQ(sum(expanded, "mla_q_absorb_bmm").calls, 0);
}

TEST(DeepSeek, ExpandsFromTheBreakEvenOn) {
  const auto config = resolve_config("deepseek-v3");
  EXPECT_NEAR(absorb_break_even(config.kinds.front().shape.attention), 262144.0 / 1536, 1e-9);
  auto options = decode(1, 4096);
  options.phase = Phase::prefill;
  options.query_length = 170;
  EXPECT_EQ(sum(step(config, options), "kv_b_proj").calls, 0);
  options.query_length = 171;
  EXPECT_EQ(sum(step(config, options), "kv_b_proj").calls, 61);
}

// Published step times of the same model spread over 32 GPUs by experts (per-GPU batch 1, 8, 32, 64, 256).
TEST(DeepSeek, DataAndExpertParallel) {
  auto config = resolve_config("deepseek-v3");
  const double roof_ms[] = {9.44, 12.32, 14.63, 17.71, 36.18};
  const double predicted_ms[] = {18.34, 22.01, 25.55, 30.26, 59.68};
  const Count batch[] = {1, 8, 32, 64, 256};
  const auto& machine = *MachineCatalogue::instance().find("h100");
  const auto calibration = calibration_for(machine, *machine.ceiling(CeilingKind::datasheet));
  for (int i = 0; i < 5; ++i) {
    auto options = decode(batch[i], 2048, "fp8_block");
    options.dp = options.ep = 32;
    const auto all = totals(step(config, options), h100(), &calibration);
    EXPECT_NEAR(all.roof_s * 1e3, roof_ms[i], 0.001 * roof_ms[i]);  // 3.35 and 3.352 TB/s
    EXPECT_NEAR(all.predicted_s * 1e3, predicted_ms[i], 0.006);
  }
}

TEST(Experts, ExpectedDistinct) {
  EXPECT_DOUBLE_EQ(distinct_experts(8, 2, 1), 2);
  EXPECT_NEAR(distinct_experts(8, 2, 8), 7.20, 0.005);
  EXPECT_NEAR(distinct_experts(128, 8, 8), 51.6, 0.05);
  EXPECT_NEAR(distinct_experts(128, 8, 32), 111.8, 0.05);
  EXPECT_NEAR(distinct_experts(256, 8, 32), 163.3, 0.05);
  EXPECT_NEAR(distinct_experts(256, 8, 64), 222.4, 0.05);
  EXPECT_NEAR(distinct_experts(128, 4, 32), 81.7, 0.05);
  EXPECT_NEAR(distinct_experts(8, 2, 1e6), 8, 1e-12);
}

TEST(Experts, RoutingAssumptions) {
  const auto config = resolve_config("qwen3-30b-a3b");
  auto options = decode(8, 512);
  const auto weights = [&] {
    for (const auto& op : step(config, options))
      if (op.name == "moe_down") return op.weight_bytes / (2.0 * 2048 * 768);
    return 0.0;
  };
  EXPECT_NEAR(weights(), 51.6, 0.05);
  options.routing = Routing::balanced;
  EXPECT_EQ(weights(), 64);
  options.batch = 1000;
  EXPECT_EQ(weights(), 128);
  options.batch = 8;
  std::vector<double> skewed(128, 0);
  std::fill(skewed.begin(), skewed.begin() + 8, 1.0);  // every token picks the same eight
  options.expert_probability = skewed;
  EXPECT_EQ(weights(), 8);
  skewed.assign(128, 8.0 / 128);
  EXPECT_NEAR(weights(), distinct_experts(128, 8, 8), 1e-9);
}

TEST(Gemma, NormsOfFour) {
  const auto ops = step(resolve_config("gemma-2-2b"), decode(4, 100));
  EXPECT_EQ(sum(ops, "rms_norm").calls, 1 + 2 * 26);  // the very first, and both results of each layer
  EXPECT_EQ(sum(ops, "add_rms_norm").calls, 2 * 26);  // the other input norms, and the last
  EXPECT_EQ(sum(ops, "gelu_and_mul").calls, 26);
  EXPECT_EQ(sum(ops, "silu_and_mul").calls, 0);
}

TEST(Falcon, ParallelBlocks) {
  const auto ops = step(resolve_config("falcon-7b"), decode(4, 100));
  EXPECT_EQ(sum(ops, "add_layer_norm").calls, 32);
  // attention, MLP and residual in; residual and norm out; weight and bias
  EXPECT_EQ(sum(ops, "add_layer_norm").bytes(), 32.0 * (5 * 4 * 4544 * 2 + 2 * 4544 * 2));
  EXPECT_EQ(sum(ops, "up_proj").operations, 32.0 * 2 * 4 * 4544 * 18176);
  EXPECT_EQ(sum(ops, "gelu").calls, 32);
}

TEST(GptOss, OnlyExpertsAreSmall) {
  const auto config = resolve_config("gpt-oss-120b");
  auto options = decode(1, 1000);
  options.scheme = nullptr;  // the checkpoint's
  for (const auto& op : step(config, options)) {
    if (op.name == "qkv_proj") {
      EXPECT_EQ(op.weight_bytes, 2.0 * 5120 * 2880 + 2 * 5120);
    }
    if (op.name == "moe_down") {
      EXPECT_DOUBLE_EQ(op.weight_bytes, 4 * (2880 * 2880 * 0.53125 + 2 * 2880));
    }
  }
  const auto attention = sum(step(config, options), "attention");
  EXPECT_EQ(attention.operations, 18.0 * 4 * (1000 + 128) * 64 * 64);
}

// ---------------------------------------------------------------- attention windows against counting one by one

Attended count_attended(Count context, Count queries, const Window& window) {
  Attended result;
  Count first = context;
  for (Count p = context - queries; p < context; ++p) {
    Count start = 0;
    if (window.kind == WindowKind::sliding) start = std::max<Count>(0, p - window.size + 1);
    if (window.kind == WindowKind::chunked) start = p / window.size * window.size;
    result.pairs += static_cast<double>(p - start + 1);
    first = std::min(first, start);
  }
  result.keys = static_cast<double>(context - first);
  return result;
}

TEST(AttendedKeys, ClosedFormEqualsCounting) {
  for (const auto kind : {WindowKind::none, WindowKind::sliding, WindowKind::chunked})
    for (Count size = 1; size <= 12; ++size)
      for (Count context = 1; context <= 40; ++context)
        for (Count queries = 1; queries <= context; ++queries) {
          const Window window{kind, size};
          const auto counted = count_attended(context, queries, window);
          const auto closed = attended(context, queries, window);
          ASSERT_EQ(closed.pairs, counted.pairs) << context << " " << queries << " " << size;
          ASSERT_EQ(closed.keys, counted.keys) << context << " " << queries << " " << size;
        }
}

// ---------------------------------------------------------------- parallelism

TEST(TensorParallel, Collectives) {
  auto options = decode(8, 2048);
  options.tp = 8;
  const auto ops = step(resolve_config("llama-3-70b"), options);
  const auto reduce = sum(ops, "all_reduce");
  EXPECT_EQ(reduce.calls, 161);  // two per layer and the embedding
  EXPECT_EQ(reduce.link, 161 * 2 * 7.0 / 8 * 8 * 8192 * 2);
  EXPECT_EQ(sum(ops, "logits_all_gather").link, 7.0 / 8 * 8 * 128256 * 2);
  options.fusion.all_reduce_norm = true;
  const auto fused = step(resolve_config("llama-3-70b"), options);
  EXPECT_EQ(sum(fused, "all_reduce").calls, 1);
  EXPECT_EQ(sum(fused, "all_reduce_add_rms_norm").calls, 160);
  EXPECT_EQ(sum(fused, "all_reduce").link + sum(fused, "all_reduce_add_rms_norm").link, reduce.link);
}

TEST(TensorParallel, WorkOfAllGpusIsTheWholeWork) {
  const auto config = resolve_config("llama-3-70b");
  const auto whole = step(config, decode(8, 2048));
  auto options = decode(8, 2048);
  for (const Count tp : {2, 4, 8}) {
    options.tp = tp;
    const auto part = step(config, options);
    for (const auto* name : {"qkv_proj", "o_proj", "gate_up_proj", "down_proj", "attention", "lm_head"})
      EXPECT_EQ(static_cast<double>(tp) * sum(part, name).operations, sum(whole, name).operations) << name;
  }
}

TEST(ExpertParallel, SpreadsWholeExperts) {
  const auto config = resolve_config("qwen3-30b-a3b");
  auto options = decode(64, 512);
  const auto whole = sum(step(config, options), "moe_gate_up");
  options.tp = options.ep = 4;
  const auto part = sum(step(config, options), "moe_gate_up");
  EXPECT_EQ(4 * part.operations, whole.operations);
  EXPECT_EQ(sum(step(config, options), "ep_dispatch").calls, 0);  // every GPU has all tokens already
  options.tp = 1;
  options.dp = 4;
  options.batch = 16;
  const auto spread = step(config, options);
  EXPECT_EQ(4 * sum(spread, "moe_gate_up").operations, whole.operations);
  EXPECT_EQ(sum(spread, "ep_combine").link, 48 * 16 * 8 * 0.75 * 2048 * 2);
}

void expect_refused(const ModelConfig& config, const StepOptions& options, const char* part) {
  try {
    step(config, options);
    ADD_FAILURE() << "accepted, should name " << part;
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(Options, AreChecked) {
  const auto llama = resolve_config("llama-3-8b");
  const auto with = [](auto change) {
    auto o = decode(1, 100);
    o.beyond_context = false;
    change(o);
    return o;
  };
  expect_refused(llama, with([](auto& o) { o.batch = 0; }), "batch is 0");
  expect_refused(llama, with([](auto& o) { o.context = -5; }), "context is -5");
  expect_refused(llama, with([](auto& o) { o.context = 8193; }), "8192 positions");
  expect_refused(llama, with([](auto& o) { o.query_length = 101; }), "exceeds context");
  expect_refused(llama, with([](auto& o) { o.tp = 3; }), "tp 3 does not divide 32 attention heads");
  expect_refused(llama, with([](auto& o) { o.tp = o.ep = 2; }), "no experts");
  expect_refused(llama, with([](auto& o) { o.dp = 2; }), "independent copies");
  expect_refused(llama, with([](auto& o) { o.kv = find_kv_format("fp8_ds_mla"); }), "latent");
  const auto qwen = resolve_config("qwen3-30b-a3b");
  expect_refused(qwen, with([](auto& o) {
                   o.tp = 2;
                   o.ep = 4;
                 }),
                 "tp x dp = 2");
  const std::vector<double> few = {0.5, 0.5};
  expect_refused(qwen, with([&](auto& o) { o.expert_probability = few; }), "2 expert probabilities for 128");
}

// ---------------------------------------------------------------- fusion and sampling

double bytes_with(Fusion fusion, const char* scheme = "bf16") {
  auto options = decode(32, 2048, scheme);
  options.fusion = fusion;
  return totals(step(resolve_config("llama-3-8b"), options), h100(), nullptr).bytes;
}

TEST(Fusions, EachSavesTraffic) {
  const double fused = bytes_with({});
  const double elements = 32 * 4096 * 2.0;  // bytes of the residual stream
  // Unfused: five passes instead of four.
  EXPECT_EQ(bytes_with({.add_norm = false}) - fused, 64 * elements);
  EXPECT_EQ(bytes_with({.qkv = false}) - fused, 32 * 2 * elements);                    // the input is read three times
  EXPECT_EQ(bytes_with({.gate_up = false}) - fused, 32 * elements);                    // twice
  EXPECT_EQ(bytes_with({.attention = false}) - fused, 32 * 4.0 * 32 * 2048 * 32 * 2);  // scores, four times
  // Keys are not written and read again between rotation and cache.
  EXPECT_EQ(fused - bytes_with({.rope_kv_write = true}), 32 * 2.0 * 32 * 8 * 128 * 2);
  const double quantized = bytes_with({}, "fp8");
  // The 16-bit result is neither written nor read before qkv, gate_up and down.
  EXPECT_EQ(quantized - bytes_with({.quantize = true}, "fp8"), 32 * 2.0 * 2 * 32 * (4096 + 4096 + 14336));
}

TEST(SplitKv, AddsPartialResults) {
  auto options = decode(1, 8192);
  const auto config = resolve_config("llama-3-8b");
  const auto plain = sum(step(config, options), "attention");
  options.kv_splits = 16;
  const auto ops = step(config, options);
  const double partial = 32 * 16.0 * 32 * (128 + 1) * 4;
  EXPECT_EQ(sum(ops, "attention").bytes() + sum(ops, "attention_combine").bytes(), plain.bytes() + 2 * partial);
}

TEST(SamplingVariants, BytesPerLogit) {
  auto options = decode(2, 10);
  const auto config = resolve_config("llama-3-8b");
  const auto bytes = [&](Sampling variant) {
    options.sampling = variant;
    return std::floor(sum(step(config, options), "sampling").bytes() / (2.0 * 128256));
  };
  EXPECT_EQ(bytes(Sampling::none), 0);
  EXPECT_EQ(bytes(Sampling::greedy), 2 + 4 + 4);
  EXPECT_EQ(bytes(Sampling::exponential), 2 + 4 + 12 + 4 + 12 + 4);
  EXPECT_EQ(bytes(Sampling::rejection), 2 + 4 + 12 + 4);
  EXPECT_EQ(bytes(Sampling::sort), 2 + 4 + 12 + 4 * 16 + 8 + 4);
  EXPECT_EQ(parse_sampling("sort"), Sampling::sort);
  EXPECT_EQ(parse_sampling("beam"), std::nullopt);
}

// ---------------------------------------------------------------- for every model

bool same_order(double smaller, double larger) { return smaller <= larger * (1 + 1e-12); }

TEST(EveryModel, GrowsWithBatchAndContext) {
  for (const auto& preset : presets()) {
    const auto config = parse_config(preset.json, preset.name);
    for (const auto* scheme : {"bf16", "fp8", "w4a16_g128"}) {
      double bytes = 0, operations = 0, roof = 0;
      for (const Count batch : {1, 2, 7, 8, 64, 500}) {
        const auto all = totals(step(config, decode(batch, 1000, scheme)), h100(), nullptr);
        EXPECT_GT(all.bytes, bytes) << preset.name << " batch " << batch;
        EXPECT_GT(all.operations, operations) << preset.name << " batch " << batch;
        EXPECT_GT(all.roof_s, roof) << preset.name << " batch " << batch;
        bytes = all.bytes, operations = all.operations, roof = all.roof_s;
      }
      bytes = operations = roof = 0;
      for (const Count context : {1, 2, 100, 129, 5000, 100000}) {
        const auto all = totals(step(config, decode(4, context, scheme)), h100(), nullptr);
        EXPECT_TRUE(same_order(bytes, all.bytes)) << preset.name << " context " << context;
        EXPECT_TRUE(same_order(operations, all.operations)) << preset.name << " context " << context;
        EXPECT_TRUE(same_order(roof, all.roof_s)) << preset.name << " context " << context;
        bytes = all.bytes, operations = all.operations, roof = all.roof_s;
      }
    }
  }
}

TEST(EveryModel, NothingIsNegativeOrUnnamed) {
  for (const auto& preset : presets()) {
    const auto config = parse_config(preset.json, preset.name);
    for (const auto phase : {Phase::decode, Phase::prefill})
      for (const auto& scheme : schemes()) {
        auto options = decode(3, 300);
        options.scheme = &scheme;
        options.phase = phase;
        options.fusion.quantize = true;
        options.fusion.rope_kv_write = true;
        for (const auto& op : step(config, options)) {
          EXPECT_FALSE(op.name.empty());
          EXPECT_GT(op.calls, 0) << preset.name << " " << op.name;
          EXPECT_GE(op.operations, 0) << preset.name << " " << op.name;
          EXPECT_GE(op.read_bytes, op.weight_bytes) << preset.name << " " << op.name;
          EXPECT_GT(op.bytes(), 0) << preset.name << " " << op.name;
          EXPECT_GE(op.write_bytes, 0) << preset.name << " " << op.name;
        }
      }
  }
}

// Prefill in chunks does the same products, and reads the cache again for each chunk.
TEST(EveryModel, ChunkedPrefillAddsUp) {
  const auto config = resolve_config("llama-3-8b");
  auto options = decode(1, 1024);
  options.phase = Phase::prefill;
  const auto whole = step(config, options);
  double operations = 0;
  for (Count end = 256; end <= 1024; end += 256) {
    options.context = end;
    options.query_length = 256;
    operations += sum(step(config, options), "attention").operations;
  }
  EXPECT_EQ(operations, sum(whole, "attention").operations);
}

// The weights of one decode step are read once: the quantizable ones in full, the experts as far as they are met.
TEST(EveryModel, DenseWeightsAreReadOnce) {
  for (const auto& preset : presets()) {
    const auto config = parse_config(preset.json, preset.name);
    if (config.kinds.back().shape.mlp.experts > 0) continue;
    const auto options = decode(1, 10, "w4a16_g128");
    double read = 0;
    for (const auto& op : step(config, options))
      if (op.name != "lm_head") read += op.calls * op.weight_bytes;
    double biases = 0;
    for (const auto& kind : config.kinds)
      for (const auto& op : step(config, options)) {
        if (op.layer_kind != &kind - config.kinds.data() || op.n == 0) continue;
        biases += op.calls * (op.weight_bytes - options.scheme->weight_bytes(op.n, op.k));
      }
    EXPECT_DOUBLE_EQ(read - biases, footprint(config, options).linears) << preset.name;
  }
}

}  // namespace
}  // namespace roofline::model
