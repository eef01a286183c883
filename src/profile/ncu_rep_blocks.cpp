#include "profile/ncu_rep_blocks.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "profile/ncu_rep_device.h"
#include "profile/ncu_rep_value.h"
#include "profile/ncu_rep_wire.h"

namespace roofline::ncu_rep {
namespace {

constexpr std::string_view kMagic("NVR\0", 4);
constexpr std::uint64_t kPrefix = 8;  // magic and the size of the file header
constexpr const char* kFetchAgain = "profile again or fetch the file again; --partial shows what stands before";

struct BlockHeader {
  std::uint64_t sources = 0;
  std::uint64_t results = 0;
  std::uint64_t payload = 0;
  std::uint64_t process = 0;
};

std::uint32_t little_endian(const char* p) {
  const auto byte = [p](int i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(p[i])); };
  return byte(0) | byte(1) << 8U | byte(2) << 16U | byte(3) << 24U;
}

std::string text_of(std::string_view bytes) {
  std::string scratch;
  return std::string(valid_utf8(bytes, scratch));
}

class Walker {
 public:
  Walker(const Input& input, Index& index) : input_(input), bytes_(input.text()), index_(index) {}

  void walk() {
    file_header();
    while (pos_ < bytes_.size()) block();
  }

 private:
  std::uint64_t left() const { return bytes_.size() - pos_; }

  [[noreturn]] void cut(std::uint64_t at, const char* what, std::uint64_t says) const {
    refuse_at_byte(input_, at, "truncated", fmt::format("the file is cut: {} of {} bytes, {} left", what, says, left()),
                   "", kFetchAgain);
  }

  void file_header() {
    if (!bytes_.starts_with(kMagic)) {
      refuse_at_byte(input_, 0, "bad-magic", "not an Nsight Compute report", "the bytes 4e 56 52 00 (\"NVR\")");
    }
    if (bytes_.size() < kPrefix) {
      refuse(input_, "too-short", fmt::format("only {} bytes", bytes_.size()), "at least 8 bytes", kFetchAgain);
    }
    const std::uint32_t size = little_endian(bytes_.data() + 4);
    pos_ = kPrefix;
    if (size > left()) cut(4, "file header", size);
    bool found = false;
    for (Message header(bytes_.substr(pos_, size), input_); header.next();) {
      if (header.field() != 1) continue;
      index_.version = header.varint();
      found = true;
    }
    if (!found) refuse_at_byte(input_, kPrefix, "missing-field", "a file header without a version", "", kFetchAgain);
    pos_ += size;
  }

  void block() {
    const std::uint64_t start = pos_;
    if (left() < 4) {
      refuse_at_byte(input_, pos_, "trailing-bytes", fmt::format("{} stray bytes after the last block", left()), "",
                     kFetchAgain);
    }
    const std::uint32_t size = little_endian(bytes_.data() + pos_);
    pos_ += 4;
    if (size == 0) {
      refuse_at_byte(input_, start, "bad-block", "a block of length 0 (is the rest of the file zeros?)",
                     "a block header", kFetchAgain);
    }
    if (size > left()) cut(start, "block header", size);
    const BlockHeader header = block_header(bytes_.substr(pos_, size));
    pos_ += size;
    if (header.payload > left()) cut(start, "block payload", header.payload);
    payload(start, header);
  }

  BlockHeader block_header(std::string_view bytes) {
    BlockHeader header;
    for (Message m(bytes, input_); m.next();) {
      switch (m.field()) {
        case 1:
          header.sources = m.varint();
          break;
        case 2:
          header.results = m.varint();
          break;
        case 3:
          session(m.message());
          break;
        case 4:
          strings(m.message());
          break;
        case 5:
          header.payload = m.varint();
          break;
        case 6:
          header.process = process(m.message());
          break;
        default:
          break;
      }
    }
    return header;
  }

  void strings(Message table) {
    while (table.next()) {
      if (table.field() == 1) index_.strings.push_back(table.bytes());
    }
  }

  static std::uint64_t process(Message m) {
    std::uint64_t pid = 0;
    while (m.next()) {
      if (m.field() == 1) pid = m.varint();
    }
    return pid;
  }

  // Entries are walked to the end of the payload whatever the counts say: newer versions may add kinds of entries.
  void payload(std::uint64_t start, const BlockHeader& header) {
    const std::uint64_t end = pos_ + header.payload;
    std::uint64_t count = 0;
    for (; pos_ < end; ++count) {
      if (end - pos_ < 4) {
        refuse_at_byte(input_, pos_, "bad-payload", fmt::format("{} stray bytes at the end of a payload", end - pos_),
                       "", kFetchAgain);
      }
      const std::uint32_t size = little_endian(bytes_.data() + pos_);
      if (size > end - pos_ - 4) {
        refuse_at_byte(input_, pos_, "bad-payload",
                       fmt::format("an entry of {} bytes where its block has {} left", size, end - pos_ - 4), "",
                       kFetchAgain);
      }
      pos_ += 4;
      if (count >= header.sources) entry(size, header, count - header.sources >= header.results);
      pos_ += size;
    }
    // Not sources + results: hostile counts overflow.
    if (count < header.sources || count - header.sources < header.results) {
      refuse_at_byte(input_, start, "bad-payload", fmt::format("a block with {} entries", count),
                     fmt::format("{} sources and {} results", header.sources, header.results), kFetchAgain);
    }
  }

  void entry(std::uint32_t size, const BlockHeader& header, bool extra) {
    index_.results.push_back({pos_, size, header.process, extra});
    if (extra) ++index_.extra_entries;
  }

  void session(Message m) {
    while (m.next()) {
      switch (m.field()) {
        case 6:
          device(m.message());
          break;
        case 8:
          tool_version(m.message());
          break;
        case 11:
          index_.session.command_line = text_of(m.bytes());
          break;
        default:
          break;
      }
    }
  }

  void tool_version(Message m) {
    std::pair<std::string, std::string> version;
    while (m.next()) {
      if (m.field() == 1) version.first = text_of(m.bytes());
      if (m.field() == 2) version.second = text_of(m.bytes());
    }
    index_.session.versions.push_back(std::move(version));
  }

  void device(Message m) {
    DeviceInfo info;
    Facts facts;
    std::uint64_t id = 0;
    while (m.next()) {
      if (m.field() == 1) id = m.varint();
      if (m.field() == 2) info.name = text_of(m.bytes());
      if (m.field() == 3) attribute(m.message(), facts);
    }
    info = facts.over(std::move(info));
    info.id = static_cast<std::uint32_t>(id);
    for (auto& known : index_.session.devices) {
      if (known.id != info.id) continue;
      known = std::move(info);
      return;
    }
    index_.session.devices.push_back(std::move(info));
  }

  static void attribute(Message m, Facts& facts) {
    Fact fact = Fact::none;
    Value value;
    while (m.next()) {
      if (m.field() == 1) fact = fact_of(m.bytes());
      if (m.field() == 2) value = read_value(m.message());
    }
    // The name is field 2 of the device itself.
    if (value.is_number) facts.set(fact, value.number);
  }

  const Input& input_;
  std::string_view bytes_;
  Index& index_;
  std::uint64_t pos_ = 0;
};

}  // namespace

void read_index(const Input& input, Index& index) { Walker(input, index).walk(); }

}  // namespace roofline::ncu_rep
