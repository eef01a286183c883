#include "history/compression.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>
#include <stdexcept>

#include "history/sql.h"

namespace roofline::history {
namespace {

constexpr int kLevel = 3;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // no report comes near

struct Deleter {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

[[noreturn]] void damaged(const std::string& store, std::string found) {
  sql::fail(store, "store-damaged", std::move(found), "restore a copy; the rows of kernels may still be whole");
}

}  // namespace

std::string compress(std::string_view text) {
  const std::unique_ptr<ZSTD_CCtx, Deleter> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const auto size = ZSTD_compress2(context.get(), out.data(), out.size(), text.data(), text.size());
  if (ZSTD_isError(size) != 0) throw std::runtime_error(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

std::string decompress(std::string_view packed, std::uint64_t size, const std::string& store) {
  if (size > kMostBytes || ZSTD_getFrameContentSize(packed.data(), packed.size()) != size)
    damaged(store, "a recorded report is not as long as it should be");
  std::string out(size, '\0');
  const auto got = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size)
    damaged(store, fmt::format("a recorded report cannot be unpacked ({})",
                               ZSTD_isError(got) != 0 ? ZSTD_getErrorName(got) : "too short"));
  return out;
}

}  // namespace roofline::history
