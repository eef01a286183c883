// Number formats and the data path that computes with them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roofline {

// Operand type. The merged ones are counters that count several types (Turing's tensor counter, Blackwell's
// FP4/FP6/FP8 counter): they keep their merged key, and their peak is the range of the members' peaks. `unknown` is a
// floating-point type that nobody stated: its FLOPs are shown, and no ceiling has a peak for them.
enum class NumberType : std::uint8_t {
  fp64,
  fp32,
  tf32,
  fp16,
  bf16,
  fp8,
  fp6,
  fp4,
  int32,
  int8,
  int4,
  int1,
  fp16_bf16_tf32,
  fp4_fp6_fp8,
  fp4_fp6,
  unknown,
};
std::string_view to_string(NumberType type);
bool is_integer(NumberType type);                      // counted as operations, never summed into FLOPs
std::span<const NumberType> members(NumberType type);  // itself for a plain type

enum class Accumulate : std::uint8_t {
  standard,  // the usual accumulator: FP32 for tensor paths of 16 bits and fewer, INT32 for integers
  acc16,     // FP16 accumulator; twice the rate on GeForce
  acc32,     // FP32 accumulator named explicitly; equal to `standard` in look-ups
};

enum class Path : std::uint8_t { vector, tensor };  // CUDA cores / SIMD, or tensor (matrix) cores

// `<type>[.acc16|.acc32].<vector|tensor>[.sparse]`, e.g. "bf16.tensor", "fp16.acc16.tensor", "fp8.tensor.sparse".
struct Precision {
  NumberType type = NumberType::fp32;
  Path path = Path::vector;
  Accumulate accumulate = Accumulate::standard;
  bool sparse = false;

  auto operator<=>(const Precision&) const = default;
};
std::string to_string(const Precision& precision);
std::optional<Precision> parse_precision(std::string_view key);

// The execution pipe that carries a precision when nothing more is known: all tensor work shares one pipe
// ("tensor"), CUDA-core work has one per type ("fp32", "fp64", "fp16", "int").
std::string_view pipe_of(const Precision& precision);

}  // namespace roofline
