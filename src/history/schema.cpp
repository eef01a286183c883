#include "history/schema.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>

namespace roofline::history {
namespace {

// Kernel names are long and repeat: each is kept once. roofline_alias has what people call it, cut to what an index
// takes. Hashes find a name again without an index on its text.
constexpr std::string_view kFirst[] = {
    "CREATE TABLE roofline_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE roofline_record (id {id}, uid TEXT NOT NULL UNIQUE, recorded_at {integer} NOT NULL, "
    "tool_version TEXT NOT NULL, catalogue_version TEXT NOT NULL, machine TEXT NOT NULL, ceiling TEXT NOT NULL, "
    "machines TEXT NOT NULL, config TEXT NOT NULL, inputs TEXT NOT NULL, kernels {integer} NOT NULL, time_s {real}, "
    "roof_time_s {real}, "
    "fraction {real}, bound TEXT NOT NULL, placed_time_share {real} NOT NULL, wall_s {real}, clock_hz {real})",
    "CREATE INDEX roofline_record_time ON roofline_record (recorded_at, id)",
    "CREATE TABLE roofline_label (record_id {integer} NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, "
    "PRIMARY KEY (record_id, key))",
    "CREATE INDEX roofline_label_value ON roofline_label (key, value, record_id)",
    "CREATE TABLE roofline_name (id {id}, hash {integer} NOT NULL, name TEXT NOT NULL, full_name TEXT NOT NULL, "
    "op TEXT NOT NULL, family TEXT NOT NULL)",
    "CREATE INDEX roofline_name_hash ON roofline_name (hash)",
    "CREATE TABLE roofline_alias (key TEXT NOT NULL, name_id {integer} NOT NULL, PRIMARY KEY (key, name_id))",
    "CREATE TABLE roofline_kernel (record_id {integer} NOT NULL, ordinal {integer} NOT NULL, name_id {integer} NOT "
    "NULL, grid TEXT NOT NULL, block TEXT NOT NULL, device {integer} NOT NULL, launches {integer} NOT NULL, time_s "
    "{real}, time_min_s {real}, time_median_s {real}, time_max_s {real}, time_share {real} NOT NULL, time_basis TEXT "
    "NOT NULL, flops {real}, ops TEXT NOT NULL, dram_bytes {real}, link_bytes {real}, flops_bound TEXT NOT NULL, "
    "dram_bound TEXT NOT NULL, roof_time_s {real}, fraction {real}, fraction_upper {real}, bound TEXT NOT NULL, "
    "binding TEXT NOT NULL, regime TEXT NOT NULL, fraction_datasheet {real}, ceiling TEXT NOT NULL, clock_hz {real}, "
    "limiter TEXT NOT NULL, position TEXT NOT NULL, reason TEXT NOT NULL, look {integer} NOT NULL, gain_s {real}, "
    "PRIMARY KEY (record_id, ordinal)){clustered}",
    "CREATE INDEX roofline_kernel_name ON roofline_kernel (name_id, record_id)",
    "CREATE TABLE roofline_report (record_id {integer} PRIMARY KEY, size {integer} NOT NULL, zstd {blob} NOT NULL)",
};
constexpr std::string_view kSecond[] = {
    "ALTER TABLE roofline_record ADD COLUMN prediction_error {real}",
};
// kSteps[i] leads from version i to i + 1. A step that was released is never changed.
constexpr std::array<std::span<const std::string_view>, kSchemaVersion> kSteps = {kFirst, kSecond};

std::string in_dialect(std::string_view statement, const sql::Dialect& dialect) {
  return fmt::format(fmt::runtime(statement), fmt::arg("id", dialect.id_type), fmt::arg("blob", dialect.blob_type),
                     fmt::arg("real", dialect.real_type), fmt::arg("integer", dialect.integer_type),
                     fmt::arg("clustered", dialect.clustered));
}

// 0 where there are no tables.
std::int64_t version_of(sql::Connection& connection, const std::string& store) {
  if (!connection.has_table("roofline_meta")) return 0;
  const auto rows = connection.run("SELECT value FROM roofline_meta WHERE key = 'schema'");
  const auto text = rows.empty() ? std::string() : rows.front().text(0);
  std::int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc{} || end != text.data() + text.size() || version < 1)
    sql::fail(store, "store-damaged", fmt::format("its schema version is '{}'", text), "restore a copy");
  return version;
}

void refuse_newer(std::int64_t version, const std::string& store) {
  if (version > kSchemaVersion)
    sql::fail(store, "store-newer",
              fmt::format("has schema version {}; this program knows {} and older", version, kSchemaVersion),
              "use the newer roofline that wrote it; nothing was changed");
}

void step_from(std::int64_t version, sql::Connection& connection) {
  for (const auto statement : kSteps.at(static_cast<std::size_t>(version)))
    connection.run(in_dialect(statement, connection.dialect()));
  connection.run(
      "INSERT INTO roofline_meta (key, value) VALUES ('schema', $1) "
      "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      {std::to_string(version + 1)});
}

}  // namespace

void prepare_schema(sql::Connection& connection, const std::string& store, sql::Access access) {
  auto version = version_of(connection, store);
  refuse_newer(version, store);
  if (version == kSchemaVersion) return;
  if (access == sql::Access::read) {
    if (version == 0) sql::fail(store, "store-missing", "holds no history", "`roofline history record FILE` makes one");
    sql::fail(store, "store-older", fmt::format("has schema version {}, older than {}", version, kSchemaVersion),
              "make it writable once: opening it then brings it up to date");
  }
  while (version < kSchemaVersion) {
    sql::Transaction transaction(connection, sql::Lock::write);
    connection.lock_schema();
    // Another process may have been first.
    version = version_of(connection, store);
    refuse_newer(version, store);
    if (version < kSchemaVersion) step_from(version++, connection);
    transaction.commit();
  }
}

}  // namespace roofline::history
