#include "roofline/diagnosis.h"

#include <algorithm>
#include <array>

namespace roofline {
namespace {

constexpr std::array<PositionAdvice, 7> kAdvice = {{
    {Position::memory_optimal, "On the memory roof: the kernel moves its bytes about as fast as they can be moved.",
     "Move fewer bytes: quantize, fuse with its neighbours, keep data on the chip, or use an algorithm that reads "
     "less.",
     "Tuning this kernel (occupancy, unrolling, fewer FLOPs) will not make it faster; only fewer bytes or more "
     "bandwidth will."},
    {Position::memory_suboptimal,
     "Below the memory roof: memory limits the kernel, and it does not use what memory offers.",
     "Fix access: coalesce, change the layout, load 16 bytes per thread, stop spills, keep more bytes in flight.",
     "Fewer FLOPs or tensor cores will not help while memory limits it; buying bandwidth leaves the same share "
     "unused."},
    {Position::compute_optimal,
     "On the compute roof: the kernel executes its operations about as fast as this precision allows.",
     "Do fewer operations: a lower precision, a different algorithm, or skip work that is not needed.",
     "Better memory access or more bandwidth will not help; nor will more occupancy."},
    {Position::compute_suboptimal,
     "Below the compute roof: arithmetic limits the kernel, and its units are not kept busy.",
     "Tile better, reduce divergence, move work off the busiest unit; matrix products belong on tensor cores, where "
     "the "
     "chip has them for this precision.",
     "Quantizing only to save bytes will not help: memory is not what it waits for."},
    {Position::latency_bound, "Far below both roofs: the kernel waits rather than moves or computes.",
     "Give it more parallelism: more blocks and warps, more independent instructions per thread, shorter dependency "
     "chains; fuse it when it is too small to fill the GPU.",
     "Neither fewer bytes nor fewer FLOPs will help much: neither is what it waits for."},
    {Position::communication_bound, "The link between GPUs sets the time.",
     "Send less (a lower precision, another sharding) or overlap the transfer with independent computation.",
     "Tuning the computation inside this kernel will not help."},
    {Position::unplaced, "No verdict: what would decide it was not measured.", "Collect what is missing first.",
     "Tuning without these numbers is guessing."},
}};

}  // namespace

const PositionAdvice& position_advice(Position position) {
  const auto it = std::find_if(kAdvice.begin(), kAdvice.end(), [&](const auto& a) { return a.position == position; });
  return it == kAdvice.end() ? kAdvice.back() : *it;
}

}  // namespace roofline
