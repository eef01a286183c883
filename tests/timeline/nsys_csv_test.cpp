#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "roofline/error.h"
#include "roofline/timeline.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;

class TextFile {
 public:
  explicit TextFile(const std::string& text) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("roofline-nsys-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Timeline read(const std::string& text) { return open_timeline(TextFile(text).path()); }

InputProblem problem_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& e) {
    return e.problem();
  }
  return {};
}

const Timeline& check_two(const Timeline& t) {
  EXPECT_EQ(t.totals.size(), 2U);
  if (t.totals.size() != 2) return t;
  EXPECT_EQ(t.names[t.totals[0].name], "void gemm<float, 4>(float *)");
  EXPECT_NEAR(t.totals[0].total_s, 3e-3, 1e-12);
  EXPECT_EQ(t.totals[0].launches, 30U);
  EXPECT_NEAR(*t.totals[0].min_s, 90e-6, 1e-12);
  return t;
}

TEST(NsysCsv, KernelSums) {
  const auto t = read(
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "75.0,3000000,30,100000.0,100000.0,90000,110000,1.5,\"void gemm<float, 4>(float *)\"\n"
      "25.0,1000000,10,100000.0,99000.0,90000,110000,1.5,norm\n");
  EXPECT_NEAR(*check_two(t).totals[1].median_s, 99e-6, 1e-12);
}

TEST(NsysCsv, OldSpellingsByteOrderMarkAndCarriageReturns) {
  check_two(
      read("\xEF\xBB\xBFTime(%),Total Time (ns),Instances,Average,Minimum,Maximum,StdDev,Name\r\n"
           "75.0,3000000,30,100000.0,90000,110000,1.5,\"void gemm<float, 4>(float *)\"\r\n"
           "25.0,1000000,10,100000.0,90000,110000,1.5,norm\r\n"));
}

TEST(NsysCsv, OtherUnits) {
  check_two(
      read("Time (%),Total Time (us),Instances,Avg (us),Med (us),Min (us),Max (us),StdDev (us),Name\n"
           "75.0,3000.000,30,100.000,100.000,90.000,110.000,1.5,\"void gemm<float, 4>(float *)\"\n"
           "25.0,1000.000,10,100.000,100.000,90.000,110.000,1.5,norm\n"));
}

TEST(NsysCsv, DecimalCommas) {
  check_two(
      read("Time (%);Total Time (ms);Instances;Avg (ms);Med (ms);Min (ms);Max (ms);StdDev (ms);Name\n"
           "75,0;3,0;30;0,1;0,1;0,09;0,11;1,5;\"void gemm<float, 4>(float *)\"\n"
           "25,0;1,0;10;0,1;0,1;0,09;0,11;1,5;norm\n"));
}

TEST(NsysCsv, AConsoleTableAmongOtherLines) {
  check_two(read(
      "Generating '/tmp/report.qdstrm'\n[6/8] Executing 'cuda_gpu_kern_sum' stats report\n\n"
      " Time (%)  Total Time (ns)  Instances  Avg (ns)   Med (ns)   Min (ns)  Max (ns)  StdDev (ns)              Name\n"
      " --------  ---------------  ---------  ---------  ---------  --------  --------  -----------  "
      "----------------------------\n"
      "     75.0        3,000,000         30  100,000.0  100,000.0    90,000   110,000          1.5  void gemm<float, "
      "4>(float *)\n"
      "     25.0        1,000,000         10  100,000.0  100,000.0    90,000   110,000          1.5  norm\n"
      "\n[7/8] Executing 'cuda_gpu_mem_time_sum' stats report\n\n"
      " Time (%)  Total Time (ns)  Count  Avg (ns)  Operation\n"
      " --------  ---------------  -----  --------  ---------\n"
      "    100.0            1,000      1   1,000.0  [CUDA memset]\n"));
}

TEST(NsysCsv, GridAndBlockAndTheRangeBeforeTheName) {
  const auto t = read(
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),GridXYZ,BlockXYZ,Name\n"
      "100.0,500,1,500.0,500.0,500,500,0.0,  64    2    1, 256    1    1,part (first)/void k<(int)1>(a::b/c)\n");
  EXPECT_EQ(t.totals[0].grid, (Dim3{64, 2, 1}));
  EXPECT_EQ(t.totals[0].block, (Dim3{256, 1, 1}));
  EXPECT_EQ(t.names[t.totals[0].name], "void k<(int)1>(a::b/c)");
  EXPECT_EQ(t.warnings.at(0).code, "nvtx-prefix");
}

constexpr const char* kTrace =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes "
    "(MB),Throughput (MB/s),"
    "SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
    "2000,500,2,64,1,1,256,1,1,122,0.000,0.035,,,,,NVIDIA B200 (1),1,,20,gemm\n"
    "1000,100,1,,,,,,,,,,1.500,44962.000,Pageable,Device,NVIDIA B200 (1),1,,7,[CUDA memcpy Host-to-Device]\n"
    "1200,100,3,,,,,,,,,,0.004,4.000,Device,,NVIDIA B200 (1),1,,20,[CUDA memset]\n";

TEST(NsysCsv, Trace) {
  const auto t = read(kTrace);
  ASSERT_EQ(t.activities.size(), 3U);
  EXPECT_EQ(t.activities[0].copy, CopyKind::host_to_device);
  EXPECT_EQ(t.activities[0].bytes, 1500000U);
  EXPECT_EQ(t.activities[1].work, GpuWork::fill);
  EXPECT_EQ(t.activities[2].grid, (Dim3{64, 1, 1}));
  EXPECT_EQ(t.activities[2].span.start_ns, 2000);
  EXPECT_EQ(t.activities[2].span.length(), 500);
  EXPECT_EQ(t.devices.at(0).name, "NVIDIA B200");
  EXPECT_EQ(t.devices.at(0).id, 1U);
}

TEST(NsysCsv, RefusesWhatHasNoTimesOrNoKernels) {
  EXPECT_EQ(problem_of("Time (%),Instances,Name\n75.0,30,gemm\n").kind, "no-times");
  EXPECT_EQ(problem_of("Time (%),Total Time (ns),Instances,Name\n").kind, "no-kernels");
  const auto bad = problem_of("Time (%),Total Time (ns),Instances,Name\n75.0,many,30,gemm\n");
  EXPECT_EQ(bad.kind, "bad-number");
  EXPECT_EQ(bad.line, 2U);
  EXPECT_EQ(problem_of("Time (%),Total Time (bytes),Instances,Name\n75.0,1.5,30,gemm\n").kind, "bad-unit");
  EXPECT_EQ(problem_of("Time (%),Total Time (ns),Instances,Name\n75.0,3\n").kind, "bad-row");
}

TEST(NsysCsv, ATableCutShortKeepsWhatStands) {
  const auto t = read("Time (%),Total Time (ns),Instances,Name\n75.0,3000,30,gemm\n25.0,10");
  EXPECT_EQ(t.totals.size(), 1U);
  EXPECT_EQ(t.warnings.at(0).code, "truncated");
}

TEST(NsysCsv, LeavesOthersTablesAlone) {
  for (const auto* text :
       {"\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n\"0\",\"1\",\"k\",\"m\",\"1\"\n",
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n1,2,3,4,cudaMalloc\n", "", "\0\0\0"}) {
    EXPECT_FALSE(is_timeline(TextFile(text).path())) << text;
  }
}

TEST(NsysCsv, CutAtAnyLengthEndsInAMessageOrLess) {
  const std::string text = kTrace;
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      EXPECT_LE(read(text.substr(0, length)).activities.size(), 3U);
    } catch (const InputError& e) {
      EXPECT_FALSE(e.problem().found.empty());
    }
  }
}

// What the same profiler printed of the database beside it.
TEST(NsysCsvFiles, SumsOfRealTables) {
  ROOFLINE_NEEDS_SHARED("data/nsys");
  const auto path = [](const char* name) { return (testing::shared_path("data/nsys") / name).string(); };
  const auto sums = [](const Timeline& t) {
    double time = 0;
    std::uint64_t launches = 0;
    for (const auto& k : t.totals) {
      time += k.total_s;
      launches += k.launches;
    }
    return std::pair(time, launches);
  };
  const auto console = sums(open_timeline(path("amacharla15__gpu-profiling-cuda-kernels__resnet50_nsys_output.txt")));
  EXPECT_NEAR(console.first, 159443486e-9, 1e-12);
  EXPECT_EQ(console.second, 1785U);
  const auto decode = sums(open_timeline(path("CodeGandee__llm-perf-opt__dsocr_decode_cuda_gpu_kern_sum.csv")));
  EXPECT_EQ(decode.second, 78016U);
  const auto trace = open_timeline(path("CodeGandee__accelsim-test__algo64_cuda_gpu_trace.csv"));
  EXPECT_EQ(trace.activities.size(), 4U);
  EXPECT_EQ(open_timeline(path("CodeGandee__accelsim-test__algo64_cuda_gpu_kern_gb_sum.csv")).totals.at(0).grid,
            (Dim3{64, 1, 1}));
}

}  // namespace
}  // namespace roofline
