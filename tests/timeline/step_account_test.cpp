// Arithmetic of busy and idle time on timelines whose answers are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <random>

#include "roofline/error.h"
#include "roofline/step.h"
#include "timeline/segments.h"
#include "timeline/timeline_builder.h"

namespace roofline {
namespace {

using testing::TimelineBuilder;
using P = StepPart;

DeviceStep analyze(TimelineBuilder& builder, const StepAnalysisOptions& options = {}) {
  const auto steps = analyze_steps(builder.build(), options);
  EXPECT_EQ(steps.size(), 1U);
  return steps.front();
}

std::int64_t sum(const StepAccount& a) { return std::accumulate(a.parts.begin(), a.parts.end(), std::int64_t{0}); }

bool has_artefact(const DeviceStep& step, std::string_view code) {
  return std::any_of(step.artefacts.begin(), step.artefacts.end(), [&](const auto& a) { return a.code == code; });
}

TEST(StepAccount, BusyTimeIsTheUnionOverStreams) {
  TimelineBuilder b;
  b.kernel("a", 0, 100).kernel("b", 50, 150, -1, 9).kernel("c", 200, 300);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole.wall_ns, 300);
  EXPECT_EQ(step.whole[P::compute], 250);
  EXPECT_EQ(step.whole.kernel_sum_ns, 300);
  EXPECT_EQ(step.whole.concurrent_ns, 50);
  EXPECT_EQ(step.whole[P::unknown], 50);  // no host calls: nothing tells why
  EXPECT_EQ(sum(step.whole), 300);
}

TEST(StepAccount, CopiesAndCommunicationCountWhereNoKernelRuns) {
  TimelineBuilder b;
  b.kernel("gemm", 0, 100)
      .copy(50, 150)
      .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 140, 240, -1, 9)
      .kernel("gemm", 200, 300);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::compute], 200);
  EXPECT_EQ(step.whole[P::copy], 40);           // 100 to 140
  EXPECT_EQ(step.whole[P::communication], 60);  // 140 to 200, also beside the copy
  EXPECT_EQ(step.whole.copy_ns, 100);
  EXPECT_EQ(step.whole.communication_ns, 100);
  EXPECT_EQ(step.whole.idle_ns(), 0);
}

TEST(StepAccount, ALateLaunchIsSplitByWhatTheHostDid) {
  TimelineBuilder b;
  // The GPU is done at 10 us; the host waits until 12, thinks until 15, launches until 16; the work begins at 18.
  b.kernel("a", 2'000, 10'000, 0).call("cudaStreamSynchronize", 3'000, 12'000).kernel("b", 18'000, 20'000, 15'000);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::start], 2'000);
  EXPECT_EQ(step.whole[P::host_wait], 2'000);
  EXPECT_EQ(step.whole[P::launch_late], 3'000);
  EXPECT_EQ(step.whole[P::launch_call], 1'000);
  EXPECT_EQ(step.whole[P::launch_latency], 2'000);
  EXPECT_EQ(step.whole.launch_gap_ns(), 6'000);
  EXPECT_EQ(step.savings.launch_gaps_ns, 6'000);
  const auto& wait = step.whole.evidence[static_cast<std::size_t>(P::host_wait)];
  ASSERT_EQ(wait.calls.size(), 1U);
  EXPECT_EQ(wait.calls[0].second, 2'000);
}

TEST(StepAccount, OtherCallsOfTheLaunchingThreadAreNamed) {
  TimelineBuilder b;
  b.kernel("a", 2'000, 10'000, 0).call("cudaMalloc", 9'000, 14'000).kernel("b", 18'000, 20'000, 15'000);
  b.call("cudaMalloc", 10'000, 18'000, 2);  // another thread: no cause
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::host_call], 4'000);
  EXPECT_EQ(step.whole[P::launch_late], 1'000);
}

TEST(StepAccount, WorkLaunchedInTimeLeavesADeviceGap) {
  TimelineBuilder b;
  b.kernel("a", 5'000, 10'000, 0).kernel("b", 11'500, 20'000, 2'000);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::device_gap], 1'500);
  EXPECT_EQ(step.savings.launch_gaps_ns, 0);
}

TEST(StepAccount, ProfilersOwnTimeIsAnArtefact) {
  TimelineBuilder b;
  b.kernel("a", 2'000, 10'000, 0).overhead(11'000, 14'000).kernel("b", 18'000, 20'000, 15'000);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::profiler], 3'000);
  EXPECT_EQ(step.whole[P::launch_late], 2'000);
  EXPECT_TRUE(has_artefact(step, "profiler-overhead"));
}

TEST(StepAccount, AGapInWhichLaunchesAreLostIsNotIdle) {
  TimelineBuilder b;
  b.kernel("a", 2'000, 10'000, 0).call("cudaLaunchKernel", 5'000, 6'000).kernel("b", 50'000, 60'000, 7'000);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::unseen], 40'000);
  EXPECT_EQ(step.whole[P::device_gap], 0);
  EXPECT_TRUE(has_artefact(step, "lost-launches"));
}

TEST(StepAccount, LaunchesIntoAGraphBeingCapturedAreNotLost) {
  TimelineBuilder b;
  b.kernel("a", 2'000, 10'000, 0);
  b.call("cudaStreamBeginCapture", 3'000, 3'100)
      .call("cudaLaunchKernel", 4'000, 5'000)
      .call("cudaStreamEndCapture", 5'500, 5'600);
  b.kernel("b", 12'000, 20'000, 7'000);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::unseen], 0);
  EXPECT_EQ(step.whole[P::device_gap], 2'000);
  EXPECT_FALSE(has_artefact(step, "lost-launches"));
}

TEST(StepAccount, WorkThatBeginsBeforeItsLaunchProvesNothing) {
  TimelineBuilder b;
  b.kernel("a", 2'000, 10'000, 0).kernel("b", 18'000, 20'000, 19'000);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::unknown], 8'000);
  EXPECT_TRUE(has_artefact(step, "clock-skew"));
}

TEST(StepAccount, TheWaitForTheLastWorkBelongsToTheEnd) {
  TimelineBuilder b;
  b.kernel("a", 2'000, 10'000, 0).call("cudaDeviceSynchronize", 3'000, 11'000).call("cudaFree", 20'000, 30'000);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::end], 1'000);
  EXPECT_EQ(step.whole.wall_ns, 11'000);
}

TEST(StepAccount, AWholeGraphHidesWhatIsInside) {
  TimelineBuilder b;
  b.kernel("graph 1", 0, 1'000);
  b.last().work = GpuWork::graph;
  b.kernel("a", 500, 700, -1, 9);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::graph], 800);
  EXPECT_EQ(step.whole[P::compute], 200);
  EXPECT_TRUE(has_artefact(step, "graph-spans"));
}

TEST(StepAccount, OverlapWithinAStreamIsNamedAndCountedOnce) {
  TimelineBuilder b;
  b.kernel("a", 0, 1'000).kernel("b", 900, 2'000);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::compute], 2'000);
  EXPECT_TRUE(has_artefact(step, "overlap-in-stream"));
}

TEST(StepAccount, EqualDurationsOfDifferentKernelsWereNotMeasured) {
  TimelineBuilder b;
  for (int i = 0; i < 12; ++i) b.kernel("kernel_" + std::to_string(i % 4), i * 2'000, i * 2'000 + 1'234);
  EXPECT_TRUE(has_artefact(analyze(b), "equal-durations"));
  TimelineBuilder one;  // one kernel may well take the same time each time
  for (int i = 0; i < 12; ++i) one.kernel("kernel", i * 2'000, i * 2'000 + 1'234);
  EXPECT_FALSE(has_artefact(analyze(one), "equal-durations"));
}

TEST(StepAccount, EachDeviceHasItsOwnTime) {
  TimelineBuilder b;
  b.kernel("a", 0, 100).kernel("b", 50, 450, -1, 7, 1);
  const auto steps = analyze_steps(b.build());
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].whole.wall_ns, 100);
  EXPECT_EQ(steps[1].whole.wall_ns, 400);
}

TEST(StepAccount, WorkOfNoLengthChangesNothing) {
  TimelineBuilder b;
  b.kernel("a", 0, 100).kernel("zero", 150, 150).kernel("b", 200, 300).kernel("end", 300, 300);
  const auto step = analyze(b);
  EXPECT_EQ(step.whole[P::compute], 200);
  EXPECT_EQ(sum(step.whole), 300);
  EXPECT_TRUE(has_artefact(step, "empty-durations"));
}

// Launches that share one number: each kernel belongs to the last that began before it.
Timeline sharing(std::int64_t count) {
  TimelineBuilder b;
  for (std::int64_t i = 0; i < count; ++i) {
    b.kernel("k", 10 * i + 4, 10 * i + 9, 10 * i);
    b.raw().calls.back().span.end_ns = 10 * i + 2;
    b.raw().calls.back().correlation = b.last().correlation = 1;
  }
  return b.build();
}

TEST(StepAccount, ASharedNumberFindsTheLastCallThatBegan) {
  auto t = sharing(3);
  HostCall inner = t.calls[1];  // the driver's call inside the runtime's
  inner.span = {11, 12};
  t.calls.insert(t.calls.begin() + 2, inner);
  const TimelineFacts facts(t);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto found = facts.find_call(t.activities[i]);
    EXPECT_TRUE(found.several);
    ASSERT_NE(found.call, nullptr);
    EXPECT_EQ(found.call->span.start_ns, 10 * static_cast<std::int64_t>(i));
  }
  auto early = t.activities[0];
  early.span = {-5, -1};
  EXPECT_EQ(facts.call_of(early)->span.start_ns, 0) << "the first, where none began before it";
  early.correlation = 77;
  EXPECT_EQ(facts.call_of(early), nullptr);
}

TEST(StepAccount, TheInnerCallOfOneIsNoSecondCall) {
  auto t = sharing(1);
  auto inner = t.calls[0];
  inner.span = {0, 1};  // begins with the outer one, and is listed first
  t.calls.insert(t.calls.begin(), inner);
  const auto facts = TimelineFacts(t);
  const auto found = facts.find_call(t.activities[0]);
  EXPECT_FALSE(found.several);
  EXPECT_EQ(found.call->span.end_ns, 2);
  t.calls[0].thread = 9;  // another thread's is
  EXPECT_TRUE(TimelineFacts(t).find_call(t.activities[0]).several);
}

TEST(StepAccount, ManyLaunchesThatShareANumberTakeNoLongTime) {
  const auto t = sharing(100'000);
  const auto begun = std::chrono::steady_clock::now();
  const TimelineFacts facts(t);
  std::size_t right = 0;
  for (const auto& a : t.activities) right += facts.call_of(a)->span.start_ns + 4 == a.span.start_ns ? 1 : 0;
  EXPECT_EQ(right, t.activities.size());
  // A tenth of a second or two; a search from the first on would look at five thousand million calls.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

// Timelines by chance: work on several streams and devices, launches of all kinds, other calls, ranges.
Timeline random_timeline(std::mt19937_64& random) {
  TimelineBuilder b;
  const auto pick = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  const auto works = 1 + pick(60);
  for (std::int64_t i = 0; i < works; ++i) {
    const auto start = pick(40'000);
    const auto end = start + pick(3'000);
    const auto launched = pick(3) == 0 ? -1 : pick(40'000);
    const char* names[] = {"gemm", "norm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "softmax"};
    if (pick(5) == 0)
      b.copy(start, end, 1, launched, static_cast<std::uint64_t>(pick(3)));
    else
      b.kernel(names[pick(4)], start, end, launched, static_cast<std::uint64_t>(pick(3)),
               static_cast<std::uint32_t>(pick(2)));
    if (pick(20) == 0) b.last().work = GpuWork::graph;
  }
  for (std::int64_t i = pick(20); i > 0; --i) {
    const auto start = pick(40'000);
    const char* names[] = {"cudaStreamSynchronize", "cudaMalloc", "cudaLaunchKernel", "cudaMemcpy"};
    if (pick(4) == 0)
      b.overhead(start, start + pick(4'000));
    else
      b.call(names[pick(4)], start, start + pick(4'000), static_cast<std::uint64_t>(1 + pick(2)));
  }
  for (std::int64_t i = pick(8); i > 0; --i) {
    const auto start = pick(40'000);
    b.range("step " + std::to_string(i), start, start + pick(9'000));
  }
  return b.build();
}

// Nanosecond by nanosecond, as slowly as can be: what the sweep must come to.
std::int64_t busy_by_counting(const Timeline& t, std::uint32_t device, bool kernels_only) {
  std::vector<bool> busy(50'000, false);
  for (const auto& a : t.activities) {
    if (a.device != device) continue;
    if (kernels_only && (a.work != GpuWork::kernel || is_communication(t.names[a.name]))) continue;
    for (auto ns = a.span.start_ns; ns < a.span.end_ns; ++ns) busy[static_cast<std::size_t>(ns)] = true;
  }
  return std::count(busy.begin(), busy.end(), true);
}

TEST(StepAccount, PartsAddUpForAnyTimeline) {
  std::mt19937_64 random(20240611);
  for (int round = 0; round < 100; ++round) {
    const auto timeline = random_timeline(random);
    for (const auto& step : analyze_steps(timeline)) {
      for (const auto* a : {&step.whole, &step.counted}) {
        ASSERT_EQ(sum(*a), a->wall_ns) << "round " << round;
        ASSERT_LE(a->busy_ns(), a->wall_ns);
        for (const auto part : a->parts) ASSERT_GE(part, 0);
        ASSERT_GE(a->kernel_sum_ns, a->compute_ns);
        ASSERT_LE(a->compute_ns, a->busy_ns());
        ASSERT_LE((*a)[P::copy], a->copy_ns);
        ASSERT_LE((*a)[P::communication], a->communication_ns);
      }
      ASSERT_EQ(step.whole.busy_ns(), busy_by_counting(timeline, step.device, false)) << "round " << round;
      ASSERT_EQ(step.whole[P::compute], busy_by_counting(timeline, step.device, true)) << "round " << round;
      ASSERT_EQ(step.whole.wall_ns, step.active.length());
      for (std::size_t i = 1; i < step.steps.size(); ++i)
        ASSERT_GE(step.steps[i].window.start_ns, step.steps[i - 1].window.end_ns);
    }
  }
}

TEST(Verdict, NamesTheBottleneck) {
  TimelineBuilder gpu;
  gpu.kernel("a", 1'000, 90'000, 0).kernel("b", 91'000, 100'000, 2'000);
  EXPECT_EQ(analyze(gpu).bottleneck, Bottleneck::gpu);
  EXPECT_THAT(analyze(gpu).verdict, ::testing::HasSubstr("The GPU is the bottleneck"));

  TimelineBuilder host;
  host.kernel("a", 1'000, 10'000, 0).kernel("b", 62'000, 70'000, 60'000);
  const auto late = analyze(host);
  EXPECT_EQ(late.bottleneck, Bottleneck::host);
  EXPECT_THAT(late.verdict, ::testing::HasSubstr("launches too late"));
  EXPECT_THAT(late.verdict, ::testing::HasSubstr("save 24.3 % at most"));

  TimelineBuilder copies;
  copies.kernel("a", 1'000, 10'000, 0).copy(10'000, 100'000, 1 << 20, 500);
  EXPECT_EQ(analyze(copies).bottleneck, Bottleneck::copies);

  TimelineBuilder unknown;
  unknown.kernel("a", 0, 10'000).kernel("b", 90'000, 100'000);
  EXPECT_EQ(analyze(unknown).bottleneck, Bottleneck::unclear);
}

// One pause of the program among many short gaps says nothing of the step.
TEST(Verdict, LeavesOutALonePause) {
  TimelineBuilder paused;
  std::int64_t at = 1'000;
  for (int i = 0; i < 40; ++i) {
    if (i == 20) at += 10'000'000;
    paused.kernel(i % 2 == 0 ? "a" : "b", at, at + 9'000, at - 500);
    at += 9'200;
  }
  const auto step = analyze(paused);
  EXPECT_EQ(step.bottleneck, Bottleneck::gpu);
  EXPECT_THAT(step.verdict, ::testing::HasSubstr("Leaving out one pause of 10.0 ms"));
}

// Two launches with one number: the gap before each kernel is explained by the launch in its own time.
TEST(StepAccount, LaunchesThatShareANumberAreToldByTime) {
  TimelineBuilder b;
  b.kernel("a", 2'000, 3'000, 1'000).kernel("b", 12'000, 13'000, 11'000);
  for (auto& call : b.raw().calls) call.correlation = 1;
  for (auto& a : b.raw().activities) a.correlation = 1;
  const auto steps = analyze_steps(b.build());
  ASSERT_EQ(steps.size(), 1U);
  const auto& whole = steps[0].whole;
  EXPECT_EQ(whole[StepPart::launch_late], 8'000) << "until the second launch";
  EXPECT_EQ(whole[StepPart::launch_call], 1'000);
  EXPECT_EQ(whole[StepPart::device_gap], 0);
  EXPECT_TRUE(has_artefact(steps[0], "shared-numbers"));
}

// The runtime's call and the driver's inside it have one number: that is no doubt.
TEST(StepAccount, NestedCallsOfOneNumberAreOne) {
  TimelineBuilder b;
  b.kernel("a", 2'000, 3'000, 1'000).kernel("b", 12'000, 13'000, 11'000);
  b.call("cuLaunchKernel", 11'100, 11'900);
  b.raw().calls.back().correlation = b.last().correlation;
  const auto steps = analyze_steps(b.build());
  EXPECT_FALSE(has_artefact(steps.at(0), "shared-numbers"));
  EXPECT_EQ(steps.at(0).whole[StepPart::launch_call], 1'000);
}

}  // namespace
}  // namespace roofline
