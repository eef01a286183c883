// The store in one SQLite file.
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "history/sql.h"

namespace roofline::history::sql {
namespace {

namespace fs = std::filesystem;

constexpr Dialect kDialect = {
    "INTEGER PRIMARY KEY AUTOINCREMENT",
    "BLOB",
    "REAL",
    "INTEGER",
    " WITHOUT ROWID",
    "instr",
    "EXPLAIN QUERY PLAN ",
    3,
    32766,
};
constexpr int kBusyMilliseconds = 60000;    // a writer holds the lock for milliseconds; a disk may stall
constexpr int kApplicationId = 0x726f6f66;  // "roof": how `file` and we tell our files

struct Advice {
  const char* kind;
  const char* action;
};

// By the code of the failure; extended codes only where they change what to do.
Advice advice(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {"store-damaged", "restore a copy, or save what can be read with `sqlite3 FILE .recover`"};
    case SQLITE_FULL:
      return {"store-full", "free some space and repeat; nothing of this command was stored"};
    case SQLITE_READONLY:
      return {"store-read-only", "make the file and its folder writable, or choose another with --store"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {"store-busy", "another program has held it for a minute; end that one and repeat"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {"store-unreachable", "check the path and its permissions, or choose another with --store"};
    case SQLITE_IOERR:
      return {"store-io", "check the disk (full, or over a quota?); nothing of this command was stored"};
    default:
      return {"store-error", "nothing of this command was stored"};
  }
}

// As the user in effect, not the one who called.
bool may_write(const std::string& path) { return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }

class Sqlite final : public Connection {
 public:
  Sqlite(const std::string& path, Access access) : path_(path) {
    open(access);
    sqlite3_busy_timeout(db_, kBusyMilliseconds);
    try {
      prepare_file(access);
    } catch (...) {
      close();
      throw;
    }
  }
  ~Sqlite() override { close(); }

  const Dialect& dialect() const override { return kDialect; }

  Rows run(const std::string& statement, std::span<const Value> values) override {
    auto* prepared = bound(statement, values);
    Rows rows;
    int code = sqlite3_step(prepared);
    for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) rows.push_back(row_of(prepared));
    // Before the reset, which forgets the message.
    const auto message = code == SQLITE_DONE ? std::string() : std::string(sqlite3_errmsg(db_));
    const int extended = sqlite3_extended_errcode(db_);
    sqlite3_reset(prepared);
    sqlite3_clear_bindings(prepared);
    if (code != SQLITE_DONE) refuse(extended, message);
    return rows;
  }

  void begin(Lock lock) override { Connection::run(lock == Lock::write ? "BEGIN IMMEDIATE" : "BEGIN"); }
  void commit() override { Connection::run("COMMIT"); }
  void rollback() noexcept override {
    // After some errors SQLite has rolled back already.
    if (sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  bool has_table(std::string_view name) override {
    return !Connection::run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", {std::string(name)})
                .empty();
  }
  bool is_foreign() override {
    return !Connection::run("SELECT 1 FROM sqlite_master LIMIT 1").empty() && !has_table("roofline_meta");
  }
  void lock_schema() override {}  // BEGIN IMMEDIATE does
  void compact() override { Connection::run("VACUUM"); }

 private:
  void open(Access access) {
    std::error_code error;
    const auto folder = fs::path(path_).parent_path();
    if (access == Access::write && !folder.empty()) fs::create_directories(folder, error);
    if (access == Access::read && !fs::exists(path_, error))
      fail(path_, "store-missing", "no such store", "`roofline history record FILE` makes one; --store names another");
    if (fs::is_directory(path_, error)) fail(path_, "store-unreachable", "is a folder", "name a file");
    if (fs::exists(path_, error) && access == Access::read && !writable()) return open_as(SQLITE_OPEN_READONLY);
    open_as(SQLITE_OPEN_READWRITE | (access == Access::write ? SQLITE_OPEN_CREATE : 0));
  }

  // A journal beside the file needs the folder too.
  bool writable() const {
    const auto folder = fs::absolute(path_).parent_path();
    return may_write(path_) && may_write(folder);
  }

  void open_as(int flags) {
    auto name = path_;
    if ((flags & SQLITE_OPEN_READONLY) != 0) {
      // In write-ahead mode even readers write, unless told that nobody else does. A log that was left behind holds
      // records that would not be seen.
      std::error_code error;
      if (fs::exists(path_ + "-wal", error) && fs::file_size(path_ + "-wal", error) > 0)
        fail(path_, "store-read-only", "cannot be read without writing: a log of its last writer lies beside it",
             "copy it and its -wal file to a folder that you may write to, or make this one writable");
      name = "file:" + escaped(path_) + "?immutable=1";
      flags |= SQLITE_OPEN_URI;
    }
    const int code = sqlite3_open_v2(name.c_str(), &db_, flags, nullptr);
    if (code == SQLITE_OK) return;
    const auto message = std::string(db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code));
    close();
    refuse(code, message);
  }

  // In the URI form of a file name these mean something.
  static std::string escaped(const std::string& path) {
    std::string out;
    for (const char c : path) {
      if (c == '%' || c == '?' || c == '#')
        out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
      else
        out += c;
    }
    return out;
  }

  void prepare_file(Access access) {
    if (access == Access::write && is_foreign())
      fail(path_, "store-foreign", "is a SQLite database of another program", "choose another file with --store");
    if (access == Access::write && !may_write(path_)) refuse(SQLITE_READONLY, "is not writable");
    Connection::run("PRAGMA synchronous = FULL");  // what was confirmed survives a loss of power
    if (access == Access::read) return;
    // Changing the mode of a new file can meet another process that does the same, and that is not waited for.
    for (int attempt = 0;; ++attempt) {
      char* text = nullptr;
      const int code = sqlite3_exec(db_, "PRAGMA journal_mode = WAL", nullptr, nullptr, &text);
      sqlite3_free(text);
      if (code == SQLITE_OK) break;
      constexpr int kAttempts = 600;
      if ((code & 0xff) != SQLITE_BUSY || attempt >= kAttempts) refuse(code, sqlite3_errmsg(db_));
      sqlite3_sleep(100);
    }
    if (Connection::run("PRAGMA application_id").front().integer(0) == 0)
      Connection::run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  }

  struct Statement {
    sqlite3_stmt* prepared = nullptr;
    std::vector<int> places;  // of $1, $2, ...
  };

  const Statement& prepare(const std::string& text) {
    if (const auto it = statements_.find(text); it != statements_.end()) return it->second;
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v3(db_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT,
                                        &prepared, nullptr);
    if (code != SQLITE_OK) refuse(sqlite3_extended_errcode(db_), sqlite3_errmsg(db_));
    return statements_[text] = {prepared, places_of(prepared)};
  }

  // $7 is a name to SQLite, and its place that of its first use. Asked by name it would look through all of them.
  static std::vector<int> places_of(sqlite3_stmt* prepared) {
    const int count = sqlite3_bind_parameter_count(prepared);
    std::vector<int> places(static_cast<std::size_t>(count), 0);
    for (int place = 1; place <= count; ++place) {
      const char* name = sqlite3_bind_parameter_name(prepared, place);
      const auto number = name != nullptr ? std::strtoul(name + 1, nullptr, 10) : 0;
      if (number >= 1 && number <= places.size()) places[number - 1] = place;
    }
    return places;
  }

  sqlite3_stmt* bound(const std::string& text, std::span<const Value> values) {
    const auto& statement = prepare(text);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // 0 is no place: SQLite then says that there is no such parameter.
      const int place = i < statement.places.size() ? statement.places[i] : 0;
      const int code = std::visit([&](const auto& value) { return bind(statement.prepared, place, value); }, values[i]);
      if (code != SQLITE_OK) refuse(code, sqlite3_errmsg(db_));
    }
    return statement.prepared;
  }
  static int bind(sqlite3_stmt* s, int at, std::monostate) { return sqlite3_bind_null(s, at); }
  static int bind(sqlite3_stmt* s, int at, std::int64_t value) { return sqlite3_bind_int64(s, at, value); }
  static int bind(sqlite3_stmt* s, int at, double value) { return sqlite3_bind_double(s, at, value); }
  static int bind(sqlite3_stmt* s, int at, const std::string& value) {
    return sqlite3_bind_text64(s, at, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  static int bind(sqlite3_stmt* s, int at, const Blob& value) {
    return sqlite3_bind_blob64(s, at, value.bytes.data(), value.bytes.size(), SQLITE_STATIC);
  }

  static Row row_of(sqlite3_stmt* prepared) {
    std::vector<Value> values;
    const int count = sqlite3_column_count(prepared);
    values.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values.push_back(column(prepared, i));
    return Row(std::move(values));
  }

  static Value column(sqlite3_stmt* s, int i) {
    const auto bytes = [&](const void* data) {
      return std::string(static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(s, i)));
    };
    switch (sqlite3_column_type(s, i)) {
      case SQLITE_INTEGER:
        return static_cast<std::int64_t>(sqlite3_column_int64(s, i));
      case SQLITE_FLOAT:
        return sqlite3_column_double(s, i);
      case SQLITE_TEXT:
        return bytes(sqlite3_column_text(s, i));
      case SQLITE_BLOB: {
        const void* data = sqlite3_column_blob(s, i);
        return Blob{data != nullptr ? bytes(data) : std::string()};
      }
      default:
        return {};
    }
  }

  [[noreturn]] void refuse(int code, const std::string& message) const {
    // A limit on the size of files shows as an error of the disk.
    const auto known = advice(code);
    fail(path_, known.kind, message, known.action);
  }

  void close() {
    for (const auto& [text, statement] : statements_) sqlite3_finalize(statement.prepared);
    statements_.clear();
    sqlite3_close(db_);
    db_ = nullptr;
  }

  std::string path_;
  sqlite3* db_ = nullptr;
  std::map<std::string, Statement, std::less<>> statements_;
};

}  // namespace

std::unique_ptr<Connection> open_sqlite(const std::string& path, Access access) {
  return std::make_unique<Sqlite>(path, access);
}

}  // namespace roofline::history::sql
