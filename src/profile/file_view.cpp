#include "profile/file_view.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "profile/growing_bytes.h"
#include "roofline/error.h"

namespace roofline {
namespace {

class Borrowed final : public FileView {
 public:
  explicit Borrowed(std::string_view bytes) { set_bytes(bytes); }
};

class Copied final : public FileView {
 public:
  explicit Copied(std::string_view bytes) : storage_(bytes) { set_bytes(storage_); }

 private:
  std::string storage_;
};

class Mapped final : public FileView {
 public:
  Mapped(void* address, std::size_t size) : address_(address) { set_bytes({static_cast<const char*>(address), size}); }
  ~Mapped() override { ::munmap(address_, size()); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  void advise(Access access) const override {
    // Only a hint: a system that refuses it still reads the file.
    static_cast<void>(::madvise(address_, size(), access == Access::sequential ? MADV_SEQUENTIAL : MADV_NORMAL));
  }

  void release(std::uint64_t size) const override {
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (const auto whole = size / page * page; whole > 0) static_cast<void>(::madvise(address_, whole, MADV_DONTNEED));
  }

 private:
  void* address_;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string system_text(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_path(const std::string& path, std::string kind, std::string found, std::string action) {
  throw InputError({std::move(kind), path, std::nullopt, std::nullopt, std::move(found), "", std::move(action)});
}

int open_or_refuse(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) return fd;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR) refuse_path(path, "not-found", "no such file", "check the name");
  refuse_path(path, "unreadable", "cannot be opened (" + system_text(error) + ")", "check its permissions");
}

// Pipes, terminals and devices have no size to map.
std::shared_ptr<const FileView> read_to_end(int fd, const std::string& path, std::uint64_t limit) {
  GrowingBytes bytes;
  for (;;) {
    const auto room = bytes.room(std::size_t{1} << 16);
    const ssize_t got = ::read(fd, room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_path(path, "unreadable", "cannot be read (" + system_text(errno) + ")", "");
    if (got == 0) return std::move(bytes).view();
    bytes.commit(static_cast<std::size_t>(got));
    if (bytes.size() > limit) {
      refuse_path(path, "too-large", "more than " + std::to_string(limit) + " bytes arrive on this stream",
                  "save it to a file, or raise the limit");
    }
  }
}

}  // namespace

std::shared_ptr<const FileView> view_file(const std::string& path, std::uint64_t limit) {
  const Descriptor fd(open_or_refuse(path));
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) {
    refuse_path(path, "unreadable", "cannot be read (" + system_text(errno) + ")", "");
  }
  if (S_ISDIR(status.st_mode)) refuse_path(path, "directory", "a directory", "name the report files in it");
  // Some virtual files (/proc) say size 0 and still hold bytes; reading them is right for both kinds of 0.
  if (path == "-" || !S_ISREG(status.st_mode) || status.st_size == 0) return read_to_end(fd.get(), path, limit);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) return read_to_end(fd.get(), path, limit);  // file systems without mmap
  return std::make_shared<Mapped>(address, size);
}

std::shared_ptr<const FileView> copy_bytes(std::string_view bytes) { return std::make_shared<Copied>(bytes); }

std::shared_ptr<const FileView> borrow_bytes(std::string_view bytes) { return std::make_shared<Borrowed>(bytes); }

}  // namespace roofline
