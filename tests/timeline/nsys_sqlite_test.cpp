#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "roofline/error.h"
#include "roofline/timeline.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;

// A database in a file of its own, removed at the end.
class Database {
 public:
  explicit Database(const std::string& sql) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("roofline timeline " + std::to_string(::getpid()) + "?" + std::to_string(++count) + ".sqlite");
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path_.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr),
              SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << (error ? error : "");
    sqlite3_close(database);
  }
  ~Database() { std::filesystem::remove(path_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  std::string path() const { return path_.string(); }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

 private:
  std::filesystem::path path_;
};

std::string kind_of(const std::string& path, std::string* message = nullptr) {
  try {
    open_timeline(path);
  } catch (const InputError& e) {
    if (message) *message = e.what();
    return e.problem().kind;
  }
  return "";
}

constexpr const char* kMinimal = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
    shortName TEXT, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 400, 0, 7, 2, 'second', 4, 5, 6, 32, 1, 1);
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 0, 7, 1, 'first', 1, 2, 3, 64, 2, 1);
)";

constexpr const char* kFull = R"(
  CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
  INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems'), ('EXPORT_PRODUCT_VERSION', '2025.1'),
    ('EXPORT_SCHEMA_VERSION', '3.17.2');
  CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
  INSERT INTO StringIds VALUES (1, 'void gemm<float>(float *)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaStreamSynchronize_v3020'),
    (5, 'step'), (6, 'CUPTI: Buffer flush'), (7, 'Command Buffer Full'), (8, 'cudaGraphLaunch_v10000');
  CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER,
    smCount INTEGER, clockRate INTEGER);
  INSERT INTO TARGET_INFO_GPU VALUES (3, 'NVIDIA A100-SXM4-80GB', 8, 0, 8, 2, 108, 1410000000);
  CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
  INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 77), (4, 0, 78);
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER, gridX INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 1, 7, 5, 77 << 24, 1, 2, NULL, 8), (1500, 2500, 0, 1, 7, 5, 78 << 24, 1, 2, 9, 8),
    (9000, 8000, 0, 1, 7, 6, 77 << 24, 1, 2, NULL, 8), (9000, NULL, 0, 1, 7, 6, 77 << 24, 1, 2, NULL, 8);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, globalPid INTEGER, bytes INTEGER,
    copyKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3500, 0, 7, 77 << 24, 4096, 1, NULL, NULL), (3600, 3700, 0, 7, 77 << 24, 64, 8, 0, 1);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, globalPid INTEGER, bytes INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (4000, 4100, 0, 7, 77 << 24, 128);
  CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, globalPid INTEGER, graphId INTEGER,
    correlationId INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (5000, 6000, 0, 7, 77 << 24, 2, 9);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, (77 << 24) + 1, 5, 3), (1400, 1450, (78 << 24) + 1, 5, 3), (2000, 2100, (77 << 24) + 1, 7, 4),
    (4900, 4950, (77 << 24) + 1, 9, 8);
  CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
  INSERT INTO PROFILER_OVERHEAD VALUES (2100, 2200, (77 << 24) + 1, 6), (2200, 2300, (77 << 24) + 1, 7);
  CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);
  INSERT INTO NVTX_EVENTS VALUES (800, 3000, 59, NULL, 5, 1), (900, NULL, 34, 'a mark', NULL, 1);
  CREATE TABLE NVTX_EVENTS_V2 (start INTEGER, end INTEGER, text TEXT, globalTid INTEGER);
  INSERT INTO NVTX_EVENTS_V2 VALUES (850, 2900, 'inline', 1);
  CREATE TABLE ANALYSIS_DETAILS (duration INTEGER);
  INSERT INTO ANALYSIS_DETAILS VALUES (100000);
)";

TEST(NsysSqlite, ReadsWhatAnExportOfTodayHolds) {
  const Database database(kFull);
  const auto t = open_timeline(database.path());
  EXPECT_EQ(t.format, "nsys-sqlite");
  EXPECT_EQ(t.producer, "Nsight Systems 2025.1 (schema 3.17.2)");
  ASSERT_EQ(t.devices.size(), 2U);
  EXPECT_EQ(t.devices[0].id, 3U);
  EXPECT_EQ(t.devices[0].compute_capability, "8.0");  // not what smMajor and smMinor say
  EXPECT_EQ(t.devices[0].sm_count, 108);
  EXPECT_EQ(t.devices[1].id, 4U);  // both call their GPU 0
  ASSERT_EQ(t.activities.size(), 6U);
  EXPECT_EQ(t.names[t.activities[0].full_name], "void gemm<float>(float *)");
  EXPECT_EQ(t.names[t.activities[0].name], "gemm");
  EXPECT_EQ(t.activities[1].graph_node, 9U);
  EXPECT_EQ(t.activities[2].copy, CopyKind::host_to_device);
  EXPECT_EQ(t.activities[2].bytes, 4096U);
  EXPECT_EQ(t.activities[3].copy, CopyKind::peer_to_peer);  // between devices
  EXPECT_EQ(t.activities[4].work, GpuWork::fill);
  EXPECT_EQ(t.activities[5].work, GpuWork::graph);
  // Numbers of calls count per process.
  EXPECT_NE(t.activities[0].correlation, t.activities[1].correlation);
  EXPECT_EQ(t.activities[0].correlation, t.calls[0].correlation);
  EXPECT_EQ(t.activities[1].correlation, t.calls[1].correlation);
  ASSERT_EQ(t.calls.size(), 5U);
  EXPECT_EQ(t.calls[2].kind, HostCallKind::synchronize);
  EXPECT_EQ(t.calls[3].kind, HostCallKind::profiler);  // and the driver's own is none of the profiler's
  EXPECT_EQ(t.calls[4].kind, HostCallKind::graph_launch);
  ASSERT_EQ(t.ranges.size(), 2U);
  EXPECT_EQ(t.names[t.ranges[0].name], "step");
  EXPECT_EQ(t.names[t.ranges[1].name], "inline");
  EXPECT_EQ(t.recorded->length(), 100000);
  ASSERT_EQ(t.warnings.size(), 2U);
  EXPECT_EQ(t.warnings[0].code, "clock-backwards");
  EXPECT_EQ(t.warnings[1].code, "unfinished");
}

TEST(NsysSqlite, AFewColumnsAreEnough) {
  const Database database(kMinimal);
  const auto t = open_timeline(database.path());
  ASSERT_EQ(t.activities.size(), 2U);
  EXPECT_EQ(t.names[t.activities[0].name], "first");  // in order of time
  EXPECT_EQ(t.activities[0].grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(t.activities[1].block, (Dim3{32, 1, 1}));
  EXPECT_TRUE(t.producer.empty());
  EXPECT_FALSE(t.recorded);
}

TEST(NsysSqlite, OldMetadataTable) {
  const Database database(
      std::string(kMinimal) +
      "CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);"
      "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2023.1'), ('EXPORT_SCHEMA_VERSION', '3.1.2');");
  EXPECT_THAT(open_timeline(database.path()).producer, HasSubstr("2023.1 (schema 3.1.2)"));
}

TEST(NsysSqlite, PackedAndUnpackedAreTheSame) {
  const Database database(kFull);
  const auto packed_path = database.path() + ".gz";
  const auto bytes = database.bytes();
  gzFile out = gzopen(packed_path.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
  EXPECT_EQ(open_timeline(packed_path).activities.size(), 6U);
  EXPECT_TRUE(is_timeline(packed_path));
  std::filesystem::remove(packed_path);
}

TEST(NsysSqlite, RefusalsSayWhatIsMissing) {
  std::string message;
  const Database none(
      "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, 'cuLaunchKernel');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, nameId INTEGER); INSERT INTO "
      "CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 1);"
      "CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text TEXT); INSERT INTO DIAGNOSTIC_EVENT VALUES (3, 'no "
      "permission'), (1, 'hello');");
  EXPECT_EQ(kind_of(none.path(), &message), "no-kernels");
  EXPECT_THAT(message, HasSubstr("1 launch on the host"));
  EXPECT_THAT(message, HasSubstr("no permission"));
  EXPECT_THAT(message, HasSubstr("nsys export --type sqlite"));

  const Database empty("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER);");
  EXPECT_EQ(kind_of(empty.path()), "no-kernels");
  const Database odd("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (begin INTEGER, finish INTEGER);");
  EXPECT_EQ(kind_of(odd.path()), "bad-schema");
  const Database nvprof("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INTEGER);");
  EXPECT_EQ(kind_of(nvprof.path()), "nvprof-sqlite");
  const Database rocpd("CREATE TABLE rocpd_kernel_dispatch_0 (start INTEGER);");
  EXPECT_EQ(kind_of(rocpd.path()), "rocpd");
  const Database other("CREATE TABLE cookies (id INTEGER);");
  EXPECT_EQ(kind_of(other.path()), "no-kernels");
}

TEST(NsysSqlite, ReportsOfTheProfilerComeWithTheExportCommand) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("roofline-" + std::to_string(::getpid()) + ".nsys-rep")).string();
  std::ofstream(path, std::ios::binary) << std::string("\x01\x00\x02\xff unknown bytes \x00", 20);
  std::string message;
  kind_of(path, &message);
  EXPECT_THAT(message, HasSubstr("nsys export"));
  EXPECT_FALSE(is_timeline(path));
  std::filesystem::remove(path);
}

TEST(NsysSqlite, ViewsAreNotRead) {
  const Database view(
      "CREATE TABLE t (x INTEGER); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT x AS start, x AS end FROM t;");
  EXPECT_EQ(kind_of(view.path()), "no-kernels");
}

TEST(NsysSqlite, HostileValuesEndInNoCrash) {
  const Database database(std::string(kMinimal) + R"(
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-9223372036854775808, 9223372036854775807, -5, -1, -1, x'00ff', -1, 1e300, 'x', NULL, 0, 0);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('text', 'text', 'text', 'text', 'text', 5, 'a', 'b', 'c', 'd', 'e', 'f');
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 600, 4294967295, 18446744073709551615, 3, '', 1, 1, 1, 1, 1, 1);)");
  const auto t = open_timeline(database.path());
  EXPECT_EQ(t.activities.size(), 4U);
  for (const auto& a : t.activities) EXPECT_LT(a.device, t.devices.size());
}

TEST(NsysSqlite, CutAtAnyLengthEndsInAMessage) {
  const Database database(kFull);
  const auto bytes = database.bytes();
  for (std::size_t length = 0; length < bytes.size(); length += 4001) {
    database.write(bytes.substr(0, length));
    EXPECT_NE(kind_of(database.path()), "") << length;
  }
  // Flipped bytes: a message or a result, never a crash.
  for (std::size_t at = 0; at < bytes.size(); at += 997) {
    auto broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x5A);
    database.write(broken);
    kind_of(database.path());
  }
}

TEST(NsysSqlite, NothingIsWrittenBesideTheFile) {
  const Database database(kFull);
  open_timeline(database.path());
  EXPECT_FALSE(std::filesystem::exists(database.path() + "-journal"));
  EXPECT_FALSE(std::filesystem::exists(database.path() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(database.path() + "-shm"));
}

struct Expected {
  const char* file;
  std::size_t kernels, copies, fills, calls, ranges, devices;
  std::int64_t kernel_ns;
};

// Counts and sums by SQLite itself.
TEST(NsysSqliteFiles, CountsOfRealExports) {
  ROOFLINE_NEEDS_SHARED("data/nsys");
  constexpr Expected kFiles[] = {
      {"GindaChen__nsys-ai__h100_2gpu_1s.sqlite", 3442, 904, 22, 5796, 16782, 2, 44829522},
      {"GindaChen__nsys-ai__healthy_1pct.sqlite", 400, 0, 0, 400, 0, 1, 400000000},
      {"Lashi0812__CudaProgramming__streamSimple.sqlite", 16, 0, 0, 34, 0, 1, 66721},
      {"amacharla15__gpu-profiling-cuda-kernels__resnet50_nsys.sqlite", 1785, 320, 9, 4891, 1, 1, 159443486}};
  for (const auto& f : kFiles) {
    SCOPED_TRACE(f.file);
    const auto t = open_timeline((testing::shared_path("data/nsys") / f.file).string());
    const auto count = [&](GpuWork w) {
      return static_cast<std::size_t>(
          std::count_if(t.activities.begin(), t.activities.end(), [&](const auto& a) { return a.work == w; }));
    };
    EXPECT_EQ(count(GpuWork::kernel), f.kernels);
    EXPECT_EQ(count(GpuWork::copy), f.copies);
    EXPECT_EQ(count(GpuWork::fill), f.fills);
    EXPECT_EQ(static_cast<std::size_t>(std::count_if(t.calls.begin(), t.calls.end(),
                                                     [](const auto& c) { return c.kind != HostCallKind::profiler; })),
              f.calls);
    EXPECT_EQ(t.ranges.size(), f.ranges);
    EXPECT_EQ(t.devices.size(), f.devices);
    std::int64_t sum = 0;
    for (const auto& a : t.activities) sum += a.work == GpuWork::kernel ? a.span.length() : 0;
    EXPECT_EQ(sum, f.kernel_ns);
  }
}

TEST(NsysSqliteFiles, AnExportWithoutKernelsIsRefused) {
  ROOFLINE_NEEDS_SHARED("data/nsys");
  EXPECT_EQ(kind_of((testing::shared_path("data/nsys") / "forestmgy__miniGEMM__report1.sqlite").string()),
            "no-kernels");
}

}  // namespace
}  // namespace roofline
