// The table of kernel names: each kept once, found again by what people call it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "history/sql.h"
#include "roofline/record.h"

namespace roofline::history {

struct KernelName {
  std::int64_t id = 0;
  std::string name, full_name, op, family;
};

class NameTable {
 public:
  explicit NameTable(sql::Connection& connection) : connection_(connection) {}

  // One id per kernel, in their order; new names are added. Needs a write transaction.
  std::vector<std::int64_t> ids(std::span<const KernelRecord> kernels);
  // Everything called `text`: operator, family, short or full name; else what holds `text` as a part. Throws UsageError
  // where nothing is, or where a part belongs to different kernels.
  std::vector<KernelName> find(std::string_view text) const;

  // What has this operator or name family; nothing where nothing does.
  std::vector<KernelName> of_family(std::string_view text) const;

  static std::string lookup_statement();

 private:
  std::vector<KernelName> of_hashes(std::span<const std::int64_t> hashes) const;
  std::int64_t insert(const KernelName& name, std::int64_t hash);
  void insert_aliases(const std::vector<std::pair<std::string, std::int64_t>>& sorted);
  std::vector<KernelName> like(const std::string& part) const;

  sql::Connection& connection_;
};

// "a, b" with "k." becomes "k.a, k.b".
std::string with_prefix(std::string_view prefix, std::string_view columns);

}  // namespace roofline::history
