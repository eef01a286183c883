// The architecture of each model family, read from the keys of its configuration.
#pragma once

#include <string>
#include <vector>

#include "model/json_keys.h"

namespace roofline::model {

// Fills sizes, layers and norms of `config` (model_type is set). Throws InputError.
void read_family(const JsonKeys& keys, ModelConfig& config);
// The family of a class name such as "LlamaForCausalLM"; empty when unknown.
std::string model_type_of(std::string_view architecture);
// A text model's type inside a composite of this type ("gemma3" holds "gemma3_text"); else the type itself.
std::string text_model_type(const std::string& model_type);

}  // namespace roofline::model
