#include "roofline/precision.h"

#include <algorithm>
#include <array>

namespace roofline {
namespace {

using enum NumberType;

constexpr std::array<std::string_view, 16> kTypeNames = {
    "fp64",  "fp32", "tf32", "fp16", "bf16",           "fp8",         "fp6",     "fp4",
    "int32", "int8", "int4", "int1", "fp16_bf16_tf32", "fp4_fp6_fp8", "fp4_fp6", "unknown"};
constexpr std::array<NumberType, 12> kPlain = {fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4, int32, int8, int4, int1};
constexpr std::array<NumberType, 3> kTuring = {fp16, bf16, tf32};
constexpr std::array<NumberType, 3> kBlackwell = {fp4, fp6, fp8};
constexpr std::array<NumberType, 2> kSmall = {fp4, fp6};
constexpr std::array<NumberType, 1> kUnknown = {unknown};

std::string_view next_part(std::string_view& rest) {
  const auto dot = rest.find('.');
  const auto part = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
  return part;
}

}  // namespace

std::string_view to_string(NumberType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

bool is_integer(NumberType type) { return type == int32 || type == int8 || type == int4 || type == int1; }

std::span<const NumberType> members(NumberType type) {
  switch (type) {
    case fp16_bf16_tf32:
      return kTuring;
    case fp4_fp6_fp8:
      return kBlackwell;
    case fp4_fp6:
      return kSmall;
    case unknown:
      return kUnknown;
    default:
      return std::span(kPlain).subspan(static_cast<std::size_t>(type), 1);
  }
}

std::string to_string(const Precision& p) {
  std::string key(to_string(p.type));
  if (p.accumulate == Accumulate::acc16) key += ".acc16";
  if (p.accumulate == Accumulate::acc32) key += ".acc32";
  key += p.path == Path::vector ? ".vector" : ".tensor";
  if (p.sparse) key += ".sparse";
  return key;
}

std::optional<Precision> parse_precision(std::string_view key) {
  Precision p;
  auto rest = key;
  const auto type = std::find(kTypeNames.begin(), kTypeNames.end(), next_part(rest));
  if (type == kTypeNames.end()) return std::nullopt;
  p.type = static_cast<NumberType>(type - kTypeNames.begin());
  auto part = next_part(rest);
  if (part == "acc16" || part == "acc32") {
    p.accumulate = part == "acc16" ? Accumulate::acc16 : Accumulate::acc32;
    part = next_part(rest);
  }
  if (part != "vector" && part != "tensor") return std::nullopt;
  p.path = part == "vector" ? Path::vector : Path::tensor;
  part = next_part(rest);
  if (part == "sparse" && p.path == Path::tensor) {
    p.sparse = true;
    part = next_part(rest);
  }
  if (!part.empty() || !rest.empty() || key.ends_with('.')) return std::nullopt;
  return p;
}

std::string_view pipe_of(const Precision& p) {
  if (p.path == Path::tensor) return "tensor";
  if (is_integer(p.type)) return "int";
  switch (p.type) {
    case fp64:
      return "fp64";
    case fp16:
    case bf16:
      return "fp16";
    default:
      return "fp32";
  }
}

}  // namespace roofline
