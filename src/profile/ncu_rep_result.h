// One profile result: a kernel launch, a range or a graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/ncu_rep_blocks.h"
#include "profile/ncu_rep_device.h"
#include "profile/ncu_rep_value.h"
#include "profile/reader.h"

namespace roofline::ncu_rep {

// id and value of one metric entry. Stops before the instances (values per instruction or unit, a third of real
// files) once both are known, so that their pages are never touched.
struct MetricEntry {
  std::uint64_t name = 0;
  Value value;  // neither number nor text when nothing was collected
};
MetricEntry read_metric(Message m);

// Collects the numbers of one result and hands them over sorted, without sorting: every name of the string table
// gets its rank among all wanted metric ids once per file.
class MetricCollector {
 public:
  MetricCollector(const std::vector<std::string_view>& strings, MetricNames& names);

  // What the reader needs to know about a name.
  struct Name {
    std::uint32_t rank = kUnwanted;
    Fact fact = Fact::none;
  };
  static constexpr std::uint32_t kUnwanted = 0xFFFFFFFF;

  const Name& name(std::uint64_t id) const { return names_[id]; }
  std::size_t names() const { return names_.size(); }
  bool wants(std::uint64_t id) const { return wanted_[id] != 0; }
  void add(std::uint32_t rank, const Value& value);
  void hand_over(MetricSet& metrics);

 private:
  void hand_over_texts(MetricSet& metrics);

  std::vector<Name> names_;    // by string id
  std::vector<char> wanted_;   // by string id: small enough for the nearest cache
  std::vector<MetricId> ids_;  // by rank, ascending
  std::vector<double> numbers_;
  std::vector<std::uint64_t> present_;                // a bit per rank
  std::vector<std::pair<MetricId, double>> earlier_;  // overwritten by a later duplicate
  std::vector<std::pair<MetricId, std::string_view>> texts_;
  std::vector<std::pair<MetricId, std::string_view>> last_texts_;  // of the result before, and the set that has them
  MetricSet last_set_;                                             // texts of the launch before
  MetricSet last_values_;                                          // values of the launch before
  std::size_t count_ = 0;
  std::string scratch_;
};

// Reads results one after the other into a profile.
class ResultReader {
 public:
  ResultReader(const Input& input, const Index& index, MetricNames& names, Profile& profile, bool tolerant);

  // Appends the launch, unless it is an extra entry that is not a result. Throws InputError; the profile is then as it
  // was before.
  void read(const Entry& entry);
  // Warnings that concern many results, once.
  void finish();

 private:
  Launch parse(const Entry& entry);
  void field(Message& m, Launch& launch);
  void metric(const Message& m);
  void ranges(Message state, Launch& launch);
  void thread_ranges(Message thread, Launch& launch) const;
  std::uint32_t device();
  static void count_blocks(Launch& launch);
  bool is_failed(const Launch& launch) const;
  std::string_view intern(std::string_view text);

  const Input& input_;
  const Index& index_;
  Profile& profile_;
  bool tolerant_;  // names may be missing because the file was cut
  MetricCollector collector_;
  Facts facts_;
  std::string scratch_;
  std::uint64_t thread_ = 0;
  std::uint64_t metrics_ = 0;     // in the result at hand
  std::uint64_t unresolved_ = 0;  // metrics without a name, all results
  std::uint64_t inexact_ = 0;     // integers beyond 2^53, all results
  std::uint64_t duplicates_ = 0;  // all results
};

}  // namespace roofline::ncu_rep
