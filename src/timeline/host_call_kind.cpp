#include "roofline/timeline.h"

namespace roofline {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

HostCallKind host_call_kind(std::string_view function) {
  if (has(function, "GraphLaunch")) return HostCallKind::graph_launch;
  if (has(function, "Synchronize")) return HostCallKind::synchronize;
  // A host function is no work of the GPU; a graph node that is only added does not run yet.
  if (has(function, "LaunchHostFunc") || has(function, "GraphAdd")) return HostCallKind::other;
  if (has(function, "Launch")) return HostCallKind::launch;
  if (has(function, "Memcpy") || has(function, "Memset")) return HostCallKind::copy;
  return HostCallKind::other;
}

}  // namespace roofline
