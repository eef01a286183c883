#include "profile/unpack.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "profile/growing_bytes.h"

namespace roofline {
namespace {

constexpr int kMaxLayers = 2;
constexpr std::size_t kStep = std::size_t{1} << 20;

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b\x08"); }

bool is_zstd(std::string_view bytes) {
  if (bytes.size() < 4) return false;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return true;
  return (static_cast<unsigned char>(bytes[0]) & 0xF0U) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18";  // skippable
}

// One layer being unpacked: where the output goes and when it is too much.
struct Layer {
  const Input& input;
  std::uint64_t limit;
  GrowingBytes output = {};

  void commit(std::size_t written) {
    output.commit(written);
    if (output.size() > limit) {
      refuse(input, "too-large", fmt::format("it unpacks to more than {} bytes", limit), "",
             "raise the limit if the file can be trusted");
    }
  }
};

struct InflateEnd {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};

std::unique_ptr<z_stream, InflateEnd> start_inflate() {
  auto stream = std::make_unique<z_stream>();
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(stream.get(), kGzipOnly) != Z_OK) throw std::bad_alloc();
  return std::unique_ptr<z_stream, InflateEnd>(stream.release());
}

// A gzip file may be several members; zeros after the last one are padding (tape blocks), anything else is not gzip.
bool next_member(Layer& layer, z_stream& stream, std::size_t rest) {
  const auto bytes = layer.input.text();
  const auto tail = bytes.substr(bytes.size() - rest);
  if (tail.find_first_not_of('\0') == std::string_view::npos) return false;
  if (!is_gzip(tail)) {
    refuse_at_byte(layer.input, bytes.size() - rest, "bad-gzip", "bytes after the end of the gzip data", "",
                   "unpack the file with `gzip -d` and look at it");
  }
  inflateReset(&stream);
  return true;
}

void gunzip(Layer& layer) {
  const auto stream = start_inflate();
  const auto bytes = layer.input.text();
  std::size_t pos = 0;
  for (;;) {
    const auto room = layer.output.room(kStep);
    const auto in_size = std::min<std::size_t>(bytes.size() - pos, std::numeric_limits<uInt>::max());
    const auto out_size = std::min<std::size_t>(room.size(), std::numeric_limits<uInt>::max());
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + pos));  // zlib only reads it
    stream->avail_in = static_cast<uInt>(in_size);
    stream->next_out = reinterpret_cast<Bytef*>(room.data());
    stream->avail_out = static_cast<uInt>(out_size);
    const int state = inflate(stream.get(), Z_NO_FLUSH);
    pos += in_size - stream->avail_in;
    layer.commit(out_size - stream->avail_out);
    if (state == Z_STREAM_END) {
      if (!next_member(layer, *stream, bytes.size() - pos)) return;
    } else if (state == Z_BUF_ERROR || (state == Z_OK && pos == bytes.size() && stream->avail_out != 0)) {
      refuse_at_byte(layer.input, pos, "truncated", "the gzip data ends in the middle", "",
                     "fetch the file again; --partial shows what can be read");
    } else if (state != Z_OK) {
      refuse_at_byte(layer.input, pos, "bad-gzip",
                     fmt::format("damaged gzip data ({})", stream->msg != nullptr ? stream->msg : "no details"), "",
                     "fetch the file again; --partial shows what can be read");
    }
  }
}

struct FreeDStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

void unzstd(Layer& layer) {
  const std::unique_ptr<ZSTD_DStream, FreeDStream> stream(ZSTD_createDStream());
  if (!stream) throw std::bad_alloc();
  const auto bytes = layer.input.text();
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  std::size_t hint = 1;  // 0 after the end of a frame
  bool output_full = false;
  while (in.pos < in.size || (output_full && hint != 0)) {
    const auto room = layer.output.room(kStep);
    ZSTD_outBuffer out = {room.data(), room.size(), 0};
    hint = ZSTD_decompressStream(stream.get(), &out, &in);
    layer.commit(out.pos);
    if (ZSTD_isError(hint) != 0U) {
      refuse_at_byte(layer.input, in.pos, "bad-zstd", fmt::format("damaged zstd data ({})", ZSTD_getErrorName(hint)),
                     "", "fetch the file again; --partial shows what can be read");
    }
    output_full = out.pos == out.size;
  }
  if (hint != 0) {
    refuse_at_byte(layer.input, in.pos, "truncated", "the zstd data ends in the middle", "",
                   "fetch the file again; --partial shows what can be read");
  }
}

}  // namespace

Unpacked unpack(const Input& input, const ReadOptions& options) {
  Unpacked result{input.bytes, std::nullopt};
  for (int layers = 0; is_gzip(result.bytes->bytes()) || is_zstd(result.bytes->bytes()); ++layers) {
    const Input packed{result.bytes, input.path};
    if (layers == kMaxLayers) {
      refuse(packed, "nested-compression", fmt::format("compressed more than {} times", kMaxLayers), "",
             "unpack it first");
    }
    result.bytes->advise(Access::sequential);
    Layer layer{packed, options.max_decompressed};
    try {
      is_gzip(packed.text()) ? gunzip(layer) : unzstd(layer);
    } catch (const InputError& fault) {
      if (!options.partial || layer.output.size() == 0) throw;
      result.fault = fault;
    }
    result.bytes = std::move(layer.output).view();
  }
  return result;
}

}  // namespace roofline
