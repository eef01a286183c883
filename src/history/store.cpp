// What a store does, in the SQL that both databases share.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "history/compression.h"
#include "history/kernel_rows.h"
#include "history/names.h"
#include "history/schema.h"
#include "history/sql.h"
#include "roofline/error.h"
#include "roofline/history.h"

namespace roofline::history {
namespace {

using sql::Lock;
using sql::Transaction;
using sql::Value;

constexpr std::string_view kRecordColumns =
    "r.id, r.uid, r.recorded_at, r.tool_version, r.catalogue_version, r.machine, r.ceiling, r.machines, r.config, "
    "r.inputs, "
    "r.kernels, r.time_s, r.roof_time_s, r.fraction, r.bound, r.placed_time_share, r.wall_s, r.clock_hz, "
    "r.prediction_error";
constexpr std::size_t kRecordColumnCount = 19;

std::string text_of(const std::vector<std::string>& list) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& text : list) out.push_back(storable(text));
  return out.dump();
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (list.is_array())
    for (const auto& entry : list)
      if (entry.is_string()) out.push_back(entry.get<std::string>());
  return out;
}

RecordInfo info_of(const sql::Row& row, const std::string& store) {
  RecordInfo info;
  std::size_t c = 0;
  info.id = row.integer(c++);
  info.uid = row.text(c++);
  info.time = row.integer(c++);
  info.tool_version = row.text(c++);
  info.catalogue_version = row.text(c++);
  info.machine = row.text(c++);
  info.ceiling = ceiling_of(row.text(c++), store);
  info.machines = list_of(row.text(c++));
  info.config = row.text(c++);
  info.inputs = list_of(row.text(c++));
  info.kernels = static_cast<std::size_t>(row.integer(c++));
  info.time_s = row.number(c++);
  info.roof_time_s = row.number(c++);
  info.fraction = row.number(c++);
  info.bound = bound_of(row.text(c++), store);
  info.placed_time_share = row.number(c++).value_or(0);
  info.wall_s = row.number(c++);
  info.clock_hz = row.number(c++);
  info.prediction_error = row.number(c++);
  return info;
}

// A statement that grows with what is asked for; values only ever become parameters.
struct Statement {
  std::string text;
  std::vector<Value> values;
  std::string bind(Value value) {
    values.push_back(std::move(value));
    return fmt::format("${}", values.size());
  }
};

void add_filter(const Filter& filter, Statement& statement) {
  std::size_t join = 0;
  for (const auto& [key, value] : filter.labels) {
    const auto k = statement.bind(key);
    const auto v = statement.bind(value);
    statement.text += fmt::format(
        " JOIN roofline_label l{0} ON l{0}.record_id = r.id AND l{0}.key = {1} AND "
        "l{0}.value = {2}",
        join++, k, v);
  }
  statement.text += " WHERE 1 = 1";
  if (!filter.machine.empty()) statement.text += " AND r.machine = " + statement.bind(filter.machine);
  if (filter.before) statement.text += " AND r.recorded_at < " + statement.bind(*filter.before);
}

Statement list_statement(const Filter& filter) {
  Statement statement{fmt::format("SELECT {} FROM roofline_record r", kRecordColumns), {}};
  add_filter(filter, statement);
  statement.text += " ORDER BY r.recorded_at DESC, r.id DESC";
  if (filter.newest > 0) statement.text += " LIMIT " + statement.bind(static_cast<std::int64_t>(filter.newest));
  return statement;
}

Statement trend_statement(std::span<const std::int64_t> names, const Filter& filter) {
  Statement statement{fmt::format("SELECT {}, k.name_id, {} FROM roofline_kernel k JOIN roofline_record r ON r.id = "
                                  "k.record_id",
                                  kRecordColumns, with_prefix("k.", kKernelColumns)),
                      {}};
  add_filter(filter, statement);
  statement.text += " AND k.name_id IN (";
  for (std::size_t i = 0; i < names.size(); ++i) statement.text += (i == 0 ? "" : ", ") + statement.bind(names[i]);
  statement.text += ")";
  return statement;
}

// Of these kernels in these records, what tells times.
Statement times_statement(std::span<const std::int64_t> names, std::span<const RecordInfo> records) {
  Statement statement{
      "SELECT k.record_id, k.name_id, k.grid, k.block, k.launches, k.time_s FROM roofline_kernel k WHERE k.name_id IN "
      "(",
      {}};
  for (std::size_t i = 0; i < names.size(); ++i) statement.text += (i == 0 ? "" : ", ") + statement.bind(names[i]);
  statement.text += ") AND k.record_id IN (";
  for (std::size_t i = 0; i < records.size(); ++i)
    statement.text += (i == 0 ? "" : ", ") + statement.bind(records[i].id);
  statement.text += ")";
  return statement;
}

constexpr std::string_view kStepStatement =
    "SELECT n.name, n.full_name, n.op, {} FROM roofline_kernel k LEFT JOIN roofline_name n ON n.id = k.name_id WHERE "
    "k.record_id = $1 ORDER BY k.ordinal";
std::string step_statement() { return fmt::format(fmt::runtime(kStepStatement), with_prefix("k.", kKernelColumns)); }

std::string new_uid() {
  std::random_device random;
  std::string out;
  for (int i = 0; i < 4; ++i) out += fmt::format("{:08x}", random());
  return out;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

// The options of a report as they stand in its text.
std::string config_of(const std::string& report) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string text(report);
  simdjson::ondemand::document document;
  std::string_view raw;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return "{}";
  simdjson::ondemand::object options;
  if (document["options"].get_object().get(options) != simdjson::SUCCESS) return "{}";
  if (options.raw_json().get(raw) != simdjson::SUCCESS) return "{}";
  return storable(raw);
}

std::optional<double> median_clock(const StepRecord& step) {
  std::vector<std::pair<double, double>> clocks;  // clock, time
  double total = 0;
  for (const auto& k : step.kernels)
    if (k.clock_hz && k.time_s) {
      clocks.emplace_back(*k.clock_hz, *k.time_s);
      total += *k.time_s;
    }
  std::sort(clocks.begin(), clocks.end());
  double sum = 0;
  for (const auto& [clock, time] : clocks)
    if ((sum += time) >= total / 2) return clock;
  return std::nullopt;
}

// ---------------------------------------------------------------- one record going in

class Writer {
 public:
  Writer(sql::Connection& connection, const NewRecord& record, const StepRecord& step)
      : connection_(connection), record_(record), step_(step) {}

  Store::Recorded write(const std::string& packed) {
    Transaction transaction(connection_, Lock::write);
    const auto uid = record_.uid.empty() ? new_uid() : record_.uid;
    const auto id = insert_record(uid);
    if (!id) {
      const auto known = connection_.run("SELECT id FROM roofline_record WHERE uid = $1", {uid});
      return {known.empty() ? 0 : known.front().integer(0), false};
    }
    for (const auto& [key, value] : record_.labels)
      connection_.run("INSERT INTO roofline_label (record_id, key, value) VALUES ($1, $2, $3)", {*id, key, value});
    insert_kernels(*id);
    connection_.run("INSERT INTO roofline_report (record_id, size, zstd) VALUES ($1, $2, $3)",
                    {*id, static_cast<std::int64_t>(record_.report.size()), sql::Blob{packed}});
    transaction.commit();
    return {*id, true};
  }

 private:
  std::optional<std::int64_t> insert_record(const std::string& uid) {
    const auto rows = connection_.run(
        "INSERT INTO roofline_record (uid, recorded_at, tool_version, catalogue_version, machine, ceiling, machines, "
        "config, inputs, kernels, time_s, roof_time_s, fraction, bound, placed_time_share, wall_s, clock_hz, "
        "prediction_error) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) "
        "ON CONFLICT (uid) DO NOTHING RETURNING id",
        {uid, record_.time.value_or(now()), storable(step_.tool_version), storable(step_.catalogue_version),
         storable(joined(step_.machines)), std::string(to_string(step_.ceiling)), text_of(step_.machines),
         config_of(record_.report), text_of(step_.inputs), static_cast<std::int64_t>(step_.kernels.size()),
         sql::value_of(step_.time_s), sql::value_of(step_.roof_time_s), sql::value_of(step_.fraction),
         std::string(to_string(step_.bound)), step_.placed_time_share, sql::value_of(step_.wall_s),
         sql::value_of(median_clock(step_)), sql::value_of(record_.prediction_error)});
    return rows.empty() ? std::nullopt : std::optional(rows.front().integer(0));
  }

  void insert_kernels(std::int64_t id) {
    const auto names = NameTable(connection_).ids(step_.kernels);
    constexpr std::size_t kColumns = 3 + kKernelColumnCount;
    constexpr std::size_t kMostRows = 64;  // a statement, so that a distant server is asked a few times only
    for (std::size_t first = 0; first < step_.kernels.size(); first += kMostRows) {
      const auto count = std::min(kMostRows, step_.kernels.size() - first);
      std::vector<Value> values;
      values.reserve(count * kColumns);
      for (std::size_t i = first; i < first + count; ++i) {
        values.insert(values.end(), {Value(id), Value(static_cast<std::int64_t>(i)), Value(names[i])});
        append_values(step_.kernels[i], values);
      }
      connection_.run(fmt::format("INSERT INTO roofline_kernel (record_id, ordinal, name_id, {}) VALUES {}",
                                  kKernelColumns, sql::parameter_rows(count, kColumns)),
                      values);
    }
  }

  sql::Connection& connection_;
  const NewRecord& record_;
  const StepRecord& step_;
};

// ---------------------------------------------------------------- one kernel over time

void add_row(const KernelRecord& k, TrendPoint& point) {
  // A part without a time leaves the whole without one.
  if (point.rows == 0)
    point.time_s = k.time_s;
  else
    point.time_s = point.time_s && k.time_s ? std::optional(*point.time_s + *k.time_s) : std::nullopt;
  ++point.rows;
  point.launches += k.launches;
  if (!point.clock_hz) point.clock_hz = k.clock_hz;
  if (std::find(point.names.begin(), point.names.end(), k.name) == point.names.end()) point.names.push_back(k.name);
}

void add_work(const KernelRecord& k, bool first, KernelRecord& sum) {
  const auto add = [&](std::optional<double> KernelRecord::*member) {
    sum.*member = first                        ? k.*member
                  : (sum.*member && k.*member) ? std::optional(*(sum.*member) + *(k.*member))
                                               : std::nullopt;
  };
  for (const auto member : {&KernelRecord::time_s, &KernelRecord::flops, &KernelRecord::dram_bytes,
                            &KernelRecord::link_bytes, &KernelRecord::roof_time_s, &KernelRecord::gain_s})
    add(member);
  for (const auto& [key, count] : k.ops) sum.ops[key] += count;
}

// What cannot be added up is that of the row with the most time.
void take_looks(const KernelRecord& k, KernelRecord& sum) {
  sum.name = k.name;
  sum.full_name = k.full_name;
  sum.op = k.op;
  sum.grid = k.grid;
  sum.block = k.block;
  sum.time_basis = k.time_basis;
  sum.binding = k.binding;
  sum.regime = k.regime;
  sum.ceiling = k.ceiling;
  sum.clock_hz = k.clock_hz;
  sum.position = k.position;
}

// Sums over the rows that have a fraction, for one kind of figure.
struct Ratio {
  double roof_s = 0, time_s = 0;
  void add(std::optional<double> fraction, std::optional<double> time) {
    if (!fraction || !time) return;
    roof_s += *fraction * *time;
    time_s += *time;
  }
  std::optional<double> get() const { return time_s > 0 ? std::optional(roof_s / time_s) : std::nullopt; }
};

TrendPoint point_of(const RecordInfo& info, std::span<const KernelRecord> kernels) {
  TrendPoint point;
  point.record = info;
  Ratio fraction, then, now_ratio;
  double longest = -1;
  for (const auto& k : kernels) {
    add_row(k, point);
    fraction.add(k.fraction, k.time_s);
    if (k.fraction && k.bound == Bound::lower) point.bound = Bound::lower;
    const auto sheet = k.ceiling == CeilingKind::datasheet ? k.fraction : k.fraction_datasheet;
    const auto now_fraction = sheet ? datasheet_fraction_now(k, info.machine) : std::nullopt;
    if (now_fraction) {
      then.add(sheet, k.time_s);
      now_ratio.add(now_fraction, k.time_s);
    }
    add_work(k, &k == &kernels.front(), point.sum);
    if (k.time_s.value_or(0) > longest) {
      longest = k.time_s.value_or(0);
      point.position = k.position;
      take_looks(k, point.sum);
    }
  }
  point.fraction = point.sum.fraction = fraction.get();
  point.sum.bound = point.bound;
  point.sum.launches = point.launches;
  if (point.fraction) point.roof_time_s = fraction.roof_s;
  point.datasheet_then = then.get();
  point.datasheet_now = now_ratio.get();
  return point;
}

bool older(const RecordInfo& a, const RecordInfo& b) { return a.time != b.time ? a.time < b.time : a.id < b.id; }

std::unique_ptr<sql::Connection> connect(const std::string& where, sql::Access access) {
  if (where.starts_with("postgresql://") || where.starts_with("postgres://"))
    return sql::open_postgresql(where, access);
  const auto path = where.starts_with("sqlite:") ? where.substr(std::string_view("sqlite:").size()) : where;
  if (path.empty() || path.find('\0') != std::string::npos) throw UsageError("--store: the path is empty");
  return sql::open_sqlite(path, access);
}

}  // namespace

struct Store::Impl {
  std::unique_ptr<sql::Connection> connection;
  std::string name;

  void add_labels(std::vector<RecordInfo>& records) const {
    std::map<std::int64_t, RecordInfo*> by_id;
    for (auto& r : records) by_id[r.id] = &r;
    constexpr std::size_t kMost = 500;
    for (auto it = by_id.begin(); it != by_id.end();) {
      std::vector<Value> ids;
      for (; it != by_id.end() && ids.size() < kMost; ++it) ids.emplace_back(it->first);
      for (const auto& row :
           connection->run(fmt::format("SELECT record_id, key, value FROM roofline_label WHERE record_id IN ({})",
                                       sql::parameter_list(1, ids.size())),
                           ids))
        by_id.at(row.integer(0))->labels[row.text(1)] = row.text(2);
    }
  }

  std::vector<RecordInfo> records(const Statement& statement) const {
    std::vector<RecordInfo> out;
    for (const auto& row : connection->run(statement.text, statement.values)) out.push_back(info_of(row, name));
    add_labels(out);
    return out;
  }

  std::vector<RecordInfo> records_where(const std::string& condition, std::initializer_list<Value> values) const {
    return records({fmt::format("SELECT {} FROM roofline_record r WHERE {}", kRecordColumns, condition), values});
  }

  void remove(std::int64_t id) const {
    for (const auto* table : {"roofline_kernel", "roofline_label", "roofline_report"})
      connection->run(fmt::format("DELETE FROM {} WHERE record_id = $1", table), {id});
    connection->run("DELETE FROM roofline_record WHERE id = $1", {id});
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

std::string Store::default_location() {
  const auto set = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value != nullptr ? value : "");
  };
  if (auto store = set("ROOFLINE_STORE"); !store.empty()) return store;
  const auto data = set("XDG_DATA_HOME");
  // Relative ones are to be ignored, says the XDG specification.
  if (data.starts_with('/')) return data + "/roofline/history.db";
  if (const auto home = set("HOME"); home.starts_with('/')) return home + "/.local/share/roofline/history.db";
  throw UsageError("neither $XDG_DATA_HOME nor $HOME says where the history is: name a store with --store");
}

const std::string& Store::name() const { return impl_->name; }

Store Store::open(const std::string& where, Access access) {
  const auto mode = access == Access::write ? sql::Access::write : sql::Access::read;
  auto impl = std::make_unique<Impl>();
  impl->connection = connect(where, mode);
  impl->name = sql::without_password(where);
  try {
    prepare_schema(*impl->connection, impl->name, mode);
  } catch (const InputError& error) {
    if (error.problem().kind != "store-older") throw;
    impl->connection.reset();
    impl->connection = connect(where, sql::Access::write);
    prepare_schema(*impl->connection, impl->name, sql::Access::write);
  }
  return Store(std::move(impl));
}

Store::Recorded Store::record(const NewRecord& record) {
  check_labels(record.labels);
  const auto step = read_record(record.report, record.source.empty() ? "report" : record.source);
  const auto packed = compress(record.report);
  constexpr int kAttempts = 5;
  for (int attempt = 1;; ++attempt) {
    try {
      return Writer(*impl_->connection, record, step).write(packed);
    } catch (const InputError& error) {
      if (error.problem().kind != "store-conflict" || attempt == kAttempts) throw;
    }
  }
}

std::vector<RecordInfo> Store::list(const Filter& filter) const {
  Transaction transaction(*impl_->connection, Lock::read);
  auto out = impl_->records(list_statement(filter));
  transaction.commit();
  return out;
}

RecordInfo Store::find(std::string_view id) const {
  const std::string text(id.starts_with('@') ? id.substr(1) : id);
  const auto hexadecimal = !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  constexpr std::size_t kMostDigits = 18;
  if (hexadecimal && text.size() <= kMostDigits && text.find_first_not_of("0123456789") == std::string::npos) {
    auto found = impl_->records_where("r.id = $1", {Value(std::int64_t{std::stoll(text)})});
    if (!found.empty()) return found.front();
  }
  constexpr std::size_t kLeastPrefix = 6;
  if (hexadecimal && text.size() >= kLeastPrefix) {
    // Every continuation sorts before 'g'.
    auto found = impl_->records_where("r.uid >= $1 AND r.uid < $2 ORDER BY r.uid LIMIT 2", {text, text + "g"});
    if (found.size() == 1) return found.front();
    if (found.size() > 1) throw UsageError(fmt::format("'{}' begins more than one record: give more digits", text));
  }
  throw UsageError(fmt::format("{} holds no record '{}'; `roofline history list` shows them", impl_->name, text));
}

std::string Store::report(std::int64_t id) const {
  const auto rows = impl_->connection->run("SELECT size, zstd FROM roofline_report WHERE record_id = $1", {id});
  if (rows.empty())
    sql::fail(impl_->name, "store-damaged", fmt::format("record {} has lost its report", id), "restore a copy");
  return decompress(rows.front().blob(1), static_cast<std::uint64_t>(rows.front().integer(0)), impl_->name);
}

StepRecord Store::step(const RecordInfo& record) const {
  StepRecord step;
  step.tool_version = record.tool_version;
  step.catalogue_version = record.catalogue_version;
  step.inputs = record.inputs;
  step.machines = record.machines;
  step.time_s = record.time_s;
  step.roof_time_s = record.roof_time_s;
  step.fraction = record.fraction;
  step.wall_s = record.wall_s;
  step.bound = record.bound;
  step.placed_time_share = record.placed_time_share;
  step.ceiling = record.ceiling;
  for (const auto& row : impl_->connection->run(step_statement(), {record.id})) {
    auto kernel = kernel_of(row, 3, impl_->name);
    kernel.name = row.text(0);
    kernel.full_name = row.text(1);
    kernel.op = row.text(2);
    step.kernels.push_back(std::move(kernel));
  }
  return step;
}

std::vector<StepRecord> Store::times(std::span<const RecordInfo> records, std::span<const std::string> names) const {
  std::map<std::int64_t, KernelName> known;
  const NameTable table(*impl_->connection);
  for (const auto& text : names)
    for (auto& name : table.of_family(text)) known.try_emplace(name.id, std::move(name));
  std::vector<std::int64_t> ids;
  ids.reserve(known.size());
  for (const auto& [id, name] : known) ids.push_back(id);
  std::vector<StepRecord> out(records.size());
  std::map<std::int64_t, StepRecord*> by_id;
  for (std::size_t i = 0; i < records.size(); ++i) by_id[records[i].id] = &out[i];
  constexpr std::size_t kMost = 200;  // ids in a statement
  for (std::size_t a = 0; a < ids.size(); a += kMost)
    for (std::size_t b = 0; b < records.size(); b += kMost) {
      const auto statement = times_statement(std::span(ids).subspan(a, std::min(kMost, ids.size() - a)),
                                             records.subspan(b, std::min(kMost, records.size() - b)));
      for (const auto& row : impl_->connection->run(statement.text, statement.values)) {
        auto& kernel = by_id.at(row.integer(0))->kernels.emplace_back();
        const auto& name = known.at(row.integer(1));
        kernel.name = name.name;
        kernel.full_name = name.full_name;
        kernel.op = name.op;
        read_times(row, 2, impl_->name, kernel);
      }
    }
  return out;
}

std::vector<TrendPoint> Store::trend(std::string_view kernel, const Filter& filter) const {
  Transaction transaction(*impl_->connection, Lock::read);
  const auto names = NameTable(*impl_->connection).find(kernel);
  std::map<std::int64_t, std::pair<RecordInfo, std::vector<KernelRecord>>> records;
  constexpr std::size_t kMost = 500;
  for (std::size_t first = 0; first < names.size(); first += kMost) {
    std::vector<std::int64_t> ids;
    std::map<std::int64_t, const KernelName*> by_id;
    for (std::size_t i = first; i < std::min(names.size(), first + kMost); ++i) {
      ids.push_back(names[i].id);
      by_id[names[i].id] = &names[i];
    }
    const auto statement = trend_statement(ids, filter);
    for (const auto& row : impl_->connection->run(statement.text, statement.values)) {
      auto& [info, kernels] = records[row.integer(0)];
      if (kernels.empty()) info = info_of(row, impl_->name);
      kernels.push_back(kernel_of(row, kRecordColumnCount + 1, impl_->name));
      const auto* name = by_id.at(row.integer(kRecordColumnCount));
      kernels.back().name = name->name;
      kernels.back().full_name = name->full_name;
      kernels.back().op = name->op;
    }
  }
  std::vector<RecordInfo> infos;
  infos.reserve(records.size());
  for (const auto& [id, entry] : records) infos.push_back(entry.first);
  impl_->add_labels(infos);
  transaction.commit();
  std::sort(infos.begin(), infos.end(), older);
  if (filter.newest > 0 && infos.size() > filter.newest)
    infos.erase(infos.begin(), infos.end() - static_cast<std::ptrdiff_t>(filter.newest));
  std::vector<TrendPoint> out;
  out.reserve(infos.size());
  for (const auto& info : infos) out.push_back(point_of(info, records.at(info.id).second));
  return out;
}

std::vector<std::string> Store::kernel_names(std::size_t most) const {
  std::vector<std::string> out;
  for (const auto& row :
       impl_->connection->run("SELECT family FROM roofline_name GROUP BY family ORDER BY min(id) LIMIT $1",
                              {static_cast<std::int64_t>(most)}))
    out.push_back(row.text(0));
  return out;
}

std::vector<RecordInfo> Store::prune(const PruneRule& rule) {
  Transaction transaction(*impl_->connection, Lock::write);
  Filter filter;
  filter.labels = rule.labels;
  auto records = impl_->records(list_statement(filter));
  if (rule.keep)
    records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(std::min(*rule.keep, records.size())));
  if (rule.before)
    records.erase(
        std::remove_if(records.begin(), records.end(), [&](const RecordInfo& r) { return r.time >= *rule.before; }),
        records.end());
  if (rule.dry_run) return records;
  for (const auto& record : records) impl_->remove(record.id);
  transaction.commit();
  if (records.empty()) return records;
  try {
    impl_->connection->compact();
  } catch (const InputError&) {
    // The records are gone; their space is then used for new ones.
  }
  return records;
}

std::vector<std::pair<std::string, std::string>> Store::query_plans() const {
  std::vector<std::pair<std::string, std::string>> out;
  const auto explain = [&](const char* question, const std::string& text, const std::vector<Value>& values) {
    const auto& dialect = impl_->connection->dialect();
    std::string lines;
    for (const auto& row : impl_->connection->run(std::string(dialect.explain) + text, values))
      lines += row.text(dialect.explain_column) + "\n";
    out.emplace_back(question, lines);
  };
  Filter newest;
  newest.newest = 1;
  const auto last = list_statement(newest);
  explain("newest record", last.text, last.values);
  newest.labels = {{"branch", "main"}};
  const auto labelled = list_statement(newest);
  explain("newest record with a label", labelled.text, labelled.values);
  explain("kernels of a record", step_statement(), {Value(std::int64_t{1})});
  const std::int64_t name = 1;
  const auto trend = trend_statement({&name, 1}, {});
  explain("trend of a kernel", trend.text, trend.values);
  RecordInfo record;
  record.id = 1;
  const auto times = times_statement({&name, 1}, {&record, 1});
  explain("times of a kernel in some records", times.text, times.values);
  explain("kernel by name", NameTable::lookup_statement(), {Value(std::string("name"))});
  return out;
}

}  // namespace roofline::history
