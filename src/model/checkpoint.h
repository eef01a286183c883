// How a checkpoint's files say that its weights are stored.
#pragma once

#include "model/json_keys.h"

namespace roofline::model {

// The `quantization_config` of a config.json.
void apply_quantization(ModelConfig& config, const JsonKeys& keys);

}  // namespace roofline::model
