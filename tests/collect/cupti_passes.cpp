#include "collect/cupti_passes.h"

#include <cupti_profiler_host.h>
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace roofline::collect {

struct CuptiPasses::Library {
  void* handle = nullptr;
  decltype(&cuptiProfilerHostGetSupportedChips) supported_chips = nullptr;
  decltype(&cuptiProfilerHostInitialize) initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) deinitialize = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) image_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) pass_count = nullptr;

  template <typename Function>
  bool bind(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }
  bool bind_all() {
    return bind(supported_chips, "cuptiProfilerHostGetSupportedChips") &&
           bind(initialize, "cuptiProfilerHostInitialize") && bind(deinitialize, "cuptiProfilerHostDeinitialize") &&
           bind(add_metrics, "cuptiProfilerHostConfigAddMetrics") &&
           bind(image_size, "cuptiProfilerHostGetConfigImageSize") && bind(image, "cuptiProfilerHostGetConfigImage") &&
           bind(pass_count, "cuptiProfilerHostGetNumOfPasses");
  }
};

namespace {

template <typename Params>
Params sized(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

// One chip's configuration, closed at the end of the scope.
template <typename Library>
class Host {
 public:
  Host(const Library& library, const std::string& chip) : library_(library) {
    auto params = sized<CUpti_Profiler_Host_Initialize_Params>(CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    if (library_.initialize(&params) == CUPTI_SUCCESS) host_ = params.pHostObject;
  }
  ~Host() {
    if (host_ == nullptr) return;
    auto params = sized<CUpti_Profiler_Host_Deinitialize_Params>(CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
    params.pHostObject = host_;
    library_.deinitialize(&params);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::optional<int> passes(const std::vector<std::string>& metrics) {
    if (host_ == nullptr || !add(metrics)) return std::nullopt;
    auto config = image();
    if (config.empty()) return std::nullopt;
    auto params =
        sized<CUpti_Profiler_Host_GetNumOfPasses_Params>(CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
    params.configImageSize = config.size();
    params.pConfigImage = config.data();
    if (library_.pass_count(&params) != CUPTI_SUCCESS) return std::nullopt;
    return static_cast<int>(params.numOfPasses);
  }

 private:
  bool add(const std::vector<std::string>& metrics) {
    std::vector<const char*> names;
    for (const auto& metric : metrics) names.push_back(metric.c_str());
    auto params =
        sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
    params.pHostObject = host_;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    return library_.add_metrics(&params) == CUPTI_SUCCESS;
  }

  std::vector<std::uint8_t> image() {
    auto size =
        sized<CUpti_Profiler_Host_GetConfigImageSize_Params>(CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
    size.pHostObject = host_;
    if (library_.image_size(&size) != CUPTI_SUCCESS) return {};
    std::vector<std::uint8_t> bytes(size.configImageSize);
    auto params =
        sized<CUpti_Profiler_Host_GetConfigImage_Params>(CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
    params.pHostObject = host_;
    params.configImageSize = bytes.size();
    params.pConfigImage = bytes.data();
    if (library_.image(&params) != CUPTI_SUCCESS) return {};
    return bytes;
  }

  const Library& library_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace

std::optional<CuptiPasses> CuptiPasses::open() {
  const char* named = std::getenv("ROOFLINE_CUPTI");
  const std::array<const char*, 4> places = {named, "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
                                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
  auto library = std::make_shared<Library>();
  for (const char* place : places) {
    if (place == nullptr) continue;
    library->handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (library->handle != nullptr) break;
  }
  if (library->handle == nullptr || !library->bind_all()) return std::nullopt;
  CuptiPasses result(std::move(library));
  if (result.chips().empty()) return std::nullopt;
  return result;
}

std::vector<std::string> CuptiPasses::chips() const {
  auto params =
      sized<CUpti_Profiler_Host_GetSupportedChips_Params>(CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  if (library_->supported_chips(&params) != CUPTI_SUCCESS) return {};
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

std::optional<int> CuptiPasses::passes(const std::string& chip, const std::vector<std::string>& metrics) const {
  return Host<Library>(*library_, chip).passes(metrics);
}

}  // namespace roofline::collect
