#include "history/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "history/kernel_rows.h"
#include "report/text.h"
#include "roofline/compare.h"
#include "roofline/error.h"

namespace roofline::history {
namespace {

using sql::Value;

constexpr std::string_view kColumns = "n.id, n.name, n.full_name, n.op, n.family";
constexpr std::size_t kKeyBytes = 200;  // what every index takes

KernelName name_of(const sql::Row& row) { return {row.integer(0), row.text(1), row.text(2), row.text(3), row.text(4)}; }

// Whole characters of UTF-8 only.
std::string key_of(std::string_view text) {
  if (text.size() > kKeyBytes) {
    auto end = kKeyBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    text = text.substr(0, end);
  }
  return std::string(text);
}

// FNV-1a, with a separator that no name holds between the parts.
std::int64_t hash_of(const KernelName& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash *= 0x100000001b3;
  };
  add(name.name);
  add(name.full_name);
  add(name.op);
  return static_cast<std::int64_t>(hash);
}

auto identity(const KernelName& n) { return std::tie(n.name, n.full_name, n.op); }
struct Less {
  bool operator()(const KernelName& a, const KernelName& b) const { return identity(a) < identity(b); }
};

bool is_called(const KernelName& n, std::string_view text) {
  return n.name == text || n.full_name == text || n.op == text || n.family == text;
}

std::string family_of(const KernelRecord& kernel) {
  return storable(name_family(kernel.full_name.empty() ? kernel.name : kernel.full_name));
}

}  // namespace

std::string with_prefix(std::string_view prefix, std::string_view columns) {
  std::string out(prefix);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    out += columns[i];
    if (columns[i] == ' ') out += prefix;
  }
  return out;
}

std::string NameTable::lookup_statement() {
  return fmt::format("SELECT {} FROM roofline_alias a JOIN roofline_name n ON n.id = a.name_id WHERE a.key = $1",
                     kColumns);
}

std::vector<KernelName> NameTable::of_hashes(std::span<const std::int64_t> hashes) const {
  std::vector<KernelName> out;
  constexpr std::size_t kMost = 500;
  for (std::size_t first = 0; first < hashes.size(); first += kMost) {
    std::vector<Value> values;
    for (std::size_t i = first; i < std::min(hashes.size(), first + kMost); ++i) values.emplace_back(hashes[i]);
    for (const auto& row : connection_.run(fmt::format("SELECT {} FROM roofline_name n WHERE n.hash IN ({})", kColumns,
                                                       sql::parameter_list(1, values.size())),
                                           values))
      out.push_back(name_of(row));
  }
  return out;
}

std::int64_t NameTable::insert(const KernelName& name, std::int64_t hash) {
  return connection_
      .run("INSERT INTO roofline_name (hash, name, full_name, op, family) VALUES ($1, $2, $3, $4, $5) RETURNING id",
           {hash, name.name, name.full_name, name.op, name.family})
      .front()
      .integer(0);
}

// In order of the keys: two writers of the same names then never wait for each other in a circle.
void NameTable::insert_aliases(const std::vector<std::pair<std::string, std::int64_t>>& sorted) {
  constexpr std::size_t kMost = 128;
  for (std::size_t first = 0; first < sorted.size(); first += kMost) {
    const auto count = std::min(kMost, sorted.size() - first);
    std::vector<Value> values;
    for (std::size_t i = first; i < first + count; ++i) {
      values.emplace_back(sorted[i].first);
      values.emplace_back(sorted[i].second);
    }
    connection_.run(fmt::format("INSERT INTO roofline_alias (key, name_id) VALUES {} ON CONFLICT DO NOTHING",
                                sql::parameter_rows(count, 2)),
                    values);
  }
}

std::vector<std::int64_t> NameTable::ids(std::span<const KernelRecord> kernels) {
  std::vector<KernelName> wanted;
  wanted.reserve(kernels.size());
  std::map<KernelName, std::int64_t, Less> known;
  for (const auto& k : kernels) {
    wanted.push_back({0, storable(k.name), storable(k.full_name), storable(k.op), family_of(k)});
    known.emplace(wanted.back(), 0);
  }
  std::vector<std::int64_t> hashes;
  hashes.reserve(known.size());
  for (const auto& [name, id] : known) hashes.push_back(hash_of(name));
  std::set<std::pair<std::string, std::int64_t>> aliases;
  for (const auto& found : of_hashes(hashes)) {
    const auto it = known.find(found);
    if (it == known.end()) continue;  // the same hash by chance
    it->second = found.id;
    // The rules for families change from version to version; what people then ask for must be found.
    if (it->first.family != found.family) aliases.emplace(key_of(it->first.family), found.id);
  }
  for (auto& [name, id] : known) {
    if (id != 0) continue;
    id = insert(name, hash_of(name));
    for (const auto* text : {&name.name, &name.full_name, &name.op, &name.family})
      if (!text->empty()) aliases.emplace(key_of(*text), id);
  }
  insert_aliases({aliases.begin(), aliases.end()});
  std::vector<std::int64_t> out;
  out.reserve(wanted.size());
  for (const auto& name : wanted) out.push_back(known.at(name));
  return out;
}

std::vector<KernelName> NameTable::like(const std::string& part) const {
  std::vector<KernelName> out;
  const auto position = connection_.dialect().position;
  for (const auto& row : connection_.run(
           fmt::format("SELECT {} FROM roofline_name n WHERE {}(n.full_name, $1) > 0 OR {}(n.op, $1) > 0 OR "
                       "{}(n.name, $1) > 0 ORDER BY n.id",
                       kColumns, position, position, position),
           {part}))
    out.push_back(name_of(row));
  return out;
}

std::vector<KernelName> NameTable::of_family(std::string_view text) const {
  const auto wanted = storable(text);
  std::vector<KernelName> out;
  for (const auto& row : connection_.run(lookup_statement(), {key_of(wanted)})) out.push_back(name_of(row));
  return out;
}

std::vector<KernelName> NameTable::find(std::string_view text) const {
  const auto wanted = storable(text);
  std::vector<KernelName> out;
  for (const auto& row : connection_.run(lookup_statement(), {key_of(wanted)})) {
    auto name = name_of(row);
    // A long text shares its key with others.
    if (wanted.size() <= kKeyBytes || is_called(name, wanted)) out.push_back(std::move(name));
  }
  if (!out.empty()) return out;
  out = like(wanted);
  if (out.empty())
    throw UsageError(
        fmt::format("no kernel of this store is called '{}'; `roofline history show ID` lists them", wanted));
  std::set<std::string> different;
  for (const auto& n : out) different.insert(n.op.empty() ? n.family : n.op);
  if (different.size() == 1) return out;
  std::string some;
  constexpr std::size_t kShown = 6;
  constexpr std::size_t kShownWidth = 60;
  for (auto it = different.begin();
       it != different.end() && std::distance(different.begin(), it) < std::ptrdiff_t{kShown}; ++it)
    some += (some.empty() ? "" : ", ") + text::printable(cut_middle(*it, kShownWidth), true);
  throw UsageError(fmt::format("'{}' fits {} kernels: {}{}; name one of them", wanted, different.size(), some,
                               different.size() > kShown ? ", ..." : ""));
}

}  // namespace roofline::history
