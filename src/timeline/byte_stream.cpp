#include "timeline/byte_stream.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "profile/reader.h"

namespace roofline {
namespace {

using namespace std::string_view_literals;

constexpr int kMaxLayers = 2;
constexpr std::size_t kPiece = std::size_t{1} << 18;

constexpr const char* kFetchAgain = "fetch the file again; --partial shows what can be read";

// --- sources ---

class FileStream final : public ByteStream {
 public:
  explicit FileStream(std::shared_ptr<const FileView> file) : file_(std::move(file)) {
    file_->advise(Access::sequential);
  }

  std::size_t read(std::span<char> room) override {
    const auto rest = file_->bytes().substr(position_);
    const auto n = std::min(room.size(), rest.size());
    std::memcpy(room.data(), rest.data(), n);
    position_ += n;
    if (position_ - released_ >= kReleaseEvery) {
      file_->release(position_);
      released_ = position_;
    }
    seen_.store(position_, std::memory_order_relaxed);
    return n;
  }
  std::uint64_t consumed() const override { return seen_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kReleaseEvery = std::size_t{16} << 20;
  std::shared_ptr<const FileView> file_;
  std::size_t position_ = 0, released_ = 0;
  std::atomic<std::uint64_t> seen_ = 0;
};

// Puts bytes that were read ahead back in front of a stream.
class Prefixed final : public ByteStream {
 public:
  Prefixed(std::string prefix, std::unique_ptr<ByteStream> rest) : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  std::size_t read(std::span<char> room) override {
    if (position_ == prefix_.size()) return rest_->read(room);
    const auto n = std::min(room.size(), prefix_.size() - position_);
    std::memcpy(room.data(), prefix_.data() + position_, n);
    position_ += n;
    return n;
  }
  std::uint64_t consumed() const override { return rest_->consumed(); }

 private:
  std::string prefix_;
  std::size_t position_ = 0;
  std::unique_ptr<ByteStream> rest_;
};

std::size_t read_fully(ByteStream& stream, std::span<char> room) {
  std::size_t have = 0;
  while (have < room.size()) {
    const auto n = stream.read(room.subspan(have));
    if (n == 0) break;
    have += n;
  }
  return have;
}

// What both decompressors share: the packed piece at hand and the limit on what comes out.
class Unpacker : public ByteStream {
 public:
  Unpacker(std::unique_ptr<ByteStream> packed, std::string label, std::uint64_t limit)
      : packed_(std::move(packed)), label_(std::move(label)), limit_(limit), piece_(kPiece) {}
  std::uint64_t consumed() const override { return packed_->consumed(); }

 protected:
  [[noreturn]] void refuse_packed(std::string kind, std::string found, std::string action = kFetchAgain) const {
    throw InputError(
        {std::move(kind), label_, taken_ - (filled_ - used_), std::nullopt, std::move(found), "", std::move(action)});
  }
  bool refill() {
    used_ = 0;
    filled_ = packed_->read(piece_);
    taken_ += filled_;
    return filled_ > 0;
  }
  void count(std::size_t n) {
    given_ += n;
    if (given_ > limit_)
      refuse_packed("too-large", fmt::format("it unpacks to more than {} bytes", limit_),
                    "raise the limit if the file can be trusted");
  }
  std::string_view piece() const { return {piece_.data() + used_, filled_ - used_}; }
  void use(std::size_t n) { used_ += n; }

 private:
  std::unique_ptr<ByteStream> packed_;
  std::string label_;
  std::uint64_t limit_;
  std::vector<char> piece_;
  std::size_t used_ = 0, filled_ = 0;
  std::uint64_t taken_ = 0, given_ = 0;
};

class Gunzip final : public Unpacker {
 public:
  Gunzip(std::unique_ptr<ByteStream> packed, std::string label, std::uint64_t limit)
      : Unpacker(std::move(packed), std::move(label), limit) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Gunzip() override { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  std::size_t read(std::span<char> room) override {
    const auto size = std::min<std::size_t>(room.size(), std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size && !done_) step();
    const auto n = size - stream_.avail_out;
    count(n);
    return n;
  }

 private:
  void step() {
    if (piece().empty() && !refill()) {
      if (between_members_) {
        done_ = true;
        return;
      }
      refuse_packed("truncated", "the gzip data ends in the middle");
    }
    if (between_members_ && !next_member()) return;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece().data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(piece().size());
    const int state = inflate(&stream_, Z_NO_FLUSH);
    use(piece().size() - stream_.avail_in);
    between_members_ = state == Z_STREAM_END;
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
      refuse_packed("bad-gzip",
                    fmt::format("damaged gzip data ({})", stream_.msg != nullptr ? stream_.msg : "no details"));
  }

  // Zeros after the last member are padding; anything else but a member is not gzip.
  bool next_member() {
    const auto zeros = std::min(piece().find_first_not_of('\0'), piece().size());
    use(zeros);
    if (piece().empty()) return false;
    if (piece().front() != '\x1f')
      refuse_packed("bad-gzip", "bytes after the end of the gzip data",
                    "unpack the file with `gzip -d` and look at it");
    inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  z_stream stream_ = {};
  bool between_members_ = false, done_ = false;
};

class Unzstd final : public Unpacker {
 public:
  Unzstd(std::unique_ptr<ByteStream> packed, std::string label, std::uint64_t limit)
      : Unpacker(std::move(packed), std::move(label), limit), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  std::size_t read(std::span<char> room) override {
    ZSTD_outBuffer out = {room.data(), room.size(), 0};
    while (out.pos == 0) {
      if (piece().empty() && !refill()) {
        if (hint_ != 0) refuse_packed("truncated", "the zstd data ends in the middle");
        break;
      }
      ZSTD_inBuffer in = {piece().data(), piece().size(), 0};
      hint_ = ZSTD_decompressStream(stream_.get(), &out, &in);
      use(in.pos);
      if (ZSTD_isError(hint_) != 0U)
        refuse_packed("bad-zstd", fmt::format("damaged zstd data ({})", ZSTD_getErrorName(hint_)));
    }
    count(out.pos);
    return out.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::size_t hint_ = 0;  // 0 after the end of a frame
};

// --- tar ---

constexpr std::size_t kTarBlock = 512;

struct TarMember {
  std::string name;
  std::uint64_t size = 0;
  bool is_file = false;
};

// Octal digits between blanks and NULs. Sizes of 8 GiB and more (base 256) are not traces that anyone packs so.
std::uint64_t octal(std::string_view field) {
  std::uint64_t value = 0;
  for (const char c : field)
    if (c >= '0' && c <= '7') value = value * 8 + static_cast<std::uint64_t>(c - '0');
  return value;
}

bool is_tar(std::string_view block) { return block.size() >= kTarBlock && block.substr(257).starts_with("ustar"); }

TarMember parse_tar_header(std::string_view block) {
  const auto name = block.substr(0, 100);
  const char type = block[156];
  return {std::string(name.substr(0, name.find('\0'))), octal(block.substr(124, 12)), type == '0' || type == '\0'};
}

// The bytes of one member.
class TarMemberStream final : public ByteStream {
 public:
  TarMemberStream(std::unique_ptr<ByteStream> archive, std::uint64_t size, std::string label)
      : archive_(std::move(archive)), rest_(size), label_(std::move(label)) {}

  std::size_t read(std::span<char> room) override {
    if (rest_ == 0) return 0;
    const auto n = archive_->read(room.first(static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), rest_))));
    if (n == 0)
      throw InputError({"truncated", label_, archive_->consumed(), std::nullopt,
                        fmt::format("the tar archive ends {} bytes before its member does", rest_), "", kFetchAgain});
    rest_ -= n;
    return n;
  }
  std::uint64_t consumed() const override { return archive_->consumed(); }

 private:
  std::unique_ptr<ByteStream> archive_;
  std::uint64_t rest_;
  std::string label_;
};

void skip(ByteStream& stream, std::uint64_t size) {
  std::vector<char> scratch(std::min<std::uint64_t>(size, kPiece));
  while (size > 0) {
    const auto n = stream.read(std::span(scratch).first(std::min<std::uint64_t>(size, scratch.size())));
    if (n == 0) return;
    size -= n;
  }
}

// The first member whose name has "json" in it. Its first header was read already.
std::unique_ptr<ByteStream> json_member(std::unique_ptr<ByteStream> archive, std::string block,
                                        const std::string& label) {
  while (is_tar(block)) {
    const auto member = parse_tar_header(block);
    if (member.is_file && member.name.find("json") != std::string::npos)
      return std::make_unique<TarMemberStream>(std::move(archive), member.size, label);
    skip(*archive, (member.size + kTarBlock - 1) / kTarBlock * kTarBlock);
    block.resize(read_fully(*archive, std::span(block.data(), kTarBlock)));
  }
  throw InputError({"no-trace-in-archive", label, std::nullopt, std::nullopt, "a tar archive without a .json member",
                    "a trace", "unpack it and name the trace inside"});
}

// --- reading ahead ---

// Runs another stream in a thread, a few blocks ahead: unpacking and parsing then share the time.
class ReadAhead final : public ByteStream {
 public:
  explicit ReadAhead(std::unique_ptr<ByteStream> source)
      : source_(std::move(source)), thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~ReadAhead() override {
    {
      const std::lock_guard lock(mutex_);  // else the thread could miss it between looking and waiting
      thread_.request_stop();
    }
    changed_.notify_all();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  std::size_t read(std::span<char> room) override {
    if (current_.size() == position_ && !next_block()) return 0;
    const auto n = std::min(room.size(), current_.size() - position_);
    std::memcpy(room.data(), current_.data() + position_, n);
    position_ += n;
    return n;
  }
  std::uint64_t consumed() const override { return source_->consumed(); }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;
  static constexpr std::size_t kBlocks = 4;
  using Block = std::vector<char>;

  bool next_block() {
    std::unique_lock lock(mutex_);
    if (!current_.empty()) free_.push_back(std::move(current_));
    current_ = {};
    position_ = 0;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !full_.empty() || finished_; });
    if (full_.empty()) {
      if (fault_) std::rethrow_exception(fault_);
      return false;
    }
    current_ = std::move(full_.front());
    full_.pop_front();
    return true;
  }

  std::optional<Block> free_block(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop.stop_requested() || made_ < kBlocks || !free_.empty(); });
    if (stop.stop_requested()) return std::nullopt;
    if (free_.empty()) {
      ++made_;
      return Block();
    }
    auto block = std::move(free_.back());
    free_.pop_back();
    return block;
  }

  void run(const std::stop_token& stop) {
    std::exception_ptr fault;
    try {
      while (auto block = free_block(stop)) {
        block->resize(kBlock);
        // What stands before a fault is handed on first.
        std::size_t have = 0;
        try {
          while (have < kBlock) {
            const auto n = source_->read(std::span(*block).subspan(have));
            if (n == 0) break;
            have += n;
          }
        } catch (const InputError&) {
          fault = std::current_exception();
        }
        const bool last = have < kBlock;
        block->resize(have);
        hand_over(std::move(*block));
        if (last) break;
      }
    } catch (...) {
      fault = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    finished_ = true;
    changed_.notify_all();
  }

  void hand_over(Block block) {
    const std::lock_guard lock(mutex_);
    if (!block.empty()) full_.push_back(std::move(block));
    changed_.notify_all();
  }

  std::unique_ptr<ByteStream> source_;
  Block current_;
  std::size_t position_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> full_;
  std::vector<Block> free_;
  std::size_t made_ = 0;
  bool finished_ = false;
  std::exception_ptr fault_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<ByteStream> open_byte_stream(std::shared_ptr<const FileView> file, const std::string& label,
                                             std::uint64_t max_unpacked) {
  std::unique_ptr<ByteStream> stream = std::make_unique<FileStream>(std::move(file));
  bool packed = false;
  int layers = 0;
  for (bool archive = false;;) {
    std::string head(kTarBlock, '\0');
    head.resize(read_fully(*stream, head));
    const bool gzip = head.starts_with("\x1f\x8b\x08"sv);
    const bool zstd = head.starts_with("\x28\xb5\x2f\xfd"sv);
    if ((gzip || zstd) && ++layers <= kMaxLayers) {
      stream = std::make_unique<Prefixed>(std::move(head), std::move(stream));
      if (gzip) stream = std::make_unique<Gunzip>(std::move(stream), label, max_unpacked);
      if (zstd) stream = std::make_unique<Unzstd>(std::move(stream), label, max_unpacked);
      packed = true;
      continue;
    }
    if (!archive && is_tar(head)) {
      stream = json_member(std::move(stream), std::move(head), label);
      archive = true;
      layers = 0;
      continue;
    }
    stream = std::make_unique<Prefixed>(std::move(head), std::move(stream));
    break;
  }
  if (!packed) return stream;
  return std::make_unique<ReadAhead>(std::move(stream));
}

}  // namespace roofline
