#include "cli/model_options.h"

#include <fmt/format.h>

#include "cli/text_file.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

using model::Count;

model::LatentForm latent_form(const std::string& name) {
  if (name == "absorbed") return model::LatentForm::absorbed;
  if (name == "expanded") return model::LatentForm::expanded;
  return model::LatentForm::automatic;
}

}  // namespace

void ModelOptions::setup(CLI::App& command) {
  auto* step = command.add_option_group("Step");
  step->add_option("--machine", machine, "Catalogue machine (h100, h200, b200, a100 ...)");
  add_step(*step);
  add_details(*command.add_option_group("Details of the step"));
}

void ModelOptions::setup_beside_file(CLI::App& command) {
  auto* step = command.add_option_group("Model beside the measurement");
  step->add_option("--model", model, "A preset, a config.json, or the folder of one: set the model beside the file");
  add_step(*step);
  add_details(*step);
}

void ModelOptions::add_step(CLI::App& group) {
  auto* step = &group;
  step->add_option("--batch", batch_, "Sequences on this GPU (or group of tp GPUs)");
  step->add_option("--context", context_, "Tokens of KV cache that each sequence attends, its new ones included");
  step->add_option("--phase", phase_, "decode or prefill")->check(CLI::IsMember({"decode", "prefill"}));
  step->add_option("--query-length", query_length_, "New tokens per sequence (decode 1, prefill the context)");
  step->add_option("--dtype", dtype_, "Number format of the matrices: bf16, fp8, int8, w4a16, fp4, mxfp4 ...");
  step->add_option("--kv-dtype", kv_dtype_, "Number format of the KV cache: bf16, fp8 ...");
  step->add_option("--tp", tp_, "GPUs of tensor parallelism");
  step->add_option("--dp", dp_, "Data-parallel attention around shared experts (with --ep)");
  step->add_option("--ep", ep_, "GPUs that whole experts are spread over (tp x dp)");
}

void ModelOptions::add_details(CLI::App& group) {
  auto* details = &group;
  details->add_option("--latent", latent_, "Latent attention: auto, absorbed or expanded")
      ->check(CLI::IsMember({"auto", "absorbed", "expanded"}));
  details->add_option("--sampling", sampling_, "none, greedy, exponential, rejection or sort")
      ->check(CLI::IsMember({"none", "greedy", "exponential", "rejection", "sort"}));
  details
      ->add_option("--routing", routing_, "Experts: uniform (expected distinct ones) or balanced (as many as can be)")
      ->check(CLI::IsMember({"uniform", "balanced"}));
  details->add_flag("--unfused", unfused_, "Separate Q, K, V, gate and up products, adds and attention scores");
  details->add_flag("--fuse-quantize", fuse_quantize_, "Activations quantized by the kernel before");
  details->add_flag("--beyond-context", beyond_context_, "Allow a context above the model's own limit");
  details->add_option("--constants", constants_, "Calibration constants, in the layout of data/calibration.json");
}

model::StepOptions ModelOptions::step_options() const {
  if (batch_ == 0) throw UsageError("--batch is missing: how many sequences?");
  if (context_ == 0) throw UsageError("--context is missing: how many tokens of KV cache does each sequence attend?");
  model::StepOptions o;
  o.phase = phase_ == "prefill" ? model::Phase::prefill : model::Phase::decode;
  o.batch = batch_;
  o.context = context_;
  if (query_length_ < 0) throw UsageError(fmt::format("--query-length is {}; expected 1 or more", query_length_));
  o.query_length = query_length_;
  if (!dtype_.empty()) o.scheme = &model::named_scheme(dtype_);
  if (!kv_dtype_.empty()) o.kv = &model::named_kv_format(kv_dtype_);
  o.tp = tp_;
  o.dp = dp_;
  o.ep = ep_;
  o.latent = latent_form(latent_);
  o.sampling = *model::parse_sampling(sampling_);
  o.routing = routing_ == "balanced" ? model::Routing::balanced : model::Routing::uniform;
  if (unfused_) o.fusion = {false, false, false, false, false, false, false};
  o.fusion.quantize = fuse_quantize_;
  o.beyond_context = beyond_context_;
  return o;
}

std::optional<model::Calibration> ModelOptions::calibration() const {
  if (constants_.empty()) return std::nullopt;
  return model::parse_calibration(read_text_file(constants_), model::find_machine(machine).id, constants_);
}

void ModelOptions::set_if_absent(const model::Axis& axis) {
  const auto& first = axis.values.front();
  if (axis.kind == model::AxisKind::batch && batch_ == 0) batch_ = std::stoll(first);
  if (axis.kind == model::AxisKind::context && context_ == 0) context_ = std::stoll(first);
  if (axis.kind == model::AxisKind::machine && machine.empty()) machine = first;
}

model::SweepInput ModelOptions::sweep_input() const {
  if (model.empty()) throw UsageError("no model: name a preset (roofline model --list-presets) or a config.json");
  if (machine.empty()) throw UsageError("--machine is missing: on which GPU? (h100, h200, b200, a100 ...)");
  model::SweepInput input;
  input.config = model::resolve_config(model);
  input.options = step_options();
  input.machine = model::find_machine(machine);
  input.calibration = calibration();
  input.thresholds = thresholds;
  return input;
}

model::Forecast ModelOptions::forecast() const {
  const auto input = sweep_input();
  return model::make_forecast(input.config, input.options, input.machine, input.calibration, input.thresholds);
}

}  // namespace roofline::cli
