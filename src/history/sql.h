// A database behind two calls: run a statement with bound values, and bracket statements as a transaction. The SQL is
// the part that SQLite and PostgreSQL share; parameters are $1, $2, ...
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace roofline::history::sql {

struct Blob {
  std::string bytes;
};
// Texts are UTF-8 without NUL: the store sees to that before it binds one.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

Value value_of(std::optional<double> number);
Value value_of(std::optional<std::int64_t> number);

class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}
  bool is_null(std::size_t column) const { return std::holds_alternative<std::monostate>(values_.at(column)); }
  std::int64_t integer(std::size_t column) const;  // 0 for NULL
  std::optional<std::int64_t> maybe_integer(std::size_t column) const;
  std::optional<double> number(std::size_t column) const;
  std::string text(std::size_t column) const;  // empty for NULL
  std::string blob(std::size_t column) const;
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<Value> values_;
};
using Rows = std::vector<Row>;

// What the two spell differently. In schema statements {id}, {blob} and {real} stand for the column types.
struct Dialect {
  std::string_view id_type;
  std::string_view blob_type;
  std::string_view real_type;
  std::string_view integer_type;
  std::string_view clustered;  // what keeps a table in the order of its primary key, where that can be had
  std::string_view position;   // function of (text, part): 1-based place of the part, 0 without
  std::string_view explain;    // before a statement: how it would be run
  std::size_t explain_column;
  std::size_t most_parameters;  // of one statement
};

enum class Lock : std::uint8_t {
  read,   // a consistent view
  write,  // waits for other writers
};

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  virtual const Dialect& dialect() const = 0;
  // Throws InputError (kinds "store-...": see docs/history.md) naming the store.
  virtual Rows run(const std::string& statement, std::span<const Value> values) = 0;
  virtual void begin(Lock lock) = 0;
  virtual void commit() = 0;
  virtual void rollback() noexcept = 0;
  // Whether this table is there.
  virtual bool has_table(std::string_view name) = 0;
  // Whether it holds tables of somebody else and none of ours: such a database is left alone.
  virtual bool is_foreign() = 0;
  // Bars others from changing the schema until the transaction ends.
  virtual void lock_schema() = 0;
  // Gives the space of deleted rows back.
  virtual void compact() = 0;

  Rows run(const std::string& statement) { return run(statement, std::span<const Value>()); }
  Rows run(const std::string& statement, std::initializer_list<Value> values) {
    return run(statement, std::span<const Value>(values.begin(), values.size()));
  }
};

// Rolls back unless committed.
class Transaction {
 public:
  Transaction(Connection& connection, Lock lock) : connection_(connection) { connection_.begin(lock); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (!done_) connection_.rollback();
  }
  void commit() {
    connection_.commit();
    done_ = true;
  }

 private:
  Connection& connection_;
  bool done_ = false;
};

enum class Access : std::uint8_t {
  read,   // nothing is created; a store that may not be written can be read
  write,  // creates what is missing
};

// `path` is a file, made where `access` allows it.
std::unique_ptr<Connection> open_sqlite(const std::string& path, Access access);
// `url` is a libpq connection string. Throws UsageError where this build has no libpq.
std::unique_ptr<Connection> open_postgresql(const std::string& url, Access access);

// What messages call a store: a URL without its password.
std::string without_password(const std::string& url);

// Fails with a store error: one line with the name of the store, what was found and what to do.
[[noreturn]] void fail(const std::string& store, const char* kind, std::string found, std::string action);

// "($1, $2), ($3, $4)": `rows` groups of `columns` parameters.
std::string parameter_rows(std::size_t rows, std::size_t columns);
// "$from, ..., ": `count` parameters, starting at `from`.
std::string parameter_list(std::size_t from, std::size_t count);

}  // namespace roofline::history::sql
