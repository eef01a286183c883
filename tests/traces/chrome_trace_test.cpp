#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "roofline/error.h"
#include "roofline/timeline.h"
#include "timeline/chrome_event.h"
#include "timeline/json_window.h"
#include "timeline/readers.h"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TimelineSource source_of(const std::string& bytes) {
  TimelineSource source;
  source.label = "trace.json";
  source.file = copy_bytes(bytes);
  return source;
}

Timeline read(const std::string& bytes, bool partial = false) {
  TimelineOptions options;
  options.partial = partial;
  return read_chrome_trace(source_of(bytes), options);
}

InputProblem refusal(const std::string& bytes, bool partial = false) {
  try {
    read(bytes, partial);
  } catch (const InputError& error) {
    return error.problem();
  }
  return {};
}

std::string kernel(const std::string& ts, const std::string& dur, const std::string& more = "") {
  return R"~({"ph":"X","cat":"kernel","name":"void gemm<float>(int)","pid":0,"tid":7,"ts":)~" + ts + R"~(,"dur":)~" +
         dur + R"~(,"args":{"device":0,"stream":7,"correlation":3,"grid":[4,2,1],"block":[128,1,1])~" + more + "}}";
}

std::string trace(const std::string& events) { return R"({"schemaVersion":1,"traceEvents":[)" + events + "]}"; }

std::string gzip(const std::string& bytes) {
  std::string out(compressBound(bytes.size()) + 64, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string tar_member(const std::string& name, const std::string& bytes) {
  std::string header(512, '\0');
  std::memcpy(header.data(), name.data(), name.size());
  const auto size = [&] {
    char text[13];
    std::snprintf(text, sizeof text, "%011zo", bytes.size());
    return std::string(text);
  }();
  std::memcpy(header.data() + 124, size.data(), size.size());
  header[156] = '0';
  std::memcpy(header.data() + 257, "ustar", 5);
  return header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

bool has_warning(const Timeline& timeline, const std::string& code) {
  return std::any_of(timeline.warnings.begin(), timeline.warnings.end(), [&](const auto& w) { return w.code == code; });
}

// --- numbers ---

TEST(Microseconds, KeepNanosecondsOfEpochTimes) {
  EXPECT_EQ(parse_microseconds("1661203462598738"), 1'661'203'462'598'738'000);
  EXPECT_EQ(parse_microseconds("1661203462598738.123"), 1'661'203'462'598'738'123);
  EXPECT_EQ(parse_microseconds("1661203462598738.1236"), 1'661'203'462'598'738'124);
  EXPECT_EQ(parse_microseconds("1.25"), 1'250);
  EXPECT_EQ(parse_microseconds("0.0004"), 0);
  EXPECT_EQ(parse_microseconds("-2.5"), -2'500);
  EXPECT_EQ(parse_microseconds("1.5e3"), 1'500'000);
  EXPECT_EQ(parse_microseconds("1.99999"), 2'000);
}

TEST(Microseconds, RefuseWhatIsNoTime) {
  for (const char* text : {"", "-", ".", "NaN", "nan", "Infinity", "1e400", "-1e400", "99999999999999999999", "1.2.3",
                           "12a", "0x10", "null", "9223372036854775807", "1e17"})
    EXPECT_EQ(parse_microseconds(text), std::nullopt) << text;
}

// --- reading ---

TEST(ChromeTrace, Kernel) {
  const auto timeline = read(trace(kernel("100.5", "2.25", R"(,"context":1,"External id":9,"graph node id":4)")));
  ASSERT_EQ(timeline.activities.size(), 1);
  const auto& a = timeline.activities[0];
  EXPECT_EQ(a.span.start_ns, 100'500);
  EXPECT_EQ(a.span.length(), 2'250);
  EXPECT_EQ(timeline.names[a.full_name], "void gemm<float>(int)");
  EXPECT_EQ(timeline.names[a.name], "gemm");
  EXPECT_EQ(a.grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(a.block, (Dim3{128, 1, 1}));
  EXPECT_EQ(a.stream, 7);
  EXPECT_EQ(a.correlation, 3);
  EXPECT_EQ(a.external_id, 9);
  EXPECT_EQ(a.graph_node, 4);
  EXPECT_EQ(timeline.producer, "PyTorch (Kineto)");
}

TEST(ChromeTrace, BareArrayAndByteOrderMark) {
  EXPECT_EQ(read("[" + kernel("1", "1") + "," + kernel("2", "1") + "]").activities.size(), 2);
  EXPECT_EQ(read("\xEF\xBB\xBF \n[" + kernel("1", "1") + "]").activities.size(), 1);
  // The format lets the bracket at the end away.
  const auto open_end = read("[" + kernel("1", "1") + ",\n" + kernel("2", "1") + "\n");
  EXPECT_EQ(open_end.activities.size(), 2);
  EXPECT_TRUE(has_warning(open_end, "no-end"));
  EXPECT_EQ(read("[" + kernel("1", "1") + ",]").activities.size(), 1);
}

TEST(ChromeTrace, WhatStandsAfterTheEventsCounts) {
  const auto timeline =
      read(R"({"traceEvents":[)" + kernel("1", "1") +
           R"(],"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3","computeMajor":9,"computeMinor":0,)"
           R"("warpSize":32,"numSms":132},{"id":1,"name":"other"}],"distributedInfo":{"rank":3,"world_size":8},)"
           R"("cupti_version":22,"schemaVersion":1})");
  ASSERT_EQ(timeline.devices.size(), 1);
  EXPECT_EQ(timeline.devices[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(timeline.devices[0].compute_capability, "9.0");
  EXPECT_EQ(timeline.devices[0].sm_count, 132);
  EXPECT_EQ(timeline.rank, 3);
  EXPECT_EQ(timeline.world_size, 8);
  EXPECT_EQ(timeline.producer, "PyTorch (Kineto, CUPTI 22)");
}

TEST(ChromeTrace, KeysInAnyOrderAndTwice) {
  const auto timeline = read(trace(
      R"({"args":{"stream":"7","device":"1","correlation":"12"},"dur":5,"ts":1,"ts":2,"tid":"x","name":"k","cat":"kernel","ph":"X"})"));
  ASSERT_EQ(timeline.activities.size(), 1);
  EXPECT_EQ(timeline.activities[0].span.start_ns, 2'000);  // the last one wins
  EXPECT_EQ(timeline.activities[0].stream, 7);
  EXPECT_EQ(timeline.activities[0].correlation, 12);
  EXPECT_EQ(timeline.devices[0].id, 1);
}

TEST(ChromeTrace, CopiesFillsCallsOperatorsAndRanges) {
  const char* const events[] = {
      R"~({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":7,"ts":3,"dur":1,
           "args":{"device":0,"stream":7,"correlation":4,"bytes":2048}})~",
      R"~({"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":5,"dur":1,"args":{"bytes":64}})~",
      R"~({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":5,"tid":6,"ts":0,"dur":1,
           "args":{"correlation":3}})~",
      R"~({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":6,"ts":0,"dur":2,"args":{"External id":9,
           "Input Dims": [[8, 16], [16, 4]], "Input type": ["c10::BFloat16", "long int"],
           "Concrete Inputs": ["", "a b"]}})~",
      R"~({"ph":"X","cat":"user_annotation","name":"ProfilerStep#5","pid":5,"tid":6,"ts":0,"dur":9})~",
      R"~({"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#5","pid":0,"tid":7,"ts":1,"dur":5})~",
      R"~({"ph":"X","cat":"python_function","name":"forward","pid":5,"tid":6,"ts":0,"dur":9})~",
      R"~({"ph":"s","id":3,"cat":"ac2g","name":"ac2g","pid":5,"tid":6,"ts":0})~",
      R"~({"ph":"M","name":"process_name","pid":5,"args":{"name":"python"}})~",
      R"~({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"x","ts":0,"dur":10})~"};
  std::string text = kernel("1", "1");
  for (const char* event : events) text += std::string(",") + event;
  const auto timeline = read(trace(text));
  ASSERT_EQ(timeline.activities.size(), 3);
  EXPECT_EQ(timeline.activities[1].work, GpuWork::copy);
  EXPECT_EQ(timeline.activities[1].copy, CopyKind::host_to_device);
  EXPECT_EQ(timeline.activities[1].bytes, 2048);
  EXPECT_EQ(timeline.activities[2].work, GpuWork::fill);
  ASSERT_EQ(timeline.calls.size(), 1);
  EXPECT_EQ(timeline.calls[0].kind, HostCallKind::graph_launch);
  ASSERT_EQ(timeline.operators.size(), 1);
  const auto& op = timeline.operators[0];
  EXPECT_EQ(timeline.names[op.shapes], "[[8,16],[16,4]]");
  EXPECT_EQ(timeline.names[op.types], R"(["c10::BFloat16","long int"])");
  EXPECT_EQ(timeline.names[op.values], R"(["","a b"])");
  EXPECT_EQ(op.external_id, 9);
  EXPECT_EQ(op.thread, timeline.calls[0].thread);
  ASSERT_EQ(timeline.ranges.size(), 2);
  EXPECT_FALSE(timeline.ranges[0].on_gpu);
  EXPECT_TRUE(timeline.ranges[1].on_gpu);
  ASSERT_TRUE(timeline.recorded);
  EXPECT_EQ(timeline.recorded->length(), 10'000);
}

TEST(ChromeTrace, BeginAndEndNestPerThread) {
  const auto b = [](const char* name, int ts, int tid) {
    return R"({"ph":"B","cat":"user_annotation","name":")" + std::string(name) + R"(","pid":1,"tid":)" +
           std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) + "}";
  };
  const auto e = [](int ts, int tid) {
    return R"({"ph":"E","cat":"user_annotation","pid":1,"tid":)" + std::to_string(tid) + R"(,"ts":)" +
           std::to_string(ts) + "}";
  };
  const auto timeline =
      read(trace(kernel("1", "1") + "," + b("outer", 0, 1) + "," + b("inner", 2, 1) + "," + b("other", 1, 2) + "," +
                 e(3, 1) + "," + e(9, 1) + "," + e(5, 2) + "," + e(7, 2) + "," + b("open", 8, 2)));
  ASSERT_EQ(timeline.ranges.size(), 3);
  EXPECT_EQ(timeline.names[timeline.ranges[0].name], "outer");
  EXPECT_EQ(timeline.ranges[0].span.length(), 9'000);
  EXPECT_EQ(timeline.names[timeline.ranges[1].name], "other");
  EXPECT_EQ(timeline.ranges[1].span.length(), 4'000);
  EXPECT_EQ(timeline.names[timeline.ranges[2].name], "inner");
  EXPECT_TRUE(has_warning(timeline, "unmatched"));
}

TEST(ChromeTrace, SortedByStart) {
  const auto timeline = read(trace(kernel("5", "1") + "," + kernel("1", "1") + "," + kernel("3", "1")));
  std::vector<std::int64_t> starts;
  for (const auto& a : timeline.activities) starts.push_back(a.span.start_ns);
  EXPECT_THAT(starts, ElementsAre(1'000, 3'000, 5'000));
}

TEST(ChromeTrace, EqualCollectivesAreOne) {
  const std::string more =
      R"(,"Collective name":"allreduce","dtype":"BFloat16","In msg nelems":100,"Out msg nelems":100,"Group size":8,"Process Group Name":"0")";
  const auto timeline = read(trace(kernel("1", "1", more) + "," + kernel("2", "1", more) + "," + kernel("3", "1")));
  ASSERT_EQ(timeline.collectives.size(), 1);
  EXPECT_EQ(timeline.names[timeline.collectives[0].name], "allreduce");
  EXPECT_EQ(timeline.collectives[0].group_size, 8);
  EXPECT_EQ(timeline.activities[1].collective, 0);
  EXPECT_EQ(timeline.activities[2].collective, kNone);
}

// --- packing ---

TEST(ChromeTrace, PackedByMagic) {
  const auto plain = trace(kernel("1", "1"));
  EXPECT_EQ(read(gzip(plain)).activities.size(), 1);
  EXPECT_EQ(read(gzip(gzip(plain))).activities.size(), 1);
  // Two members, cut in the middle of an event.
  EXPECT_EQ(read(gzip(plain.substr(0, 60)) + gzip(plain.substr(60))).activities.size(), 1);
  EXPECT_EQ(read(gzip(plain) + std::string(512, '\0')).activities.size(), 1);
  const auto tar = tar_member("notes.txt", "nothing") + tar_member("run/rank0.json", plain) + std::string(1024, '\0');
  EXPECT_EQ(read(tar).activities.size(), 1);
  EXPECT_EQ(read(gzip(tar)).activities.size(), 1);
  EXPECT_EQ(read(tar_member("run/rank0.json.gz", gzip(plain))).activities.size(), 1);
  EXPECT_EQ(refusal(tar_member("notes.txt", "nothing") + std::string(1024, '\0')).kind, "no-trace-in-archive");
}

TEST(ChromeTrace, TooMuchAfterUnpackingIsRefused) {
  TimelineOptions options;
  options.max_decompressed = 1000;
  const auto packed = gzip(trace(kernel("1", "1", R"(,"x":")" + std::string(5000, 'a') + '"')));
  try {
    read_chrome_trace(source_of(packed), options);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problem().kind, "too-large");
  }
}

TEST(ChromeTrace, OpenedByContent) {
  const auto path = std::filesystem::temp_directory_path() / "roofline_trace_by_content.txt";
  std::ofstream(path, std::ios::binary) << gzip(trace(kernel("1", "1")));
  EXPECT_TRUE(is_timeline(path.string()));
  EXPECT_EQ(open_timeline(path.string()).activities.size(), 1);
  std::filesystem::remove(path);
}

// --- what goes wrong ---

TEST(ChromeTrace, CutAnywhere) {
  const auto whole = trace(kernel("1", "1") + "," + kernel("2", "1"));
  const auto second = whole.find("},{") + 2;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    const auto problem = refusal(whole.substr(0, size));
    EXPECT_EQ(problem.kind, "truncated");
    if (size > second + 1) {
      EXPECT_EQ(problem.kind, "truncated");
      EXPECT_EQ(problem.offset, size);
      EXPECT_EQ(read(whole.substr(0, size), true).activities.size(), size + 2 < whole.size() ? 1 : 2);
    }
  }
  const auto packed = gzip(whole);
  for (std::size_t size = 20; size < packed.size(); size += 3)
    EXPECT_EQ(refusal(packed.substr(0, size)).kind, "truncated");
}

TEST(ChromeTrace, PartialKeepsWhatStandsBeforeTheFault) {
  const auto timeline = read(trace(kernel("1", "1") + ",{\"ph\":\"X\",\"cat\":\"kernel\" \"name\"}"), true);
  EXPECT_EQ(timeline.activities.size(), 1);
  EXPECT_TRUE(has_warning(timeline, "partial"));
  EXPECT_EQ(refusal("{\"traceEvents\":[", true).kind, "truncated");
}

TEST(ChromeTrace, UnusableTimesAreLeftOutAndCounted) {
  const auto timeline = read(trace(kernel("1", "1") + "," + kernel("1", "-1") + "," + kernel("NaN", "1") + "," +
                                   kernel("1e400", "1") + "," + kernel("1", "null") + "," + kernel("\"soon\"", "1") +
                                   "," + kernel("9223372036854775807", "9223372036854775807")));
  EXPECT_EQ(timeline.activities.size(), 1);
  ASSERT_TRUE(has_warning(timeline, "bad-times"));
  EXPECT_THAT(timeline.warnings[0].message, HasSubstr("6 events"));
}

TEST(ChromeTrace, BytesThatJsonDoesNotAllowAreReplaced) {
  std::string events = kernel("1", "1") + "," + kernel("2", "1") + "," + kernel("3", "1");
  events[events.find("gemm")] = '\xFF';
  events[events.rfind("gemm")] = '\0';
  const auto timeline = read(trace(events));
  EXPECT_EQ(timeline.activities.size(), 3);
  EXPECT_TRUE(has_warning(timeline, "repaired-text"));
}

TEST(ChromeTrace, BrokenEscapesKeepTheirText) {
  auto event = kernel("1", "1");
  event.replace(event.find("void gemm"), 9, R"(\ud800gem)");
  const auto timeline = read(trace(event));
  ASSERT_EQ(timeline.activities.size(), 1);
  EXPECT_THAT(timeline.names[timeline.activities[0].full_name], HasSubstr("gem"));
}

TEST(ChromeTrace, DeepNestingCostsNothing) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(read(trace(kernel("1", "1", ",\"x\":" + deep))).activities.size(), 1);
  EXPECT_EQ(read(R"({"metadata":)" + deep + R"(,"traceEvents":[)" + kernel("1", "1") + "]}").activities.size(), 1);
  EXPECT_EQ(refusal(std::string(1'000'000, '[')).kind, "truncated");
  EXPECT_THAT(refusal(R"({"deviceProperties":)" + deep + R"(,"traceEvents":[]})").kind, "no-events");
}

TEST(ChromeTrace, ValuesTooLargeArePassedOver) {
  const std::string huge(40'000'000, 'x');
  const auto timeline =
      read(trace(kernel("1", "1") + "," + kernel("2", "1", R"(,"x":")" + huge + '"') + "," + kernel("3", "1")));
  EXPECT_EQ(timeline.activities.size(), 2);
  EXPECT_TRUE(has_warning(timeline, "large-values"));
}

TEST(ChromeTrace, RefusesWhatHoldsNoGpuWork) {
  EXPECT_EQ(refusal(trace("")).kind, "no-events");
  EXPECT_EQ(refusal(trace(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":1})")).kind, "no-gpu-work");
  EXPECT_EQ(refusal(trace(R"({"ph":"X","name":"WAIT","ts":1,"dur":1,"pid":1,"tid":1})")).kind, "not-a-gpu-trace");
  EXPECT_EQ(refusal(trace(R"({"ph":"X","cat":"cuda_profiler_range","name":"k","ts":1,"dur":1,"args":{"a":1}})")).kind,
            "false-durations");
  EXPECT_EQ(refusal("{}").kind, "no-events");
  EXPECT_EQ(refusal("[1,\"a\",null,{},[]]").kind, "no-events");
}

TEST(ChromeTrace, StructureThatIsNoTrace) {
  EXPECT_EQ(refusal("").kind, "truncated");
  EXPECT_EQ(refusal("{\"a\" 1}").kind, "bad-json");
  EXPECT_EQ(refusal("{\"a\":}").kind, "bad-json");
  EXPECT_EQ(refusal("{,}").kind, "bad-json");
  EXPECT_EQ(refusal("[,]").kind, "bad-json");
  EXPECT_EQ(refusal("]").kind, "bad-json");
  EXPECT_EQ(refusal(trace(kernel("1", "1") + " " + kernel("1", "1"))).kind, "bad-json");
}

// --- the window ---

// Hands out bytes in pieces of one size.
class Pieces final : public ByteStream {
 public:
  Pieces(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  std::size_t read(std::span<char> room) override {
    const auto n = std::min({room.size(), piece_, bytes_.size() - position_});
    std::memcpy(room.data(), bytes_.data() + position_, n);
    position_ += n;
    return n;
  }
  std::uint64_t consumed() const override { return position_; }

 private:
  std::string bytes_;
  std::size_t piece_, position_ = 0;
};

TEST(JsonWindow, ValuesAreTheSameHoweverTheBytesArrive) {
  const std::string text = R"( {"a":"}\"]","b":[1,{"c":"\\"}]} , "x\\\"y" , 12.5e3 , [] , true )";
  for (std::size_t piece = 1; piece < 40; ++piece) {
    JsonWindow window(std::make_unique<Pieces>(text, piece));
    std::vector<std::string> values;
    do values.emplace_back(window.value().value());
    while (window.take(','));
    EXPECT_THAT(values, ElementsAre(R"({"a":"}\"]","b":[1,{"c":"\\"}]})", R"("x\\\"y")", "12.5e3", "[]", "true"));
    EXPECT_TRUE(window.at_end());
  }
}

TEST(JsonWindow, SaysWhereTheBytesEnd) {
  JsonWindow window(std::make_unique<Pieces>("  {\"a\":\"b", 3));
  try {
    window.value();
    FAIL();
  } catch (const JsonWindow::Unfinished& at) {
    EXPECT_EQ(at.begin, 2);
    EXPECT_EQ(at.end, 9);
  }
}

}  // namespace
}  // namespace roofline
