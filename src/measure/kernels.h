// Loops that keep one thing busy: a level of memory, or the arithmetic units.
#pragma once

#include <cstddef>

namespace roofline::measure {

// Bytes that one turn of a memory loop takes: sets and arrays are multiples of it.
inline constexpr std::size_t kBlock = 1024;

struct ComputeKernel {
  const char* precision;  // key, "fp64.vector"
  const char* what;       // instructions, "FMA" or "8 FMA : 6 ADD"
  bool mix;               // more than the multiply-adds alone
  double operations;      // per turn
  void (*run)(std::size_t turns);
};

// The loops in one instruction set. Bytes are multiples of kBlock; arrays start at a cache line.
struct KernelSet {
  const char* isa;  // "AVX2"
  void (*read)(const char* a, std::size_t bytes, std::size_t passes);
  void (*write)(char* a, std::size_t bytes, std::size_t passes);
  void (*copy)(char* a, const char* b, std::size_t bytes, std::size_t passes);
  void (*triad)(char* a, const char* b, const char* c, std::size_t bytes, std::size_t passes);  // a = b + s c, FP64
  // The same with stores that leave the caches alone; null where the instruction set has none.
  void (*write_nt)(char* a, std::size_t bytes, std::size_t passes);
  void (*copy_nt)(char* a, const char* b, std::size_t bytes, std::size_t passes);
  void (*triad_nt)(char* a, const char* b, const char* c, std::size_t bytes, std::size_t passes);
  const ComputeKernel* compute;
  std::size_t compute_count;
};

// What this processor can run, widest last; ends with null. Empty on architectures without kernels.
const KernelSet* const* kernel_sets();
// Null where it has no such instructions.
const ComputeKernel* bf16_kernel();
const ComputeKernel* int8_kernel();

// One file each, compiled for its instruction set. Null where the compiler does not target it.
const KernelSet* baseline_kernels();  // SSE2, or NEON
const KernelSet* avx2_kernels();
const KernelSet* avx512_kernels();
const ComputeKernel* avx512_bf16_kernel();
const ComputeKernel* avx512_vnni_kernel();

// Follows a chain of pointers for `steps` loads; returns where it ended.
void* chase(void* start, std::size_t steps);
// Adds that wait for each other: one cycle each on every core that we know of. 64 per turn.
inline constexpr double kAddsPerTurn = 64;
std::size_t dependent_adds(std::size_t turns);

}  // namespace roofline::measure
