#include <gtest/gtest.h>

#include <limits>

#include "core/work_builder.h"
#include "roofline/error.h"
#include "roofline/launch.h"

namespace roofline {
namespace {

using testing::key;
using testing::unit_ceiling;
using testing::WorkBuilder;

TEST(Quantity, NonFiniteIsAbsent) {
  EXPECT_FALSE(Quantity::of(std::numeric_limits<double>::quiet_NaN(), Evidence::counter));
  EXPECT_FALSE(Quantity::of(std::numeric_limits<double>::infinity(), Evidence::counter));
  EXPECT_TRUE(Quantity::of(0, Evidence::counter));
  EXPECT_FALSE(Quantity());
  EXPECT_EQ(Quantity::absent("not collected").note(), "not collected");
  EXPECT_FALSE(Quantity().get());
}

TEST(Quantity, SumsAreAsWeakAsTheirWeakestPart) {
  EXPECT_EQ(weakest(Evidence::counter, Evidence::derived), Evidence::derived);
  EXPECT_EQ(weakest(Evidence::given, Evidence::model), Evidence::given);
  EXPECT_EQ(weakest(Evidence::given, Evidence::absent), Evidence::absent);
  EXPECT_EQ(combine(Bound::exact, Bound::upper), Bound::upper);
  EXPECT_EQ(combine(Bound::lower, Bound::upper), Bound::lower);
}

TEST(Precision, KeysRoundTrip) {
  for (const char* text :
       {"fp32.vector", "bf16.tensor", "fp16.acc16.tensor", "fp8.tensor.sparse", "fp8.acc16.tensor.sparse",
        "fp16_bf16_tf32.tensor", "int8.tensor", "fp64.tensor", "fp16.acc32.tensor"}) {
    const auto p = parse_precision(text);
    ASSERT_TRUE(p) << text;
    EXPECT_EQ(to_string(*p), text);
  }
  for (const char* text : {"", "fp32", "fp32.", "fp33.vector", "fp32.vector.sparse", "fp32.tensor.dense", "fp32.acc16",
                           "fp32.vector.", "fp8.tensor.sparse.x", ".vector"})
    EXPECT_FALSE(parse_precision(text)) << text;
}

TEST(Precision, Pipes) {
  EXPECT_EQ(pipe_of(key("bf16.tensor")), "tensor");
  EXPECT_EQ(pipe_of(key("fp64.tensor")), "tensor");
  EXPECT_EQ(pipe_of(key("bf16.vector")), "fp16");
  EXPECT_EQ(pipe_of(key("tf32.vector")), "fp32");
  EXPECT_EQ(pipe_of(key("int32.vector")), "int");
}

TEST(Ceiling, MergedTypesTakeTheRangeOfTheirMembers) {
  const auto range = unit_ceiling().peak(key("fp4_fp6_fp8.tensor"));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low, 20e12);
  EXPECT_EQ(range->high, 40e12);
  EXPECT_FALSE(unit_ceiling().peak(key("tf32.tensor")));
  EXPECT_NEAR(*ridge_point(unit_ceiling(), key("bf16.tensor")), 10, 1e-12);
  EXPECT_FALSE(ridge_point(unit_ceiling(), key("tf32.tensor")));
}

TEST(Work, FlopsSumFloatingPointOnly) {
  const Work work = WorkBuilder(1).flops("fp32.vector", 2).flops("bf16.tensor", 3).flops("int8.tensor", 100).dram(10);
  EXPECT_EQ(work.flops().value(), 5);
  EXPECT_EQ(work.intensity().value(), 0.5);
  EXPECT_FALSE(work.intensity(MemoryLevel::l2));
  EXPECT_FALSE(WorkBuilder(1).dram(0).flops("fp32.vector", 1).get().intensity());
}

TEST(MetricSet, LastOneWinsAndNanHides) {
  MetricSet set;
  set.set(5, 1);
  set.set(2, 7);
  set.set(5, 2);
  set.set(9, 3);
  set.set(9, std::numeric_limits<double>::quiet_NaN());
  set.set_text(4, "old");
  set.set_text(4, "new");
  set.finish();
  EXPECT_EQ(set.get(5), 2);
  EXPECT_EQ(set.get(2), 7);
  EXPECT_FALSE(set.get(9));
  EXPECT_FALSE(set.get(1));
  EXPECT_EQ(set.text(4), "new");
  EXPECT_EQ(set.duplicates(), 3U);
  EXPECT_EQ(set.size(), 2U);
}

TEST(MetricSet, PackingChangesNothingButTheStorage) {
  const auto make = [](double first, double last) {
    MetricSet set;
    set.set(0, first);
    for (MetricId id = 1; id < 40; ++id) set.set(id, 100.0 + id);
    set.set(40, last);
    set.finish();
    return set;
  };
  MetricSet before;
  for (int round = 0; round < 4; ++round) {
    const auto plain = make(round, -round);
    auto packed = plain;
    packed.pack(before);
    EXPECT_EQ(packed.values(), plain.values());
    EXPECT_EQ(packed.size(), plain.size());
    EXPECT_EQ(packed.get(0), round);
    EXPECT_EQ(packed.get(7), 107);
    EXPECT_EQ(packed.get(40), -round);
    EXPECT_FALSE(packed.get(41));
    auto changed = packed;
    changed.set(7, 1);
    changed.finish();
    EXPECT_EQ(changed.get(7), 1);
    EXPECT_EQ(changed.get(8), 108);
    EXPECT_EQ(packed.get(7), 107);  // what is shared stays as it is
    before = packed;
  }
  // Another set of metrics shares nothing it should not.
  MetricSet other;
  other.set(7, 5);
  other.finish();
  other.pack(before);
  EXPECT_EQ(other.values(), (MetricSet::Values{{7, 5.0}}));
}

TEST(StringPool, GivesOneCopy) {
  StringPool pool;
  const auto a = pool.intern("kernel");
  const auto b = pool.intern(std::string("kernel"));
  EXPECT_EQ(a.data(), b.data());
  EXPECT_EQ(pool.intern(""), "");
}

TEST(InputError, IsOneLineThatSaysWhatToDo) {
  const InputError e({"truncated", "a.ncu-rep", 1234, std::nullopt, "the file ends inside a block", "8 more bytes",
                      "copy it again, or use --partial"});
  EXPECT_STREQ(e.what(),
               "a.ncu-rep: the file ends inside a block at byte 1234; expected 8 more bytes; copy it again, or use "
               "--partial");
}

}  // namespace
}  // namespace roofline
