// An SQLite file of unknown origin, opened for reading only. Private to this room.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/readers.h"

namespace roofline {

// One column of one row: a number, a text, or nothing.
class SqliteRow {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}

  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  bool is_text(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_TEXT; }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  // Negative numbers and nothing count as 0.
  std::uint64_t count(int column) const;
  std::string_view text(int column) const;  // empty for nothing; valid until the next row

 private:
  sqlite3_stmt* statement_;
};

// Opened immutable: no lock, no journal, nothing written beside the file. The schema is not trusted: only ordinary
// tables are read, by columns that exist; no view, trigger or function of the file runs.
class SqliteDatabase {
 public:
  // Throws InputError: "bad-sqlite", "truncated".
  SqliteDatabase(const TimelineSource& source, const TimelineOptions& options);

  // Columns of the ordinary tables, by table.
  const std::map<std::string, std::vector<std::string>>& tables() const { return tables_; }
  bool has(const std::string& table) const { return tables_.count(table) != 0; }
  bool has(const std::string& table, std::string_view column) const;

  // Calls `visit(SqliteRow)` for each row with the columns in the order asked for; one that the table lacks is nothing.
  // Throws InputError where the file is damaged.
  template <typename Visit>
  void each_row(const std::string& table, const std::vector<std::string>& columns, Visit visit) const {
    const auto statement = prepare(table, columns);
    while (step(statement.get(), table)) visit(SqliteRow(statement.get()));
  }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  void check_size() const;
  void open_file();
  void open_memory();
  void distrust();
  void read_schema();
  Statement prepare_sql(const std::string& sql, const std::string& what) const;
  Statement prepare(const std::string& table, const std::vector<std::string>& columns) const;
  bool step(sqlite3_stmt* statement, const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;

  Input input_;
  std::unique_ptr<sqlite3, Close> database_;
  std::map<std::string, std::vector<std::string>> tables_;
};

}  // namespace roofline
