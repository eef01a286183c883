// Matching, attribution and what is said of a change.
#include "roofline/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/match.h"
#include "compare/records.h"
#include "roofline/error.h"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::KernelSpec;
using ::testing::Not;
using testing::Random;
using Specs = std::vector<KernelSpec>;

GateSide side(const Specs& specs) { return {{testing::record(specs)}}; }

Comparison compared(const Specs& before, const Specs& after, const CompareOptions& options = {}) {
  return compare(side(before), side(after), options);
}

// "a + b -> c by kind/by", most time of the left side first; the other side alone at the end.
std::vector<std::string> matches(const Comparison& c) {
  std::vector<std::string> out;
  const auto names = [](const std::vector<std::size_t>& group, const std::vector<SideKernel>& kernels) {
    std::string text;
    for (const auto i : group) text += (text.empty() ? "" : "+") + kernels[i].full_name;
    return text;
  };
  for (const auto& row : c.kernels)
    out.push_back(names(row.before, c.before) + ">" + names(row.after, c.after) + " " +
                  std::string(to_string(row.kind)) + "/" + std::string(to_string(row.by)));
  std::sort(out.begin(), out.end());
  return out;
}

std::string all_text(const Document& document) { return to_terminal(document, {0, false, true}); }

// ---------------------------------------------------------------- matching

TEST(Matching, SurestSignFirst) {
  EXPECT_THAT(matches(compared({{"a"}, {"b"}}, {{"b"}, {"a"}})),
              ElementsAre("a>a matched/identity", "b>b matched/identity"));
  // The same shape decides between two kernels of one family, though the time says otherwise.
  EXPECT_THAT(matches(compared({{.name = "ampere_sgemm_128x64_tn", .time_s = 9e-6, .grid = {8, 1, 1}},
                                {.name = "ampere_sgemm_64x64_tn", .time_s = 5e-6, .grid = {99, 1, 1}}},
                               {{.name = "hopper_sgemm_32x32_tn", .time_s = 9e-6, .grid = {99, 1, 1}},
                                {.name = "hopper_sgemm_64x32_tn", .time_s = 5e-6, .grid = {8, 1, 1}}})),
              ElementsAre("ampere_sgemm_128x64_tn>hopper_sgemm_64x32_tn matched/family",
                          "ampere_sgemm_64x64_tn>hopper_sgemm_32x32_tn matched/family"));
  EXPECT_THAT(matches(compared({{.name = "k", .grid = {8, 1, 1}}}, {{.name = "k", .grid = {9, 1, 1}}})),
              ElementsAre("k>k matched/name"));
  EXPECT_THAT(matches(compared({{.name = "triton_poi_fused_add_3", .grid = {8, 1, 1}}, {"x"}},
                               {{.name = "triton_poi_fused_add_7", .grid = {9, 1, 1}}, {"x"}})),
              Contains("triton_poi_fused_add_3>triton_poi_fused_add_7 matched/family, another shape"));
}

TEST(Matching, NamesDecideWhereOneSideNamesNoOperators) {
  EXPECT_THAT(matches(compared({{"flash"}, {"gemm"}}, {{.name = "flash", .op = "attention"}, {"gemm"}})),
              ElementsAre("flash>flash matched/identity", "gemm>gemm matched/identity"));
}

TEST(Matching, OperatorsKeepKernelsApart) {
  const auto c = compared({{.name = "gemm", .time_s = 9e-6, .op = "qkv_proj"}, {.name = "gemm", .op = "o_proj"}},
                          {{.name = "gemm", .time_s = 9e-6, .op = "o_proj"}, {.name = "gemm", .op = "qkv_proj"}});
  for (const auto& row : c.kernels) EXPECT_EQ(c.before[row.before.at(0)].op, c.after[row.after.at(0)].op);
}

TEST(Matching, OneOperatorInAnotherKernelOrInSeveral) {
  EXPECT_THAT(
      matches(compared({{.name = "foo", .op = "attention"}, {"x"}}, {{.name = "bar", .op = "attention"}, {"x"}})),
      Contains("foo>bar matched/operator"));
  EXPECT_THAT(
      matches(compared({{.name = "foo", .op = "attention"}},
                       {{.name = "split", .op = "attention"}, {.name = "combine", .time_s = 1e-6, .op = "attention"}})),
      ElementsAre("foo>split+combine split/operator"));
  EXPECT_THAT(
      matches(compared({{.name = "split", .op = "attention"}, {.name = "combine", .time_s = 1e-6, .op = "attention"}},
                       {{.name = "foo", .op = "attention"}})),
      ElementsAre("split+combine>foo merged/operator"));
  // The main kernel stayed; what joined it belongs to it.
  EXPECT_THAT(
      matches(compared({{.name = "flash", .op = "attention"}},
                       {{.name = "flash", .op = "attention"}, {.name = "combine", .time_s = 1e-6, .op = "attention"}})),
      ElementsAre("flash>flash+combine split/identity"));
}

TEST(Matching, FusionsByTheirNames) {
  EXPECT_THAT(
      matches(
          compared({{.name = "triton_poi_fused_add_0"}, {.name = "triton_red_fused_mean_mul_1", .time_s = 1e-6}, {"x"}},
                   {{"triton_red_fused_add_mean_mul_0"}, {"x"}})),
      Contains("triton_poi_fused_add_0+triton_red_fused_mean_mul_1>triton_red_fused_add_mean_mul_0 merged/parts"));
  EXPECT_THAT(matches(compared({{"triton_poi_fused_add_0"}, {"x"}},
                               {{.name = "triton_poi_fused_mul_0", .time_s = 1e-6}, {"x"}})),
              Not(Contains(HasSubstr("triton_poi_fused_add_0>triton_poi_fused_mul_0"))));
}

TEST(Matching, FusionsByTheirOperators) {
  const Specs parts = {{.name = "void vllm::rms_norm_kernel<bf16>(x)", .time_s = 3e-6, .launches = 32},
                       {.name = "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>(x)",
                        .time_s = 2e-6,
                        .launches = 32},
                       {"x"}};
  const Specs whole = {{.name = "void vllm::fused_add_rms_norm_kernel<bf16>(x)", .time_s = 4e-6, .launches = 32},
                       {"x"}};
  EXPECT_THAT(matches(compared(parts, whole)), Contains(HasSubstr("merged/parts")));
  EXPECT_THAT(matches(compared(whole, parts)), Contains(HasSubstr("split/parts")));
  // Other numbers of launches: not the same thing.
  auto other = parts;
  other[1].launches = 7;
  EXPECT_THAT(matches(compared(other, whole)), Not(Contains(HasSubstr("parts"))));
}

TEST(Matching, SplitKOfAProduct) {
  EXPECT_THAT(matches(compared({{.name = "nvjet_tst_64x16_v_bz_TNT", .launches = 32}, {"x"}},
                               {{.name = "nvjet_tst_128x8_v_bz_splitK_TNT", .launches = 32},
                                {.name = "void cublasLt::splitKreduce_kernel<32>(x)", .time_s = 1e-6, .launches = 32},
                                {"x"}})),
              Contains(HasSubstr("splitKreduce_kernel<32>(x) split/")));
}

TEST(Matching, ALibraryUpdate) {
  // Another name, another shape, the same operator and like work.
  EXPECT_THAT(matches(compared({{.name = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_tn", .grid = {8, 1, 1}}, {"x"}},
                               {{.name = "nvjet_tst_128x64_TNT", .grid = {16, 1, 1}}, {"x"}})),
              Contains(HasSubstr("nvjet_tst_128x64_TNT matched/operator class")));
  // The same operator, but a hundred times the work: not the same product.
  EXPECT_THAT(matches(compared({{.name = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_tn", .grid = {8, 1, 1}}, {"x"}},
                               {{.name = "nvjet_tst_128x64_TNT", .time_s = 100 * 100e-6, .grid = {16, 1, 1}}, {"x"}})),
              Contains("nvjet_tst_128x64_TNT appeared/nothing").Times(0));
}

TEST(Matching, RenamedAlone) {
  EXPECT_THAT(matches(compared({{"old_thing"}, {.name = "x", .grid = {3, 1, 1}}},
                               {{"new_stuff"}, {.name = "x", .grid = {3, 1, 1}}})),
              Contains("old_thing>new_stuff matched/work"));
  EXPECT_THAT(matches(compared({{"old_thing"}, {"x"}}, {{.name = "new_stuff", .intensity = 20}, {"x"}})),
              Contains("old_thing> vanished/nothing"));
  EXPECT_THAT(matches(compared({{"naive"}}, {{.name = "tiled", .grid = {7, 1, 1}, .intensity = 3}})),
              ElementsAre("naive>tiled matched/the only kernels"));
}

TEST(Matching, OnRequest) {
  CompareOptions options;
  options.same = {{"naive", "tiled"}};
  EXPECT_THAT(matches(compared({{"naive"}, {"x"}}, {{.name = "tiled", .intensity = 99}, {"x"}}, options)),
              Contains("naive>tiled matched/request"));
}

TEST(Matching, ARequestForNoKernelIsRefused) {
  for (const auto& [old_name, new_name] : {std::pair("nosuch", "tiled"), std::pair("naive", "nosuch")}) {
    CompareOptions options;
    options.same = {{old_name, new_name}};
    EXPECT_THROW(compared({{"naive"}}, {{"tiled"}}, options), UsageError);
  }
}

TEST(Matching, EveryKernelIsInOneGroup) {
  Random random(7);
  const std::vector<std::string> names = {"a",
                                          "b2",
                                          "b3",
                                          "triton_poi_fused_add_0",
                                          "triton_poi_fused_add_mul_1",
                                          "nvjet_tst_1x1_TNT",
                                          "nvjet_tst_2x2_TNT",
                                          "cublasLt::splitKreduce_kernel"};
  for (int trial = 0; trial < 100; ++trial) {
    std::array<Specs, 2> specs;
    for (auto& list : specs)
      for (std::size_t n = random.below(12); n > 0; --n)
        list.push_back({.name = names[random.below(names.size())],
                        .time_s = 1e-6 * (1 + random.uniform()),
                        .launches = 1 + random.below(3),
                        .op = random.below(4) == 0 ? "op" : "",
                        .grid = {1 + random.below(3), 1, 1}});
    const auto c = compared(specs[0], specs[1]);
    std::vector<std::size_t> before, after;
    for (const auto& row : c.kernels) {
      before.insert(before.end(), row.before.begin(), row.before.end());
      after.insert(after.end(), row.after.begin(), row.after.end());
    }
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    ASSERT_EQ(before.size(), c.before.size());
    ASSERT_EQ(after.size(), c.after.size());
    for (std::size_t i = 0; i < before.size(); ++i) ASSERT_EQ(before[i], i);
    for (std::size_t i = 0; i < after.size(); ++i) ASSERT_EQ(after[i], i);
  }
}

// ---------------------------------------------------------------- attribution

TEST(Attribution, PartsAddUpToTheWholeExactly) {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    std::array<GateSide, 2> sides;
    const double scale = std::pow(10, 12 * random.uniform() - 9);
    for (auto& s : sides)
      for (std::size_t r = random.below(3) + 1; r > 0; --r) {
        Specs specs;
        for (std::size_t n = random.below(60); n > 0; --n)
          specs.push_back({.name = "k" + std::to_string(random.below(40)),
                           .time_s = scale * std::exp(8 * random.normal()),
                           .fraction = random.uniform(),
                           .grid = {1 + random.below(4), 1, 1}});
        s.repeats.push_back(testing::record(specs));
      }
    const auto c = compare(sides[0], sides[1]);
    // In any order, to the last bit.
    double forwards = 0, backwards = 0, work = 0, efficiency = 0;
    for (const auto& row : c.kernels) {
      ASSERT_EQ(row.effect.total_s, row.effect.work_s + row.effect.efficiency_s);
      forwards += row.effect.total_s;
      work += row.effect.work_s;
      efficiency += row.effect.efficiency_s;
    }
    for (auto it = c.kernels.rbegin(); it != c.kernels.rend(); ++it) backwards += it->effect.total_s;
    ASSERT_EQ(forwards, c.total.total_s);
    ASSERT_EQ(backwards, c.total.total_s);
    ASSERT_EQ(work + efficiency, c.total.total_s);
    ASSERT_EQ(c.total.known, c.side_before.time_s && c.side_after.time_s);
    if (!c.total.known) continue;
    const double a = c.side_before.time_s.value_or(0), b = c.side_after.time_s.value_or(0);
    ASSERT_NEAR(c.total.total_s, b - a, 1e-11 * (a + b));
    if (c.time_s.before && c.time_s.after) {
      ASSERT_NEAR(*c.time_s.after - *c.time_s.before, c.total.total_s, 1e-11 * (a + b));
    }
  }
}

TEST(Attribution, WorkAndNearness) {
  // Half of the bytes at the same share of the roof: all of it is work.
  auto c =
      compared({{.name = "k", .time_s = 100e-6, .fraction = 0.8}}, {{.name = "k", .time_s = 50e-6, .fraction = 0.8}});
  EXPECT_TRUE(c.kernels[0].effect.split_known);
  EXPECT_NEAR(c.kernels[0].effect.work_s, -50e-6, 1e-15);
  EXPECT_NEAR(c.kernels[0].effect.efficiency_s, 0, 1e-15);
  // The same bytes nearer to the roof.
  c = compared({{.name = "k", .time_s = 100e-6, .fraction = 0.4}}, {{.name = "k", .time_s = 50e-6, .fraction = 0.8}});
  EXPECT_NEAR(c.kernels[0].effect.work_s, 0, 1e-15);
  EXPECT_NEAR(c.kernels[0].effect.efficiency_s, -50e-6, 1e-15);
}

TEST(Attribution, AbsentTimesAreNotZero) {
  auto before = side({{"k"}, {"x"}});
  before.repeats[0].kernels[0].time_s.reset();
  const auto c = compare(before, side({{"k"}, {"x"}}));
  const auto row = std::find_if(c.kernels.begin(), c.kernels.end(),
                                [&](const auto& r) { return c.after[r.after.at(0)].name == "k"; });
  EXPECT_EQ(row->effect.total_s, 0);
  EXPECT_FALSE(row->time_s.ratio);
  EXPECT_THAT(c.caveats, Contains(HasSubstr("have no time")));
}

TEST(Attribution, TotalsAreOfWhatIsTimedOnBothSides) {
  auto before = side({{"k"}, {"x"}});
  before.repeats.push_back(testing::record(Specs{{"k", 101e-6}, {"x", 101e-6}}));
  auto after = before;
  before.repeats[0].kernels[0].time_s.reset();  // "k", in one repeat only
  auto c = compare(before, after);
  EXPECT_NEAR(c.time_s.before.value(), 100.5e-6, 1e-12);
  EXPECT_NEAR(c.time_s.after.value(), 100.5e-6, 1e-12);
  EXPECT_NEAR(c.time_s.ratio.value(), 1, 1e-12);
  EXPECT_EQ(c.total.total_s, 0);
  EXPECT_THAT(c.caveats, Contains(HasSubstr("totals are of the kernels that are timed on both sides")));
  for (const auto& row : c.kernels) EXPECT_EQ(row.effect.known, c.after[row.after.at(0)].name == "x");
  const auto j = nlohmann::json::parse(comparison_json(c));
  EXPECT_TRUE(j.at("kernels").back().at("effect").at("total_s").is_null());
}

TEST(Attribution, OfASideWithoutTimesNothingIsKnown) {
  auto untimed = side({{"k"}, {"x"}});
  for (auto& k : untimed.repeats[0].kernels) k.time_s.reset();
  for (const auto& after : {untimed, GateSide{{StepRecord()}}}) {
    const auto c = compare(side({{"k"}, {"x"}, {"gone"}}), after);
    EXPECT_FALSE(c.time_s.before);
    EXPECT_FALSE(c.time_s.after);
    EXPECT_FALSE(c.total.known);
    const auto j = nlohmann::json::parse(comparison_json(c));
    EXPECT_TRUE(j.at("time_s").at("after").is_null());
    EXPECT_TRUE(j.at("effect").at("total_s").is_null());
    EXPECT_THAT(all_text(comparison_document(c)), HasSubstr("times of a side are not known"));
    EXPECT_THAT(all_text(comparison_document(c)), Not(HasSubstr("0 s")));
  }
}

TEST(Attribution, TimesNearZeroAreNoInfinity) {
  const auto text = all_text(comparison_document(compared({{"k"}}, {{.name = "k", .time_s = 5e-324}})));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

TEST(Attribution, LaunchesOfAGroup) {
  // Shapes of one function are launches of one function.
  const auto shapes = compared({{.name = "mm", .launches = 10, .op = "linear"}},
                               {{.name = "mm", .time_s = 90e-6, .launches = 4, .op = "linear", .grid = {1, 1, 1}},
                                {.name = "mm", .time_s = 40e-6, .launches = 3, .op = "linear", .grid = {2, 1, 1}},
                                {.name = "mm", .time_s = 20e-6, .launches = 3, .op = "linear", .grid = {3, 1, 1}}});
  ASSERT_EQ(shapes.kernels.size(), 1U);
  EXPECT_EQ(shapes.kernels[0].launches.after, 10);
  EXPECT_NEAR(shapes.kernels[0].call_time_s.after.value(), 15e-6, 1e-12);
  // Tiles that are summed by many launches: still ten calls, though the sums take longest.
  const auto split = compared({{.name = "gemm", .launches = 10, .op = "linear"}},
                              {{.name = "splitk", .time_s = 90e-6, .launches = 10, .op = "linear"},
                               {.name = "reduce", .time_s = 95e-6, .launches = 40, .op = "linear"},
                               {.name = "memset", .time_s = 1e-6, .launches = 1, .op = "linear"}});
  ASSERT_EQ(split.kernels.size(), 1U);
  EXPECT_NEAR(split.kernels[0].call_time_s.after.value(), 18.6e-6, 1e-12);
}

TEST(Attribution, ASideWithoutRepeatsIsRefused) { EXPECT_THROW(compare({}, side({{"k"}})), UsageError); }

TEST(Attribution, EmptyReportsCompare) {
  const auto c = compare({{StepRecord()}}, {{StepRecord()}});
  EXPECT_TRUE(c.kernels.empty());
  EXPECT_NO_THROW(all_text(comparison_document(c)));
  EXPECT_NO_THROW(nlohmann::json::parse(comparison_json(c)));
}

// ---------------------------------------------------------------- noise

TEST(RunNoise, SingleRunsSayThatItIsUnknown) {
  const auto c = compared({{"k"}}, {{.name = "k", .time_s = 50e-6}});
  EXPECT_FALSE(c.kernels[0].time_s.interval);
  EXPECT_FALSE(c.kernels[0].time_s.significant());
  EXPECT_THAT(c.caveats, Contains("one run each: noise unknown"));
}

TEST(RunNoise, LaunchesThatDifferAreNotRuns) {
  auto before = side({{"k"}});
  before.repeats[0].kernels[0].launches = 100;
  before.repeats[0].kernels[0].launch_time_s = Spread{0.1e-6, 1e-6, 9e-6};
  const auto c = compare(before, before);
  EXPECT_FALSE(c.kernels[0].time_s.noise);
}

TEST(RunNoise, RepeatsGiveAnInterval) {
  GateSide before, after;
  for (const double t : {100e-6, 102e-6, 98e-6}) before.repeats.push_back(testing::record(Specs{{"k", t}}));
  for (const double t : {80e-6, 81e-6, 79e-6}) after.repeats.push_back(testing::record(Specs{{"k", t}}));
  const auto c = compare(before, after);
  const auto& t = c.kernels[0].time_s;
  ASSERT_TRUE(t.interval);
  EXPECT_TRUE(t.significant());
  EXPECT_NEAR(*t.ratio, 0.8, 0.001);
  EXPECT_LT(t.interval->low, 0.8);
  EXPECT_GT(t.interval->high, 0.8);
  EXPECT_EQ(t.freedom, 4);
}

TEST(RunNoise, NoiseThatIsAssumedIsSaid) {
  GateSide several;
  for (const double t : {100e-6, 102e-6, 98e-6}) several.repeats.push_back(testing::record(Specs{{"k", t}}));
  const auto one = side({{"k", 80e-6}});
  EXPECT_THAT(compare(several, one).caveats, Contains(HasSubstr("the noise of the side after is not known")));
  EXPECT_THAT(compare(one, several).caveats, Contains(HasSubstr("the noise of the side before is not known")));
  EXPECT_THAT(compare(several, several).caveats, Contains(HasSubstr("Welch's t")));
}

TEST(RunNoise, OneRunGivenTwiceIsOneRun) {
  const auto r = testing::record(Specs{{"k"}});
  const auto c = compare({{r, r, r}}, {{r, r}});
  EXPECT_FALSE(c.kernels[0].time_s.interval);
  EXPECT_THAT(c.caveats, Contains(HasSubstr("equal to the last digit")));
}

TEST(RunNoise, AKernelThatIsMissingInARepeatHasNoInterval) {
  const auto c = compare({{testing::record(Specs{{"k"}, {"x"}}), testing::record(Specs{{"x", 99e-6}})}},
                         {{testing::record(Specs{{"k"}, {"x"}}), testing::record(Specs{{"k"}, {"x", 101e-6}})}});
  for (const auto& row : c.kernels) EXPECT_EQ(row.time_s.interval.has_value(), c.before[row.before.at(0)].name == "x");
}

// ---------------------------------------------------------------- what is said

TEST(Words, OtherMachinesRoofsAndClocksAreSaid) {
  auto other = side({{"k"}});
  other.repeats[0].machines = {"Other GPU"};
  auto c = compare(side({{"k"}}), other);
  EXPECT_FALSE(c.comparable);
  EXPECT_FALSE(c.kernels[0].fraction_comparable);
  EXPECT_THAT(all_text(comparison_document(c)), HasSubstr("another machine: Test GPU 100 before, Other GPU after"));
  EXPECT_THAT(all_text(comparison_document(c)), HasSubstr("90% | 90%"));

  other = side({{"k"}});
  other.repeats[0].ceiling = CeilingKind::datasheet;
  other.repeats[0].kernels[0].ceiling = CeilingKind::datasheet;
  c = compare(side({{"k"}}), other);
  EXPECT_THAT(c.caveats, Contains("another kind of roof: at-clock before, datasheet after"));

  other = side({{"k"}});
  other.repeats[0].kernels[0].clock_hz = 1.2e9;
  c = compare(side({{"k"}}), other);
  EXPECT_THAT(c.caveats, Contains("another clock: 1.50 GHz before, 1.20 GHz after"));
  EXPECT_FALSE(c.kernels[0].fraction_comparable);

  other = side({{"k"}});
  other.repeats[0].catalogue_version = "2";
  auto known = side({{"k"}});
  known.repeats[0].catalogue_version = "1";
  EXPECT_FALSE(compare(known, other).comparable);
}

TEST(Words, RepeatsOfSeveralThingsAreNotComparable) {
  const auto said = [](auto change) {
    GateSide one, many;
    for (const double t : {100e-6, 101e-6, 99e-6}) {
      one.repeats.push_back(testing::record(Specs{{"k", t}}));
      one.repeats.back().catalogue_version = "old";
    }
    many = one;
    change(many.repeats.back());
    auto c = compare(one, many);
    EXPECT_FALSE(c.comparable);
    EXPECT_FALSE(c.kernels[0].fraction_comparable);
    EXPECT_FALSE(compare(many, many).comparable);
    return fmt::format("{}", fmt::join(c.caveats, "\n"));
  };
  EXPECT_THAT(said([](StepRecord& r) { r.machines = {"Other GPU"}; }),
              HasSubstr("the repeats after are of several machines: Other GPU, Test GPU 100"));
  EXPECT_THAT(said([](StepRecord& r) { r.kernels[0].clock_hz = 1.8e9; }),
              HasSubstr("the repeats after are at several clocks: 1.50 GHz to 1.80 GHz"));
  EXPECT_THAT(said([](StepRecord& r) { r.catalogue_version = "new"; }),
              HasSubstr("under several versions of the machine catalogue: new, old"));
  EXPECT_THAT(said([](StepRecord& r) {
                r.ceiling = CeilingKind::datasheet;
                r.kernels[0].ceiling = CeilingKind::datasheet;
              }),
              HasSubstr("under several kinds of roof: at-clock, datasheet"));
}

TEST(Words, AVersionThatSomeRepeatsDoNotNameIsThatOfTheOthers) {
  GateSide before = side({{"k"}}), after = side({{"k"}});
  before.repeats.push_back(before.repeats.front());
  before.repeats[0].catalogue_version = "old";
  after.repeats[0].catalogue_version = "new";
  EXPECT_FALSE(compare(before, after).comparable);
  after.repeats[0].catalogue_version = "old";
  EXPECT_TRUE(compare(before, after).comparable);
}

TEST(Words, AnotherNumberOfStepsIsSaid) {
  const auto c =
      compared({{.name = "a", .launches = 64}, {.name = "b", .launches = 2}},
               {{.name = "a", .time_s = 50e-6, .launches = 32}, {.name = "b", .time_s = 50e-6, .launches = 1}});
  EXPECT_THAT(c.caveats, Contains(HasSubstr("not the same number of steps")));
}

TEST(Words, WhatChanged) {
  const auto words = [](const KernelSpec& a, const KernelSpec& b) {
    return compared({a}, {b}).kernels.at(0).what_changed;
  };
  EXPECT_THAT(words({"k"}, {"k"}), ElementsAre());
  EXPECT_THAT(words({"k"}, {.name = "k", .time_s = 150e-6, .intensity = 10 / 1.5}),
              ElementsAre(HasSubstr("DRAM bytes +50%: a layout or a fusion broke")));
  EXPECT_THAT(words({"k"}, {.name = "k", .intensity = 20}), ElementsAre(HasSubstr("FLOPs +100%: work is done twice")));
  EXPECT_THAT(words({"k"}, {.name = "k", .intensity = 200}), ElementsAre(HasSubstr("FLOPs ×20.0")));
  EXPECT_THAT(words({.name = "k", .precision = "fp8.tensor"}, {.name = "k"}),
              ElementsAre("operations fp8.tensor 100% → bf16.tensor 100%: the precision fell back"));
  EXPECT_THAT(words({.name = "k"}, {.name = "k", .precision = "fp32.vector"}),
              ElementsAre(HasSubstr("it left the tensor cores")));
  EXPECT_THAT(words({.name = "k"}, {.name = "k", .fraction = 0.45, .bandwidth = 6e12}),
              ElementsAre("memory-optimal → memory-suboptimal"));
  EXPECT_THAT(words({.name = "k_v1"}, {.name = "k_v2", .grid = {64, 1, 1}}),
              ElementsAre(HasSubstr("another kernel: k_v1 → k_v2"), "launch shape 128 x 256 → 64 x 256"));
  EXPECT_THAT(words({.name = "k", .launches = 4}, {.name = "k", .launches = 8}), Contains("launches 4 → 8"));
}

TEST(Words, WorkThatDoesNotBindIsWorthNothing) {
  const auto said = [](const KernelSpec& a, const KernelSpec& b) { return compared({a}, {b}).kernels.at(0).worthless; };
  EXPECT_EQ(said({.name = "k", .intensity = 10}, {.name = "k", .intensity = 6}),
            "this changes FLOPs by −40% of a memory-bound kernel: worth 0 µs");
  EXPECT_EQ(said({"k"}, {"k"}), "");
  // Fewer bytes do count.
  EXPECT_THAT(said({.name = "k", .intensity = 10}, {.name = "k", .time_s = 50e-6, .intensity = 10}),
              HasSubstr("worth 0 µs by itself; its DRAM bytes changed by −50%, which counts"));
  // It is faster, but not because of the roof.
  EXPECT_THAT(said({.name = "k", .fraction = 0.5, .intensity = 10},
                   {.name = "k", .time_s = 55e-6, .fraction = 0.5 / 0.55, .intensity = 5}),
              HasSubstr("of its roof; that it takes −45% is another share of the same roof"));
  auto before = side({{.name = "k", .intensity = 10}}), after = side({{.name = "k", .intensity = 6}});
  for (auto* s : {&before, &after}) s->repeats[0].kernels[0].regime = Regime::compute;
  EXPECT_EQ(compare(before, after).kernels[0].worthless, "");
  after.repeats[0].kernels[0].bound = Bound::lower;
  for (auto* s : {&before, &after}) s->repeats[0].kernels[0].regime = Regime::memory;
  EXPECT_EQ(compare(before, after).kernels[0].worthless, "");
}

TEST(Views, TableAddsUpAndFits) {
  Specs before, after;
  for (int i = 0; i < 40; ++i) {
    before.push_back({.name = "kernel_number_with_a_long_name_" + std::string(1, static_cast<char>('a' + i % 26)) +
                              (i > 25 ? "x" : ""),
                      .time_s = 1e-6 * (1 + i)});
    after.push_back(before.back());
    after.back().time_s *= i % 3 == 0 ? 0.7 : 1;
  }
  CompareOptions options;
  options.top = 5;
  const auto document = comparison_document(compared(before, after), options);
  const auto table = std::get<Table>(*std::find_if(document.blocks.begin(), document.blocks.end(),
                                                   [](const Block& b) { return std::holds_alternative<Table>(b); }));
  ASSERT_EQ(table.rows.size(), 6U);
  double sum = 0;
  for (const auto& row : table.rows) sum += row[4].number.value();
  EXPECT_EQ(sum, table.footer[4].number.value());
  const auto text = to_terminal(document, {80, false, true});
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size());
    EXPECT_LE(display_width(text.substr(at, end - at)), 80U);
    at = end + 1;
  }
}

TEST(Views, JsonSaysWhatTheComparisonHolds) {
  const auto c = compared({{"k"}, {"gone"}}, {{.name = "k", .time_s = 50e-6}, {.name = "new", .intensity = 1}});
  const auto j = nlohmann::json::parse(comparison_json(c));
  EXPECT_EQ(j.at("schema"), "roofline/compare/1");
  double sum = 0;
  for (const auto& k : j.at("kernels")) sum += k.at("effect").at("total_s").get<double>();
  EXPECT_EQ(sum, j.at("effect").at("total_s").get<double>());
  EXPECT_EQ(j.at("kernels").size(), 3U);
}

TEST(Views, HostileNamesAreText) {
  auto c = compared({{"a\x1b[31m\xff\n|<b>"}}, {{"c\x1b]0;x\x07\xfe"}});
  EXPECT_NO_THROW(nlohmann::json::parse(comparison_json(c)));
  EXPECT_EQ(all_text(comparison_document(c)).find('\x1b'), std::string::npos);
  EXPECT_EQ(to_markdown(comparison_document(c)).find('\x1b'), std::string::npos);
}

TEST(Filter, KeepsKernelsAndAddsUpAnew) {
  auto r = testing::record(
      Specs{{.name = "a", .time_s = 1e-6, .fraction = 0.5}, {.name = "b", .time_s = 3e-6, .fraction = 0.9}});
  keep_kernels(r, "^b$");
  ASSERT_EQ(r.kernels.size(), 1U);
  EXPECT_EQ(r.time_s, 3e-6);
  EXPECT_NEAR(r.fraction.value(), 0.9, 1e-12);
  EXPECT_EQ(r.kernels[0].time_share, 1);
  EXPECT_THROW(keep_kernels(r, "zzz"), UsageError);
  EXPECT_THROW(keep_kernels(r, "("), UsageError);
}

}  // namespace
}  // namespace roofline
