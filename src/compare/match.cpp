#include "compare/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "data/kernel_parts.csv.h"
#include "machines/table.h"
#include "roofline/model.h"

namespace roofline::comparing {
namespace {

constexpr double kLikeWork = 1.5;    // kernels of one operator do like work within this factor
constexpr double kSameWork = 1.02;   // a kernel that was only renamed does the same work within this factor
constexpr std::size_t kBucket = 64;  // more kernels than this that could be parts of each other are not told apart

using Indices = std::vector<std::size_t>;
enum Side : std::size_t { kBefore = 0, kAfter = 1 };

std::string shape(const SideKernel& k) {
  return fmt::format("{} {} {} {} {} {}", k.grid.x, k.grid.y, k.grid.z, k.block.x, k.block.y, k.block.z);
}

double per_call(std::optional<double> total, const SideKernel& k) {
  return total && k.mean.launches > 0 ? *total / static_cast<double>(k.mean.launches) : 0;
}

// What orders kernels of one operator: operations of a call, else bytes.
double work_of(const SideKernel& k) {
  const double flops = per_call(k.mean.flops, k);
  return flops > 0 ? flops : per_call(k.mean.dram_bytes, k);
}

bool within(double a, double b, double factor) { return a > 0 && b > 0 && a <= factor * b && b <= factor * a; }

// Whether two kernels do the same work within a factor; where nothing was counted, whether they are called equally
// often.
bool like_work(const SideKernel& a, const SideKernel& b, double factor) {
  const double fa = per_call(a.mean.flops, a), fb = per_call(b.mean.flops, b);
  if (fa > 0 || fb > 0) return within(fa, fb, factor);
  const double ba = per_call(a.mean.dram_bytes, a), bb = per_call(b.mean.dram_bytes, b);
  if (ba > 0 || bb > 0) return within(ba, bb, factor);
  return a.mean.launches == b.mean.launches;
}

class Matcher {
 public:
  Matcher(std::span<const SideKernel> before, std::span<const SideKernel> after) : sides_{before, after} {
    for (const auto side : {kBefore, kAfter}) {
      group_of_[side].assign(sides_[side].size(), kNone);
      classes_[side].resize(sides_[side].size());
    }
  }

  void by_request(std::span<const std::pair<std::string, std::string>> same) {
    for (const auto& [old_name, new_name] : same)
      group(called(kBefore, old_name), called(kAfter, new_name), MatchedBy::request);
  }

  // Pairs free kernels with equal keys, those with most time first.
  template <typename Key>
  void by_key(Key key, MatchedBy by) {
    std::unordered_map<std::string, std::array<Indices, 2>> buckets;
    for (const auto i : free(kBefore))
      if (auto k = key(sides_[kBefore][i]); !k.empty()) buckets[std::move(k)][kBefore].push_back(i);
    for (const auto i : free(kAfter)) {
      const auto k = key(sides_[kAfter][i]);
      if (const auto it = buckets.find(k); it != buckets.end()) it->second[kAfter].push_back(i);
    }
    for (const auto& [k, lists] : buckets) {
      const auto n = std::min(lists[kBefore].size(), lists[kAfter].size());
      for (std::size_t i = 0; i < n; ++i) group({lists[kBefore][i]}, {lists[kAfter][i]}, by);
    }
  }

  // Whatever both sides say is the same operator.
  void by_operator() {
    std::map<std::string, std::array<Indices, 2>> all;
    for (const auto side : {kBefore, kAfter})
      for (std::size_t i = 0; i < sides_[side].size(); ++i)
        if (const auto& op = sides_[side][i].op; !op.empty()) all[op][side].push_back(i);
    for (const auto& [op, members] : all) {
      const std::array<Indices, 2> rest = {free_of(kBefore, members[kBefore]), free_of(kAfter, members[kAfter])};
      if (!rest[kBefore].empty() && !rest[kAfter].empty()) {
        group(rest[kBefore], rest[kAfter], MatchedBy::op);
      } else if (const auto side = rest[kBefore].empty() ? kAfter : kBefore; !rest[side].empty()) {
        const auto other = side == kBefore ? kAfter : kBefore;
        if (members[other].size() == 1) join(other, members[other].front(), side, rest[side]);
      }
    }
  }

  // Kernels whose names stand for the same operator and that do like work.
  void by_class() {
    std::map<std::string, std::array<Indices, 2>> buckets;
    for (const auto side : {kBefore, kAfter})
      for (const auto i : free(side))
        if (const auto& c = class_of(side, i); !c.empty() && sides_[side][i].op.empty()) buckets[c][side].push_back(i);
    for (auto& [name, lists] : buckets) pair_like(lists, kLikeWork, MatchedBy::operator_class);
  }

  // Renamed kernels: same shape, same calls, same work.
  void by_work() {
    std::map<std::string, std::array<Indices, 2>> buckets;
    for (const auto side : {kBefore, kAfter})
      for (const auto i : free(side)) {
        const auto& k = sides_[side][i];
        if (k.grid.count() == 0 || work_of(k) <= 0) continue;
        buckets[fmt::format("{}\n{} {}", k.op, shape(k), k.mean.launches)][side].push_back(i);
      }
    for (auto& [name, lists] : buckets) pair_like(lists, kSameWork, MatchedBy::work);
  }

  // One kernel that does what several others did, by their operators.
  void by_parts() {
    for (const auto side : {kBefore, kAfter}) {
      const auto other = side == kBefore ? kAfter : kBefore;
      if (free(side).empty() || free(other).empty()) continue;
      const auto wholes = by_class_and_launches(side);
      const auto parts = by_class_and_launches(other);
      for (const auto& rule : parts_rules())
        for (const auto& [key, list] : wholes)
          if (key.first == rule.whole && list.size() == 1 && is_free(side, list.front()))
            find_parts(side, list.front(), other, parts, rule);
    }
  }

  // A second kernel beside one that was matched already: a product and the sum over its splits.
  void by_helper() {
    for (const auto side : {kBefore, kAfter}) {
      const auto other = side == kBefore ? kAfter : kBefore;
      const auto candidates = free(side);
      if (candidates.empty()) continue;
      const auto mains = by_class_and_launches(side, false);
      for (const auto i : candidates) {
        const auto dot = class_of(side, i).rfind('.');
        if (dot == std::string::npos) continue;
        const std::pair key(class_of(side, i).substr(0, dot), sides_[side][i].mean.launches);
        const auto it = mains.find(key);
        if (it == mains.end() || it->second.size() != 1) continue;
        const auto g = group_of_[side][it->second.front()];
        if (g == kNone || members(groups_[g], other).size() != 1) continue;
        join(other, members(groups_[g], other).front(), side, {i});
      }
    }
  }

  // Compilers that write into the name what they fused: triton_poi_fused_add_mul_2.
  void by_fused_names() {
    for (const auto side : {kBefore, kAfter}) {
      const auto other = side == kBefore ? kAfter : kBefore;
      auto wholes = fused(side);
      auto parts = fused(other);
      for (const auto& [launches, list] : wholes) {
        const auto it = parts.find(launches);
        if (it == parts.end() || list.size() > kBucket || it->second.size() > kBucket) continue;
        for (const auto i : list) join_fused(side, i, other, it->second);
      }
    }
  }

  void alone() {
    if (sides_[kBefore].size() == 1 && sides_[kAfter].size() == 1 && is_free(kBefore, 0) && is_free(kAfter, 0))
      group({0}, {0}, MatchedBy::alone);
  }

  std::vector<KernelGroup> finish() {
    for (const auto i : free(kBefore)) groups_.push_back({MatchKind::vanished, MatchedBy::nothing, {i}, {}});
    for (const auto i : free(kAfter)) groups_.push_back({MatchKind::appeared, MatchedBy::nothing, {}, {i}});
    for (auto& g : groups_) {
      std::sort(g.before.begin(), g.before.end());
      std::sort(g.after.begin(), g.after.end());
      if (g.before.size() > 1 && g.after.size() > 1) g.kind = MatchKind::regrouped;
      if (g.before.size() == 1 && g.after.size() > 1) g.kind = MatchKind::split;
      if (g.before.size() > 1 && g.after.size() == 1) g.kind = MatchKind::merged;
    }
    // The order of a hash map is nobody's business.
    std::sort(groups_.begin(), groups_.end(), [](const KernelGroup& a, const KernelGroup& b) {
      return std::pair(a.before.empty() ? kNone : a.before.front(), a.after.empty() ? kNone : a.after.front()) <
             std::pair(b.before.empty() ? kNone : b.before.front(), b.after.empty() ? kNone : b.after.front());
    });
    return std::move(groups_);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  bool is_free(Side side, std::size_t i) const { return group_of_[side][i] == kNone; }

  Indices free(Side side) const {
    Indices out;
    for (std::size_t i = 0; i < sides_[side].size(); ++i)
      if (is_free(side, i)) out.push_back(i);
    return out;
  }

  Indices free_of(Side side, const Indices& all) const {
    Indices out;
    for (const auto i : all)
      if (is_free(side, i)) out.push_back(i);
    return out;
  }

  Indices called(Side side, const std::string& name) const {
    Indices out;
    for (const auto i : free(side))
      if (is_called(sides_[side][i], name)) out.push_back(i);
    return out;
  }

  static Indices& members(KernelGroup& g, Side side) { return side == kBefore ? g.before : g.after; }

  void group(Indices before, Indices after, MatchedBy by) {
    if (before.empty() || after.empty()) return;
    for (const auto i : before) group_of_[kBefore][i] = groups_.size();
    for (const auto i : after) group_of_[kAfter][i] = groups_.size();
    groups_.push_back({MatchKind::matched, by, std::move(before), std::move(after)});
  }

  // Adds free kernels of `side` to the group in which kernel `i` of `other` is.
  void join(Side other, std::size_t i, Side side, const Indices& more) {
    const auto g = group_of_[other][i];
    if (g == kNone) return;
    for (const auto m : more) {
      group_of_[side][m] = g;
      members(groups_[g], side).push_back(m);
    }
  }

  const std::string& class_of(Side side, std::size_t i) {
    auto& c = classes_[side][i];
    if (!c) {
      const auto* rule = model::KernelNames::instance().match(sides_[side][i].full_name);
      c = rule == nullptr ? std::string() : rule->op;
    }
    return *c;
  }

  void pair_like(std::array<Indices, 2>& lists, double factor, MatchedBy by) {
    for (const auto side : {kBefore, kAfter})
      std::stable_sort(lists[side].begin(), lists[side].end(), [&](std::size_t a, std::size_t b) {
        return work_of(sides_[side][a]) < work_of(sides_[side][b]);
      });
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < lists[kBefore].size() && b < lists[kAfter].size()) {
      const auto& x = sides_[kBefore][lists[kBefore][a]];
      const auto& y = sides_[kAfter][lists[kAfter][b]];
      if (like_work(x, y, factor)) {
        group({lists[kBefore][a++]}, {lists[kAfter][b++]}, by);
      } else if (work_of(x) < work_of(y)) {
        ++a;
      } else {
        ++b;
      }
    }
  }

  using ByClass = std::map<std::pair<std::string, std::uint64_t>, Indices>;  // operator, launches

  ByClass by_class_and_launches(Side side, bool only_free = true) {
    ByClass out;
    for (std::size_t i = 0; i < sides_[side].size(); ++i)
      if (!only_free || is_free(side, i)) out[{class_of(side, i), sides_[side][i].mean.launches}].push_back(i);
    return out;
  }

  void find_parts(Side side, std::size_t whole, Side other, const ByClass& candidates, const PartsRule& rule) {
    const auto launches = sides_[side][whole].mean.launches;
    std::map<std::string, std::size_t> wanted;
    for (const auto& part : rule.parts) ++wanted[part];
    Indices found;
    for (const auto& [part, n] : wanted) {
      const auto it = candidates.find({part, launches});
      if (it == candidates.end()) return;
      const auto list = it->second.size() > kBucket ? Indices() : free_of(other, it->second);
      if (list.size() != n) return;
      found.insert(found.end(), list.begin(), list.end());
    }
    group_sided(side, {whole}, std::move(found), MatchedBy::parts);
  }

  void group_sided(Side side, Indices mine, Indices others, MatchedBy by) {
    if (side == kBefore)
      group(std::move(mine), std::move(others), by);
    else
      group(std::move(others), std::move(mine), by);
  }

  using Words = std::map<std::string, std::size_t>;
  // What was fused, word by word; empty for other names.
  static Words fused_words(const SideKernel& k) {
    constexpr std::string_view kMark = "fused_";
    Words out;
    const auto at = k.family.find(kMark);
    if (!k.family.starts_with("triton_") || at == std::string::npos) return out;
    std::string_view rest = std::string_view(k.family).substr(at + kMark.size());
    while (!rest.empty()) {
      const auto end = std::min(rest.find('_'), rest.size());
      if (end > 0) ++out[std::string(rest.substr(0, end))];
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
  }

  std::map<std::uint64_t, Indices> fused(Side side) const {
    std::map<std::uint64_t, Indices> out;
    for (const auto i : free(side))
      if (!fused_words(sides_[side][i]).empty()) out[sides_[side][i].mean.launches].push_back(i);
    return out;
  }

  void join_fused(Side side, std::size_t whole, Side other, const Indices& candidates) {
    if (!is_free(side, whole)) return;
    const auto wanted = fused_words(sides_[side][whole]);
    Words sum;
    Indices found;
    for (const auto i : candidates) {
      if (!is_free(other, i)) continue;
      const auto words = fused_words(sides_[other][i]);
      const bool part = std::all_of(words.begin(), words.end(), [&](const auto& w) {
        const auto it = wanted.find(w.first);
        return it != wanted.end() && it->second >= w.second;
      });
      if (!part) continue;
      for (const auto& [word, n] : words) sum[word] += n;
      found.push_back(i);
    }
    if (found.size() > 1 && sum == wanted) group_sided(side, {whole}, found, MatchedBy::parts);
  }

  std::array<std::span<const SideKernel>, 2> sides_;
  std::array<Indices, 2> group_of_;
  std::array<std::vector<std::optional<std::string>>, 2> classes_;
  std::vector<KernelGroup> groups_;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (true) {
    const auto end = text.find(separator);
    out.emplace_back(machines::trim(text.substr(0, end)));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::span<const PartsRule> parts_rules() {
  static const std::vector<PartsRule> kRules = [] {
    std::vector<PartsRule> rules;
    for (const auto& row : machines::read_table(data::kernel_parts_csv(), "kernel_parts.csv").rows)
      rules.push_back({row.cells.at(0), split(row.cells.at(1), '+')});
    return rules;
  }();
  return kRules;
}

bool is_called(const SideKernel& kernel, std::string_view name) {
  return !name.empty() &&
         (kernel.op == name || kernel.name == name || kernel.full_name == name || kernel.family == name);
}

std::vector<KernelGroup> match_kernels(std::span<const SideKernel> before, std::span<const SideKernel> after,
                                       std::span<const std::pair<std::string, std::string>> same) {
  const auto says_operators = [](std::span<const SideKernel> side) {
    return std::any_of(side.begin(), side.end(), [](const SideKernel& k) { return !k.op.empty(); });
  };
  // A report beside a model names the operators, the same report alone does not: then names decide.
  const bool both = says_operators(before) && says_operators(after);
  const auto op_of = [&](const SideKernel& k) { return both ? k.op : std::string(); };
  Matcher matcher(before, after);
  matcher.by_request(same);
  matcher.by_key([&](const SideKernel& k) { return op_of(k) + '\n' + k.full_name + '\n' + shape(k); },
                 MatchedBy::identity);
  matcher.by_key([&](const SideKernel& k) { return op_of(k) + '\n' + k.family + '\n' + shape(k); }, MatchedBy::family);
  matcher.by_key([&](const SideKernel& k) { return op_of(k) + '\n' + k.full_name; }, MatchedBy::name);
  matcher.by_key([&](const SideKernel& k) { return op_of(k) + '\n' + k.family; }, MatchedBy::family_only);
  matcher.by_operator();
  matcher.by_fused_names();
  matcher.by_parts();
  matcher.by_class();
  matcher.by_work();
  matcher.by_helper();
  matcher.alone();
  return matcher.finish();
}

}  // namespace roofline::comparing
