// What a store keeps and finds again; the same on SQLite and PostgreSQL.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "history/kernel_rows.h"
#include "history/schema.h"
#include "roofline/error.h"
#include "stores.h"

namespace roofline::testing {
namespace {

using history::Filter;
using history::Labels;
using history::Store;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HistoryStore : public StoreTest {
 protected:
  Store made() { return Store::open(where_ = place(), Store::Access::write); }
  std::string where_;
};
ROOFLINE_ON_BOTH_STORES(HistoryStore);

std::vector<std::int64_t> ids(const std::vector<history::RecordInfo>& records) {
  std::vector<std::int64_t> out;
  for (const auto& r : records) out.push_back(r.id);
  return out;
}

// Everything of a step as one text, to compare.
std::string text_of(const StepRecord& step) {
  std::ostringstream out;
  out.precision(17);
  const auto put = [&](const std::optional<double>& v) { v ? out << *v << ' ' : out << "- "; };
  out << step.tool_version << step.catalogue_version << to_string(step.ceiling) << to_string(step.bound);
  for (const auto& text : step.inputs) out << text << ' ';
  for (const auto& text : step.machines) out << text << ' ';
  for (const auto& v : {step.time_s, step.roof_time_s, step.fraction, step.wall_s}) put(v);
  out << step.placed_time_share << '\n';
  for (const auto& k : step.kernels) {
    out << k.name << '|' << k.full_name << '|' << k.op << '|';
    std::vector<history::sql::Value> values;
    history::append_values(k, values);
    for (const auto& value : values) {
      if (const auto* t = std::get_if<std::string>(&value)) out << *t << ' ';
      if (const auto* r = std::get_if<double>(&value)) out << *r << ' ';
      if (const auto* i = std::get_if<std::int64_t>(&value)) out << *i << ' ';
      if (std::holds_alternative<std::monostate>(value)) out << "- ";
    }
    out << '\n';
  }
  return out.str();
}

TEST_P(HistoryStore, KeepsTheReportByteForByteAndItsRows) {
  auto store = made();
  const auto report = to_json(decode_step());
  const auto id = store.record(new_record(report)).id;
  EXPECT_EQ(store.report(id), report);
  const auto record = store.find(std::to_string(id));
  EXPECT_EQ(record.kernels, 10U);
  EXPECT_EQ(text_of(store.step(record)), text_of(read_record(report, "report")));
}

TEST_P(HistoryStore, KeepsWhatMadeTheNumbers) {
  auto store = made();
  const auto id =
      store.record(new_record(small_report(), {{"commit", "a"}}, history::parse_time("2026-01-31T12:34:56Z"))).id;
  const auto record = store.find(std::to_string(id));
  EXPECT_EQ(record.machine, "Test GPU 100");
  EXPECT_EQ(record.ceiling, CeilingKind::datasheet);
  EXPECT_FALSE(record.tool_version.empty());
  EXPECT_EQ(history::format_time(record.time), "2026-01-31T12:34:56Z");
  EXPECT_THAT(record.labels, ElementsAre(std::pair("commit", "a")));
  EXPECT_THAT(record.inputs, ElementsAre("traces/step.ncu-rep"));
  EXPECT_EQ(nlohmann::json::parse(record.config)["thresholds"]["optimal"], 0.8);
  EXPECT_EQ(record.uid.size(), 32U);
}

TEST_P(HistoryStore, ListsTheNewestFirstAndByLabels) {
  auto store = made();
  const auto day = history::parse_time("2026-01-01");
  const auto a = store.record(new_record(small_report(), {{"branch", "main"}, {"run", "1"}}, day)).id;
  const auto b = store.record(new_record(small_report(), {{"branch", "side"}}, day + 2)).id;
  const auto c = store.record(new_record(small_report(), {{"branch", "main"}}, day + 1)).id;
  EXPECT_THAT(ids(store.list()), ElementsAre(b, c, a));
  EXPECT_THAT(ids(store.list({{{"branch", "main"}}, "", {}, 0})), ElementsAre(c, a));
  EXPECT_THAT(ids(store.list({{{"branch", "main"}, {"run", "1"}}, "", {}, 0})), ElementsAre(a));
  EXPECT_THAT(ids(store.list({{{"branch", "other"}}, "", {}, 0})), IsEmpty());
  EXPECT_THAT(ids(store.list({{}, "", {}, 2})), ElementsAre(b, c));
  EXPECT_THAT(ids(store.list({{}, "", day + 2, 0})), ElementsAre(c, a));
  EXPECT_THAT(ids(store.list({{}, "Another GPU", {}, 0})), IsEmpty());
}

TEST_P(HistoryStore, FindsByIdAndByTheBeginningOfAUid) {
  auto store = made();
  const auto id = store.record(new_record(small_report())).id;
  const auto uid = store.find(std::to_string(id)).uid;
  EXPECT_EQ(store.find(uid).id, id);
  EXPECT_EQ(store.find(uid.substr(0, 8)).id, id);
  EXPECT_EQ(store.find("@" + std::to_string(id)).id, id);
  EXPECT_THROW(store.find("@@" + std::to_string(id)), UsageError);
  EXPECT_THROW(store.find("@"), UsageError);
  EXPECT_THROW(store.find("999999"), UsageError);
  EXPECT_THROW(store.find(uid.substr(0, 3) + "zz"), UsageError);
  EXPECT_THROW(store.find("' OR 1=1 --"), UsageError);
  EXPECT_THROW(store.find(""), UsageError);
}

TEST_P(HistoryStore, TakesHostileTextAsText) {
  auto store = made();
  const std::string hostile = "a'); DROP TABLE roofline_record; --\n\"\\\t$1 %s {id} \xF0\x9F\x98\x80";
  ReportBuilder builder;
  builder.input(hostile);
  add_kernel(builder, hostile, 0.9, hostile);
  auto& bad = add_kernel(builder, std::string("nul\0in\xFFside", 11), 0.5);
  bad.full_name = std::string(100000, 'x') + hostile;
  const auto report = to_json(builder.build());
  const auto id = store.record(new_record(report, {{"key'; --", hostile}, {"$1", "$2"}})).id;
  EXPECT_EQ(store.report(id), report);
  const auto found = store.list({{{"key'; --", hostile}}, "", {}, 0});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found.front().labels.at("$1"), "$2");
  EXPECT_THAT(found.front().inputs, ElementsAre(hostile));
  const auto step = store.step(found.front());
  ASSERT_THAT(step.kernels, SizeIs(2));
  EXPECT_EQ(step.kernels[0].name, hostile);
  EXPECT_EQ(step.kernels[0].op, hostile);
  EXPECT_EQ(step.kernels[1].name, "nul\xEF\xBF\xBDin\xEF\xBF\xBDside");
  EXPECT_EQ(step.kernels[1].full_name.size(), 100000 + hostile.size());
  EXPECT_THAT(store.trend(hostile), SizeIs(1));
  EXPECT_THAT(store.trend(step.kernels[1].full_name), SizeIs(1));
  EXPECT_THROW(store.trend("'; DROP TABLE roofline_kernel; --"), UsageError);
  EXPECT_THAT(store.list(), SizeIs(1));
}

TEST_P(HistoryStore, RefusesLabelsThatNoStoreCanHold) {
  auto store = made();
  const auto refused = [&](const std::string& key, const std::string& value) {
    EXPECT_THROW(store.record(new_record(small_report(), {{key, value}})), UsageError) << key;
  };
  refused("nul", std::string("a\0b", 3));
  refused(std::string("n\0l", 3), "a");
  refused("", "a");
  refused("a=b", "c");
  refused("line\nend", "c");
  refused("ill-formed", "\xFF");
  refused("long", std::string(1001, 'x'));
  refused(std::string(101, 'k'), "x");
  EXPECT_THAT(store.list(), IsEmpty());
}

TEST_P(HistoryStore, StoresNothingOfABadReport) {
  auto store = made();
  EXPECT_EQ(
      kind_of_error([&] { store.record(new_record("{\"schema\":\"roofline/report/1\",\"kernels\":[{")); }).empty(),
      false);
  EXPECT_NE(kind_of_error([&] { store.record(new_record("")); }), "");
  EXPECT_NE(kind_of_error([&] { store.record(new_record("{\"schema\":\"other\"}")); }), "");
  EXPECT_THAT(store.list(), IsEmpty());
  EXPECT_TRUE(raw(where_)->run("SELECT 1 FROM roofline_kernel").empty());
}

TEST_P(HistoryStore, RecordsAUidOnce) {
  auto store = made();
  auto record = new_record(small_report());
  record.uid = "0123456789abcdef0123456789abcdef";
  const auto first = store.record(record);
  const auto second = store.record(record);
  EXPECT_TRUE(first.fresh);
  EXPECT_FALSE(second.fresh);
  EXPECT_EQ(first.id, second.id);
  EXPECT_THAT(store.list(), SizeIs(1));
}

TEST_P(HistoryStore, TrendFollowsAKernelThroughItsNames) {
  auto store = made();
  const auto record = [&](const std::string& full, const std::string& op, double fraction, history::Time time) {
    ReportBuilder builder;
    auto& row = add_kernel(builder, "gemm", fraction, op);
    row.full_name = full;
    add_kernel(builder, "norm_kernel", 0.5);
    store.record(new_record(to_json(builder.build()), {}, time));
  };
  record("void gemm<128, 64, float>(float*)", "qkv_proj", 0.9, 3);
  record("void gemm<256, 64, float>(float*)", "qkv_proj", 0.8, 2);
  record("sm90_xmma_gemm_bf16_tilesize128x128x64", "qkv_proj", 0.7, 1);
  const auto by_operator = store.trend("qkv_proj");
  ASSERT_THAT(by_operator, SizeIs(3));
  EXPECT_NEAR(*by_operator[0].fraction, 0.7, 1e-6);  // oldest first
  EXPECT_NEAR(*by_operator[2].fraction, 0.9, 1e-6);
  EXPECT_EQ(by_operator[0].record.time, 1);
  EXPECT_THAT(store.trend(name_family("void gemm<256, 64, float>(float*)")), SizeIs(3));
  EXPECT_THAT(store.trend("void gemm<256, 64, float>(float*)"), SizeIs(1));
  EXPECT_THAT(store.trend("norm_ker"), SizeIs(3));  // a part of one kernel only
  EXPECT_THAT(store.trend("qkv_proj", {{}, "", {}, 2}), SizeIs(2));
  EXPECT_EQ(store.trend("qkv_proj", {{}, "", {}, 2}).front().record.time, 2);
  try {
    store.trend("m");
    ADD_FAILURE() << "fits several kernels";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fits 2 kernels"));
  }
}

TEST_P(HistoryStore, TrendAddsUpTheShapes) {
  auto store = made();
  ReportBuilder builder;
  add_kernel(builder, "norm_kernel", 0.5);
  add_kernel(builder, "norm_kernel", 0.25).grid = {64, 1, 1};
  store.record(new_record(to_json(builder.build())));
  const auto points = store.trend("norm_kernel");
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].rows, 2U);
  EXPECT_NEAR(*points[0].time_s, 6e-3, 1e-12);
  EXPECT_NEAR(*points[0].fraction, 1.0 / 3, 1e-9);  // 2 ms of roof in 6 ms
  EXPECT_NEAR(*points[0].sum.dram_bytes, 8e9, 1);
}

TEST_P(HistoryStore, PrunesWhatTheRuleSays) {
  auto store = made();
  std::vector<std::int64_t> all;
  for (int i = 1; i <= 6; ++i)
    all.push_back(store.record(new_record(small_report(), {{"branch", i % 2 == 0 ? "main" : "side"}}, i)).id);
  history::PruneRule rule;
  rule.keep = 1;
  rule.labels = {{"branch", "side"}};
  rule.dry_run = true;
  EXPECT_THAT(store.prune(rule), SizeIs(2));
  EXPECT_THAT(store.list(), SizeIs(6));
  rule.dry_run = false;
  EXPECT_THAT(ids(store.prune(rule)), ElementsAre(all[2], all[0]));
  rule = {};
  rule.before = 3;
  EXPECT_THAT(ids(store.prune(rule)), ElementsAre(all[1]));
  EXPECT_THAT(ids(store.list()), ElementsAre(all[5], all[4], all[3]));
  EXPECT_EQ(raw(where_)->run("SELECT count(*) FROM roofline_kernel").front().integer(0), 6);
  EXPECT_EQ(raw(where_)->run("SELECT count(*) FROM roofline_label").front().integer(0), 3);
  EXPECT_EQ(raw(where_)->run("SELECT count(*) FROM roofline_report").front().integer(0), 3);
}

TEST_P(HistoryStore, ExportedRecordsCanBeImportedElsewhere) {
  auto store = made();
  auto record =
      new_record(to_json(decode_step()), {{"branch", "a'\"\nb"}}, history::parse_time("2026-01-31T12:34:56.000007Z"));
  record.prediction_error = 0.125;
  store.record(record);
  store.record(new_record(small_report(), {}, history::parse_time("2026-02-01")));
  std::stringstream lines;
  export_json_lines(store, {}, lines);
  auto other = Store::open(place(), Store::Access::write);
  const auto text = lines.str();
  const auto done = import_json_lines(other, lines, "export.jsonl");
  EXPECT_EQ(done.fresh, 2U);
  const auto before = store.list();
  const auto after = other.list();
  ASSERT_THAT(after, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after[i].uid, before[i].uid);
    EXPECT_EQ(after[i].time, before[i].time);
    EXPECT_EQ(after[i].labels, before[i].labels);
    EXPECT_EQ(after[i].prediction_error, before[i].prediction_error);
    EXPECT_EQ(text_of(other.step(after[i])), text_of(store.step(before[i])));
    EXPECT_EQ(nlohmann::json::parse(other.report(after[i].id)), nlohmann::json::parse(store.report(before[i].id)));
  }
  std::istringstream again(text);
  EXPECT_EQ(import_json_lines(other, again, "export.jsonl").known, 2U);
}

TEST_P(HistoryStore, ImportNamesTheLineAndKeepsWhatCameBefore) {
  auto store = made();
  store.record(new_record(small_report()));
  std::stringstream lines;
  export_json_lines(store, {}, lines);
  auto other = Store::open(place(), Store::Access::write);
  for (const auto* bad : {"{\"schema\":", "[]", "{}", "{\"schema\":\"roofline/history-record/1\",\"uid\":\"x\"}",
                          "{\"schema\":\"roofline/history-record/1\",\"uid\":\"0123456789abcdef0123456789abcdef\","
                          "\"time\":\"yesterday\",\"report\":{}}",
                          "{\"schema\":\"roofline/history-record/1\",\"uid\":\"0123456789abcdef0123456789abcdef\","
                          "\"time\":\"2026-01-01\",\"labels\":{\"a\":\"b\\u0000c\"},\"report\":{}}"}) {
    std::istringstream in(lines.str() + bad + "\n");
    try {
      import_json_lines(other, in, "bad.jsonl");
      ADD_FAILURE() << bad;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("bad.jsonl:2")) << bad;
    }
    EXPECT_THAT(other.list(), SizeIs(1)) << bad;
  }
}

TEST_P(HistoryStore, ImportTakesOptionalKeysAsNoneOnlyWhereTheyAreAbsentOrNull) {
  const auto record = [](const std::string& optional) {
    auto report = small_report();
    std::replace(report.begin(), report.end(), '\n', ' ');
    return "{\"schema\":\"roofline/history-record/1\",\"uid\":\"0123456789abcdef0123456789abcdef\",\"time\":"
           "\"2026-01-01\"," +
           optional + "\"report\":" + report + "}\n";
  };
  for (const auto* bad : {"\"labels\":[1],", "\"labels\":\"a=b\",", "\"labels\":{\"a\":1},",
                          "\"prediction_error\":\"5%\",", "\"prediction_error\":[],"}) {
    auto store = made();
    std::istringstream in(record(bad));
    EXPECT_NE(kind_of_error([&] { import_json_lines(store, in, "bad.jsonl"); }), "") << bad;
    EXPECT_THAT(store.list(), IsEmpty()) << bad;
  }
  for (const auto* good : {"", "\"labels\":null,\"prediction_error\":null,", "\"labels\":{},"}) {
    auto store = made();
    std::istringstream in("\xEF\xBB\xBF" + record(good));  // some editors leave a byte order mark
    EXPECT_EQ(import_json_lines(store, in, "good.jsonl").fresh, 1U) << good;
    EXPECT_THAT(store.list().at(0).labels, IsEmpty()) << good;
    EXPECT_FALSE(store.list().at(0).prediction_error) << good;
  }
}

// ---------------------------------------------------------------- schema

// A store as version 1 made it, by hand.
void make_version_1(history::sql::Connection& c, bool on_server) {
  const std::string id =
      on_server ? "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY" : "INTEGER PRIMARY KEY AUTOINCREMENT";
  const std::string blob = on_server ? "BYTEA" : "BLOB";
  const std::string whole = on_server ? "BIGINT" : "INTEGER";
  const std::string real = on_server ? "DOUBLE PRECISION" : "REAL";
  c.run("CREATE TABLE roofline_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
  c.run("INSERT INTO roofline_meta VALUES ('schema', '1')");
  c.run(
      "CREATE TABLE roofline_record (id " + id + ", uid TEXT NOT NULL UNIQUE, recorded_at " + whole +
      " NOT NULL, tool_version TEXT NOT NULL, catalogue_version TEXT NOT NULL, machine TEXT NOT NULL, ceiling TEXT NOT "
      "NULL, machines TEXT NOT NULL, config TEXT NOT NULL, inputs TEXT NOT NULL, kernels " +
      whole + " NOT NULL, time_s " + real + ", roof_time_s " + real + ", fraction " + real +
      ", bound TEXT NOT NULL, placed_time_share " + real + " NOT NULL, wall_s " + real + ", clock_hz " + real + ")");
  c.run("CREATE INDEX roofline_record_time ON roofline_record (recorded_at, id)");
  c.run("CREATE TABLE roofline_label (record_id " + whole +
        " NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, "
        "PRIMARY KEY (record_id, key))");
  c.run("CREATE INDEX roofline_label_value ON roofline_label (key, value, record_id)");
  c.run("CREATE TABLE roofline_name (id " + id + ", hash " + whole +
        " NOT NULL, name TEXT NOT NULL, full_name TEXT NOT "
        "NULL, op TEXT NOT NULL, family TEXT NOT NULL)");
  c.run("CREATE INDEX roofline_name_hash ON roofline_name (hash)");
  c.run("CREATE TABLE roofline_alias (key TEXT NOT NULL, name_id " + whole + " NOT NULL, PRIMARY KEY (key, name_id))");
  std::string columns;
  for (const auto* text : {"grid", "block", "time_basis", "ops", "flops_bound", "dram_bound", "bound", "binding",
                           "regime", "ceiling", "limiter", "position", "reason"})
    columns += std::string(text) + " TEXT NOT NULL, ";
  for (const auto* number :
       {"time_s", "time_min_s", "time_median_s", "time_max_s", "time_share", "flops", "dram_bytes", "link_bytes",
        "roof_time_s", "fraction", "fraction_upper", "fraction_datasheet", "clock_hz", "gain_s"})
    columns += std::string(number) + " " + real + ", ";
  for (const auto* count : {"device", "launches", "look"}) columns += std::string(count) + " " + whole + " NOT NULL, ";
  c.run("CREATE TABLE roofline_kernel (record_id " + whole + " NOT NULL, ordinal " + whole + " NOT NULL, name_id " +
        whole + " NOT NULL, " + columns + "PRIMARY KEY (record_id, ordinal))");
  c.run("CREATE INDEX roofline_kernel_name ON roofline_kernel (name_id, record_id)");
  c.run("CREATE TABLE roofline_report (record_id " + whole + " PRIMARY KEY, size " + whole + " NOT NULL, zstd " + blob +
        " NOT NULL)");
  c.run(
      "INSERT INTO roofline_record (id, uid, recorded_at, tool_version, catalogue_version, machine, ceiling, machines, "
      "config, "
      "inputs, kernels, time_s, fraction, bound, placed_time_share) VALUES (7, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 5, "
      "'0.0.9', 'c0ffee', 'Old GPU', 'datasheet', '[\"Old GPU\"]', '{}', '[\"old.ncu-rep\"]', 1, 0.5, 0.75, 'exact', "
      "1)");
  c.run("INSERT INTO roofline_label VALUES (7, 'branch', 'old')");
  c.run(
      "INSERT INTO roofline_name (id, hash, name, full_name, op, family) VALUES (3, 1, 'old_kernel', 'old_kernel<1>', "
      "'', "
      "'old_kernel')");
  c.run("INSERT INTO roofline_alias VALUES ('old_kernel', 3)");
  c.run(
      "INSERT INTO roofline_kernel (record_id, ordinal, name_id, grid, block, device, launches, time_s, time_share, "
      "time_basis, ops, flops_bound, dram_bound, fraction, bound, binding, regime, ceiling, limiter, position, reason, "
      "look) VALUES (7, 0, 3, '1,2,3', '', 0, 4, 0.5, 1, 'given', '{\"fp32.vector\":8.0}', 'exact', 'exact', 0.75, "
      "'exact', 'dram', 'memory', 'datasheet', '', 'memory-suboptimal', '', 0)");
}

TEST_P(HistoryStore, BringsAnOldStoreUpToDateAndLosesNothing) {
  const auto where = place();
  make_version_1(*raw(where), on_server());
  {
    const auto store = Store::open(where, Store::Access::read);  // reading migrates too, where it may
    const auto record = store.find("7");
    EXPECT_EQ(record.labels.at("branch"), "old");
    EXPECT_FALSE(record.prediction_error);
    const auto step = store.step(record);
    ASSERT_THAT(step.kernels, SizeIs(1));
    EXPECT_EQ(step.kernels[0].name, "old_kernel");
    EXPECT_EQ(step.kernels[0].grid, (Dim3{1, 2, 3}));
    EXPECT_EQ(step.kernels[0].ops.at("fp32.vector"), 8);
    EXPECT_THAT(store.trend("old_kernel"), SizeIs(1));
  }
  auto store = Store::open(where, Store::Access::write);
  auto record = new_record(small_report());
  record.prediction_error = 0.25;
  const auto id = store.record(record).id;
  EXPECT_NE(id, 7);
  EXPECT_EQ(store.find(std::to_string(id)).prediction_error, 0.25);
  EXPECT_EQ(raw(where)->run("SELECT value FROM roofline_meta WHERE key = 'schema'").front().text(0),
            std::to_string(history::kSchemaVersion));
}

TEST_P(HistoryStore, LeavesANewerStoreAlone) {
  const auto where = place();
  Store::open(where, Store::Access::write).record(new_record(small_report()));
  raw(where)->run("UPDATE roofline_meta SET value = '99' WHERE key = 'schema'");
  EXPECT_EQ(kind_of_error([&] { Store::open(where, Store::Access::read); }), "store-newer");
  EXPECT_EQ(kind_of_error([&] { Store::open(where, Store::Access::write); }), "store-newer");
  EXPECT_EQ(raw(where)->run("SELECT count(*) FROM roofline_record").front().integer(0), 1);
  raw(where)->run("UPDATE roofline_meta SET value = 'soup' WHERE key = 'schema'");
  EXPECT_EQ(kind_of_error([&] { Store::open(where, Store::Access::write); }), "store-damaged");
}

TEST_P(HistoryStore, ReadingMakesNoStore) {
  const auto where = place();
  EXPECT_EQ(kind_of_error([&] { Store::open(where, Store::Access::read); }), "store-missing");
  EXPECT_EQ(kind_of_error([&] { Store::open(where, Store::Access::read); }), "store-missing");
}

TEST_P(HistoryStore, SaysWhichReportIsDamaged) {
  auto store = made();
  const auto id = store.record(new_record(small_report())).id;
  const auto whole = store.report(id);
  auto packed = raw(where_)->run("SELECT zstd FROM roofline_report").front().blob(0);
  packed[packed.size() / 2] ^= 0x10;
  raw(where_)->run("UPDATE roofline_report SET zstd = $1", {history::sql::Blob{packed}});
  EXPECT_EQ(kind_of_error([&] { static_cast<void>(store.report(id)); }), "store-damaged");
  raw(where_)->run("UPDATE roofline_report SET size = 5");
  EXPECT_EQ(kind_of_error([&] { static_cast<void>(store.report(id)); }), "store-damaged");
  raw(where_)->run("UPDATE roofline_kernel SET position = 'sideways'");
  EXPECT_EQ(kind_of_error([&] { static_cast<void>(store.step(store.find(std::to_string(id)))); }), "store-damaged");
}

TEST_P(HistoryStore, ManyWritersAtOnceLoseNothing) {
  const auto where = place();
  constexpr int kWriters = 6;
  constexpr int kRecords = 8;
  std::vector<std::thread> writers;
  std::vector<std::string> errors(kWriters);
  for (int w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      try {
        for (int i = 0; i < kRecords; ++i)  // each opens anew: the first ones make the tables together
          Store::open(where, Store::Access::write)
              .record(new_record(to_json(decode_step()), {{"w", std::to_string(w)}}));
      } catch (const std::exception& e) {
        errors[static_cast<std::size_t>(w)] = e.what();
      }
    });
  for (auto& writer : writers) writer.join();
  for (const auto& error : errors) EXPECT_EQ(error, "");
  const auto store = Store::open(where, Store::Access::read);
  EXPECT_EQ(store.list().size(), std::size_t{kWriters * kRecords});
  EXPECT_EQ(raw(where)->run("SELECT count(*) FROM roofline_kernel").front().integer(0), kWriters * kRecords * 10);
}

TEST_P(HistoryStore, AnswersThroughIndexes) {
  auto store = made();
  for (int i = 1; i <= 20; ++i) store.record(new_record(to_json(decode_step()), {{"branch", "main"}}, i));
  if (on_server()) {
    // A planner reads small tables whole; what matters is that it could do without.
    const auto c = raw(where_);
    c->run("ANALYZE");
  }
  for (const auto& [question, plan] : store.query_plans()) {
    if (!on_server()) {
      EXPECT_THAT(plan, Not(HasSubstr("SCAN k"))) << question << '\n' << plan;
      EXPECT_THAT(plan, ::testing::AnyOf(HasSubstr("INDEX"), HasSubstr("PRIMARY KEY"))) << question << '\n' << plan;
      // The records of one label are sorted by time: as many as bear it.
      if (question != "newest record with a label") {
        EXPECT_THAT(plan, Not(HasSubstr("TEMP B-TREE"))) << question << '\n' << plan;
      }
    } else {
      EXPECT_FALSE(plan.empty()) << question;
    }
  }
}

}  // namespace
}  // namespace roofline::testing
