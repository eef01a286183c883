#include "timeline/sqlite_database.h"

#include <fmt/format.h>

#include <algorithm>

namespace roofline {
namespace {

// More tables than any profiler writes.
constexpr std::size_t kMostTables = 10000;

// As part of a URI: everything but letters, digits and the harmless few.
std::string uri_of(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out + "?immutable=1";
}

std::string in_quotes(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

}  // namespace

std::uint64_t SqliteRow::count(int column) const {
  const auto value = integer(column);
  return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

std::string_view SqliteRow::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!bytes) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

SqliteDatabase::SqliteDatabase(const TimelineSource& source, const TimelineOptions& options)
    : input_{source.unpacked(options)} {
  check_size();
  // A mapped file could be given to SQLite as memory, but it wants to read pages itself: less memory, no copies.
  if (!source.is_packed && source.label != "-")
    open_file();
  else
    open_memory();
  distrust();
  read_schema();
}

// SQLite takes what is missing of the last page for zeros, and reads rows of zeros there.
void SqliteDatabase::check_size() const {
  const auto bytes = input_.text();
  constexpr std::size_t kHeader = 100, kPageSize = 16, kPages = 28, kChanges = 24, kValidFor = 92;
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  const bool whole_header = bytes.size() >= kHeader;
  // The count of pages holds where these two agree.
  if (whole_header && number(kChanges, 4) != number(kValidFor, 4)) return;
  const auto page = whole_header ? number(kPageSize, 2) : 0;
  const auto expected = whole_header ? (page == 1 ? std::uint64_t{65536} : page) * number(kPages, 4) : kHeader;
  if (bytes.size() < expected)
    refuse(input_, "truncated", fmt::format("a database of {} bytes", bytes.size()),
           fmt::format("{} bytes, as its header says", expected),
           "copy it again, or export it again: nsys export --type sqlite REPORT.nsys-rep");
}

void SqliteDatabase::open_file() {
  sqlite3* database = nullptr;
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  const int result = sqlite3_open_v2(uri_of(input_.path).c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (result != SQLITE_OK) fail("the file");
}

void SqliteDatabase::open_memory() {
  sqlite3* database = nullptr;
  const int result = sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(database);
  if (result != SQLITE_OK) fail("memory");
  // Read only: SQLite does not write into bytes that it is told are so.
  auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(input_.text().data()));
  const auto size = static_cast<sqlite3_int64>(input_.text().size());
  if (sqlite3_deserialize(database, "main", bytes, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    fail("the unpacked file");
}

void SqliteDatabase::distrust() {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  constexpr int kLongestText = 64 << 20;
  sqlite3_limit(database_.get(), SQLITE_LIMIT_LENGTH, kLongestText);
  sqlite3_exec(database_.get(), "PRAGMA cell_size_check=ON; PRAGMA query_only=ON", nullptr, nullptr, nullptr);
}

void SqliteDatabase::read_schema() {
  std::vector<std::string> names;
  const auto list = prepare_sql("SELECT name, sql FROM sqlite_master WHERE type='table'", "the list of tables");
  while (step(list.get(), "the list of tables")) {
    const SqliteRow row(list.get());
    const auto sql = row.text(1);
    constexpr std::string_view kVirtual = "CREATE VIRTUAL";
    if (equal_ignoring_case(sql.substr(0, kVirtual.size()), kVirtual)) continue;
    names.emplace_back(row.text(0));
    if (names.size() > kMostTables)
      refuse(input_, "bad-sqlite", "a database of more tables than a profiler writes", "an export of a profiler");
  }
  for (const auto& name : names) {
    const auto info = prepare_sql(fmt::format("PRAGMA table_info({})", in_quotes(name)), name);
    auto& columns = tables_[name];
    while (step(info.get(), name)) columns.emplace_back(SqliteRow(info.get()).text(1));
  }
}

bool SqliteDatabase::has(const std::string& table, std::string_view column) const {
  const auto it = tables_.find(table);
  return it != tables_.end() && std::any_of(it->second.begin(), it->second.end(),
                                            [&](const auto& c) { return equal_ignoring_case(c, column); });
}

SqliteDatabase::Statement SqliteDatabase::prepare_sql(const std::string& sql, const std::string& what) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
    fail(what);
  return Statement(statement);
}

SqliteDatabase::Statement SqliteDatabase::prepare(const std::string& table,
                                                  const std::vector<std::string>& columns) const {
  std::string list;
  for (const auto& column : columns) {
    if (!list.empty()) list += ", ";
    list += has(table, column) ? in_quotes(column) : "NULL";
  }
  return prepare_sql(fmt::format("SELECT {} FROM {}", list, in_quotes(table)), table);
}

bool SqliteDatabase::step(sqlite3_stmt* statement, const std::string& what) const {
  const int result = sqlite3_step(statement);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  fail(what);
}

void SqliteDatabase::fail(const std::string& what) const {
  const int code = database_ ? sqlite3_errcode(database_.get()) : SQLITE_NOMEM;
  const char* message = database_ ? sqlite3_errmsg(database_.get()) : "out of memory";
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_IOERR;
  refuse(input_, damaged ? "truncated" : "bad-sqlite", fmt::format("SQLite cannot read {}: {}", what, message),
         "a whole export of a profiler",
         damaged ? "copy it again, or export it again: nsys export --type sqlite REPORT.nsys-rep" : "");
}

}  // namespace roofline
