// What an operator of a framework has to do, from the shapes of its arguments, and which kernels did it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/precision.h"
#include "roofline/timeline.h"

namespace roofline {

// The least that an operator must compute and move: inputs read once, outputs written once, nothing kept in caches.
struct OperatorWork {
  struct Part {
    Precision precision;
    double flops = 0;  // integer operations for an integer precision
  };
  std::vector<Part> parts;   // matrix products before what is added to them
  bool lower_bound = false;  // FLOPs: one per element, but the function costs more (exp, softmax)
  double bytes = 0;
  std::string formula;  // "matmul", "attention", "pointwise", ...
  std::string shape;    // "8944x1024 . 1024x2816"
  std::string note;     // what was assumed: "causal: half of the products"

  double flops() const;
};

// By name and the text of its arguments as a trace spells them ("[[8944,1024],[1024,2816]]",
// "[\"c10::BFloat16\",\"c10::BFloat16\"]"). nullopt for an operator that data/operators.csv does not list, and where a
// shape or type that matters is missing or makes no sense.
std::optional<OperatorWork> operator_work(std::string_view name, std::string_view shapes, std::string_view types,
                                          std::string_view values);

// One call of an operator with known work, and the GPU work that it launched.
struct ModelledCall {
  std::uint32_t call = kNone;  // index into Timeline::operators
  OperatorWork work;
  std::vector<std::uint32_t> activities;  // indices into Timeline::activities, by start
  std::int64_t busy_ns = 0;               // sum of their lengths
  std::uint32_t main_activity = kNone;    // the longest
};

// Which operator launched what. Times are sums over kernels, ns.
struct OperatorJoin {
  std::vector<ModelledCall> modelled;      // by first activity
  std::vector<std::uint32_t> call_of;      // per activity: the innermost operator around its launch; kNone: none
  std::vector<std::uint32_t> modelled_of;  // per activity: index into `modelled`; kNone: none
  std::int64_t kernel_ns = 0;              // of all kernels
  std::int64_t modelled_ns = 0;            // of those that belong to a modelled call
  std::int64_t shapeless_ns = 0;           // of those around whose launch no operator states a shape
  std::int64_t graph_ns = 0;               // of those, kernels that a CUDA or HIP graph replayed
};

// Joins by the host call of the same correlation number and the operators open around it on its thread; where the trace
// has no such call, by the external id. Of nested operators the innermost one with known work takes the kernel.
OperatorJoin join_operators(const Timeline& timeline);

}  // namespace roofline
