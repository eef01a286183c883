// The container of a report: blocks with headers and entries. Reads headers only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/reader.h"

namespace roofline::ncu_rep {

// Where a result lies and which process launched it.
struct Entry {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t process = 0;
  bool extra = false;  // beyond the counts in the block header: of a kind we do not know, perhaps a result
};

// Session details, merged from all their pieces.
struct Session {
  std::vector<std::pair<std::string, std::string>> versions;  // provider, version
  std::vector<DeviceInfo> devices;
  std::string command_line;
};

// What the headers of all blocks say. Strings stay in the mapped file.
struct Index {
  std::uint64_t version = 0;
  std::vector<std::string_view> strings;
  std::vector<Entry> results;
  std::uint64_t extra_entries = 0;
  Session session;
};

// Fills `index` block by block; when it throws InputError ("bad-magic", "too-short", "truncated", "bad-block",
// "bad-payload", "trailing-bytes", wire faults), all blocks before the fault are in it.
void read_index(const Input& input, Index& index);

// The bytes of a report together with its table of strings: what reads on demand need.
class ReportBytes final : public FileView {
 public:
  ReportBytes(std::shared_ptr<const FileView> file, std::vector<std::string_view> strings)
      : file_(std::move(file)), strings_(std::move(strings)) {
    set_bytes(file_->bytes());
  }
  const std::vector<std::string_view>& strings() const { return strings_; }
  void advise(Access access) const override { file_->advise(access); }

 private:
  std::shared_ptr<const FileView> file_;
  std::vector<std::string_view> strings_;
};

}  // namespace roofline::ncu_rep
