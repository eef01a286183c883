#include "profile/table_caption.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace roofline::table {
namespace {

constexpr std::size_t kMaxLine = 2000;    // bytes of a line that are looked at
constexpr std::size_t kCaptionLines = 4;  // lines above the header that belong to it
constexpr std::size_t kMaxMachineName = 60;

struct NamedType {
  std::string_view name;
  NumberType type;
};

constexpr std::array kTypes = std::to_array<NamedType>({
    {"fp64", NumberType::fp64},     {"f64", NumberType::fp64},   {"float64", NumberType::fp64},
    {"double", NumberType::fp64},   {"fp32", NumberType::fp32},  {"f32", NumberType::fp32},
    {"float32", NumberType::fp32},  {"float", NumberType::fp32}, {"single", NumberType::fp32},
    {"tf32", NumberType::tf32},     {"fp16", NumberType::fp16},  {"f16", NumberType::fp16},
    {"float16", NumberType::fp16},  {"half", NumberType::fp16},  {"bf16", NumberType::bf16},
    {"bfloat16", NumberType::bf16}, {"fp8", NumberType::fp8},    {"e4m3", NumberType::fp8},
    {"e5m2", NumberType::fp8},      {"float8", NumberType::fp8}, {"fp6", NumberType::fp6},
    {"fp4", NumberType::fp4},       {"nvfp4", NumberType::fp4},  {"mxfp4", NumberType::fp4},
    {"int32", NumberType::int32},   {"int8", NumberType::int8},  {"int4", NumberType::int4},
    {"int1", NumberType::int1},
});

// Names of accelerators as people write them in captions; a look-up elsewhere decides which part is meant.
constexpr std::array<std::string_view, 44> kChips = {
    "p40",   "p100",   "v100",   "t4",     "a10",    "a10g",   "a16",  "a30",   "a40",   "a100",  "a800",
    "a2",    "h20",    "h100",   "h200",   "h800",   "gh200",  "b100", "b200",  "b300",  "gb200", "gb300",
    "gb10",  "l4",     "l20",    "l40",    "l40s",   "mi50",   "mi60", "mi100", "mi210", "mi250", "mi250x",
    "mi300", "mi300a", "mi300x", "mi325x", "mi350x", "mi355x", "rtx",  "thor",  "orin",  "dgx",   "gtx"};

std::optional<NumberType> find_type(std::string_view word) {
  const auto name = lower(word);
  const auto it = std::find_if(kTypes.begin(), kTypes.end(), [&](const NamedType& t) { return t.name == name; });
  return it == kTypes.end() ? std::nullopt : std::optional(it->type);
}

bool is_word_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '/' ||
         c == '-' || c == '_' || c == '%' || static_cast<unsigned char>(c) >= 0x80;
}

struct Word {
  std::string_view text;
  std::size_t at = 0;  // in the line
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && !is_word_char(line[at])) ++at;
    const auto begin = at;
    while (at < line.size() && is_word_char(line[at])) ++at;
    auto text = line.substr(begin, at - begin);
    while (text.ends_with('.') || text.ends_with('-')) text.remove_suffix(1);
    if (!text.empty()) words.push_back({text, begin});
  }
  return words;
}

std::optional<double> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0) return std::nullopt;
  return static_cast<double>(value);
}

// "8B" or "70b" as the last part of a model's name: "Llama-3-8B". Mixtures ("8x7B", "A3B") hold more weights than a
// step reads, so they say nothing.
std::optional<double> parameters_of(std::string_view name) {
  std::optional<double> found;
  for (std::size_t at = 0; at < name.size();) {
    const auto end = std::min(name.find('-', at), name.size());
    const auto part = name.substr(at, end - at);
    at = end + 1;
    if (part.size() < 2 || (part.back() != 'B' && part.back() != 'b')) continue;
    const auto digits = part.substr(0, part.size() - 1);
    if (digits.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
    if (const auto value = parse_number(digits, NumberLocale::point)) found = *value * 1e9;
  }
  return found;
}

// W4A16, W8A8: weights of 4 or 8 bits.
std::optional<double> weight_bytes_of(std::string_view word) {
  const auto text = lower(word);
  const auto a = text.find('a');
  if (text.size() < 4 || text.front() != 'w' || a == std::string::npos || a < 2) return std::nullopt;
  const auto bits = whole_number(std::string_view(text).substr(1, a - 1));
  if (!bits || !whole_number(std::string_view(text).substr(a + 1))) return std::nullopt;
  return *bits / 8;
}

bool is_chip(std::string_view word) {
  const auto text = lower(word);
  const auto stem = text.substr(0, text.find_first_of("-_"));
  return std::find(kChips.begin(), kChips.end(), stem) != kChips.end();
}

bool is_form_factor(std::string_view word) {
  const auto text = lower(word);
  return text.starts_with("sxm") || text.starts_with("pcie") || text == "nvl" || text == "super" || text == "ti" ||
         text == "ada" || text == "pro" || (text.size() == 4 && whole_number(text)) || text.ends_with("gb");
}

class CaptionLine {
 public:
  CaptionLine(std::string_view line, NumberLocale locale, Caption& caption)
      : line_(line.substr(0, kMaxLine)), words_(words_of(line_)), locale_(locale), caption_(&caption) {}

  void read() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (read_measure(i) || read_batch(i)) continue;
      read_name(i);
    }
    if (caption_->machine.empty()) read_machine();
  }

 private:
  std::string_view word(std::size_t i) const { return i < words_.size() ? words_[i].text : std::string_view{}; }

  // "990 TF/s BF16", "3.35 TB/s", "296 FLOP/byte"
  bool read_measure(std::size_t i) {
    if (number_part(word(i)).empty()) return false;
    auto text = std::string(word(i));
    if (number_part(text).size() == text.size()) text += fmt::format(" {}", word(i + 1));
    const auto cell = read_cell(text, {}, locale_);
    if (cell.state != CellReading::State::value || !cell.printed.measure) return false;
    switch (*cell.printed.measure) {
      case Measure::flop_rate:
        add_peak(i, cell.printed);
        return true;
      case Measure::byte_rate:
        if (!caption_->bandwidth) caption_->bandwidth = cell.printed;
        return true;
      case Measure::intensity:
        if (!caption_->ridge && lower(line_).find("ridge") != std::string::npos) caption_->ridge = cell.printed;
        return true;
      default:
        return false;
    }
  }

  void add_peak(std::size_t i, const Printed& rate) {
    Peak peak{rate, std::nullopt};
    for (const auto near : {i + 1, i + 2, i - 1}) {
      if (const auto precision = parse_stated_precision(word(near))) {
        peak.precision = precision->precision;
        break;
      }
    }
    caption_->peaks.push_back(peak);
  }

  // "batch 32", "batch size: 32", "bs=32", "B = 32"
  bool read_batch(std::size_t i) {
    const auto text = lower(word(i));
    const bool letter = text == "b" && line_.substr(words_[i].at + 1, 2).find('=') != std::string_view::npos;
    if (text != "batch" && text != "bs" && !letter) return false;
    const auto next = lower(word(i + 1)) == "size" ? i + 2 : i + 1;
    if (const auto value = whole_number(word(next)); value && !caption_->batch) caption_->batch = value;
    return true;
  }

  void read_name(std::size_t i) {
    const auto text = word(i);
    const auto small = lower(text);
    if (small == "decode" || small == "decoding") caption_->decode = true;
    // "TP=8", "8 GPUs": the rows hold a share of the model.
    const bool split = small == "tp" || small == "pp" || small == "ep";
    if (split && whole_number(word(i + 1)).value_or(1) > 1) caption_->parallel = true;
    if (small == "gpus" || small == "devices") caption_->parallel = true;
    if (small.size() > 2 && (small.starts_with("tp") || small.starts_with("ep") || small.starts_with("pp"))) {
      const auto ways = whole_number(std::string_view(small).substr(2));
      if (ways && *ways > 1) caption_->parallel = true;
    }
    if (caption_->data_type.empty() && find_type(text)) caption_->data_type = small;
    if (!caption_->weight_bytes) caption_->weight_bytes = weight_bytes_of(text);
    if (!caption_->parameters && text.find('-') != std::string_view::npos) caption_->parameters = parameters_of(text);
  }

  // The words before a bracket that holds a peak, or a name that looks like an accelerator.
  void read_machine() {
    const auto open = line_.find('(');
    if (open != std::string_view::npos && holds_peak(open)) {
      const auto before = line_.substr(0, open);
      const auto comma = before.find_last_of(",;:");
      auto name = trim(comma == std::string_view::npos ? before : before.substr(comma + 1));
      if (const auto on = name.rfind(" on "); on != std::string_view::npos) name = trim(name.substr(on + 4));
      if (!name.empty() && name.size() <= kMaxMachineName) {
        caption_->machine = std::string(name);
        return;
      }
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (!is_chip(word(i))) continue;
      auto last = i;
      while (is_form_factor(word(last + 1)) && last < i + 3) ++last;
      const auto end = words_[last].at + words_[last].text.size();
      caption_->machine = std::string(line_.substr(words_[i].at, end - words_[i].at));
      return;
    }
  }

  bool holds_peak(std::size_t open) const {
    const auto inside = lower(line_.substr(open));
    return inside.find("peak") != std::string::npos || inside.find("b/s") != std::string::npos;
  }

  std::string_view line_;
  std::vector<Word> words_;
  NumberLocale locale_;
  Caption* caption_;
};

// --- "key: value" lines ---

struct KeyValue {
  std::string key;
  std::string_view value;
};

std::optional<KeyValue> split_key(std::string_view line) {
  line = trim(line.substr(0, kMaxLine));
  while (line.starts_with('#') || line.starts_with('>') || line.starts_with("- ") || line.starts_with("* ") ||
         line.starts_with("//")) {
    line = trim(line.substr(1));
  }
  const auto mark = line.find_first_of(":=");
  if (mark == std::string_view::npos || mark == 0 || mark > 40) return std::nullopt;
  auto key = lower(plain_text(line.substr(0, mark)));
  auto value = trim(line.substr(mark + 1));
  if (key.starts_with("**")) {  // "**Machine:** H100"
    key = lower(trim(std::string_view(key).substr(2)));
    if (value.starts_with("**")) value = trim(value.substr(2));
  }
  return KeyValue{std::move(key), plain_text(value)};
}

bool set_evidence(const KeyValue& line, StatedEvidence& evidence, std::vector<LayoutWarning>& warnings,
                  std::uint64_t number) {
  const auto kind = parse_stated_evidence(line.value);
  if (!kind) {
    warnings.push_back({"bad-evidence", fmt::format("line {}: '{}' is no evidence that a table can state; expected "
                                                    "given or model",
                                                    number, excerpt(line.value))});
    return true;
  }
  const auto part = trim(std::string_view(line.key).substr(std::string_view("evidence").size()));
  if (part.empty() || part == "flops") evidence.flops = *kind;
  if (part.empty() || part == "bytes" || part == "dram") evidence.bytes = *kind;
  if (part.empty() || part == "time") evidence.time = *kind;
  return true;
}

class Keys {
 public:
  Keys(Caption& caption, NumberLocale locale, std::vector<LayoutWarning>& warnings)
      : caption_(&caption), locale_(locale), warnings_(&warnings) {}

  // False when the line is no "key: value" that we know.
  bool read(const FreeLine& line) {
    const auto pair = split_key(line.text);
    if (!pair) return false;
    const auto& key = pair->key;
    if (key == "machine" || key == "gpu" || key == "device" || key == "hardware" || key == "accelerator") {
      return set(caption_->machine, pair->value);
    }
    if (key == "precision" || key == "dtype" || key == "data type") return set(caption_->precision, pair->value);
    if (key == "source" || key == "sources") return set(caption_->source, pair->value);
    if (key == "values") return read_scope(line, pair->value);
    if (key == "evidence" || key.starts_with("evidence ")) {
      return set_evidence(*pair, caption_->evidence, *warnings_, line.line);
    }
    if (key == "bandwidth" || key.starts_with("peak") || key.starts_with("ridge")) {
      CaptionLine(line.text, locale_, *caption_).read();
      return true;
    }
    return key == "batch" || key == "batch size" ? read_batch(pair->value) : false;
  }

 private:
  static bool set(std::string& field, std::string_view value) {
    if (field.empty()) field = std::string(value);
    return true;
  }
  bool read_scope(const FreeLine& line, std::string_view value) {
    const auto text = lower(value);
    if (text == "per call" || text == "per launch" || text == "per-call" || text == "per-launch") {
      caption_->per_call = true;
    } else if (text == "total" || text == "totals" || text == "sums") {
      caption_->per_call = false;
    } else {
      warnings_->push_back({"bad-values", fmt::format("line {}: 'values: {}' is not understood; expected total or "
                                                      "per call",
                                                      line.line, excerpt(value))});
    }
    return true;
  }
  bool read_batch(std::string_view value) {
    if (const auto number = whole_number(value)) caption_->batch = number;
    return true;
  }

  Caption* caption_;
  NumberLocale locale_;
  std::vector<LayoutWarning>* warnings_;
};

}  // namespace

Caption read_caption(const std::vector<FreeLine>& lines, NumberLocale locale, std::vector<LayoutWarning>& warnings) {
  Caption caption;
  Keys keys(caption, locale, warnings);
  std::vector<const FreeLine*> others;
  for (const auto& line : lines) {
    if (!keys.read(line) && line.before_rows) others.push_back(&line);
  }
  const auto first = others.size() > kCaptionLines ? others.size() - kCaptionLines : 0;
  for (auto i = first; i < others.size(); ++i) CaptionLine(others[i]->text, locale, caption).read();
  return caption;
}

std::optional<StatedTotal> read_total(const FreeLine& line, NumberLocale locale) {
  const auto text = plain_text(line.text.substr(0, kMaxLine));
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || !lower(text.substr(0, colon)).starts_with("total")) {
    const auto start = lower(text.substr(0, colon == std::string_view::npos ? 0 : colon));
    if (!start.starts_with("sum") && !start.starts_with("step") && !start.starts_with("overall") &&
        !start.starts_with("grand total")) {
      return std::nullopt;
    }
  }
  StatedTotal total;
  total.line = line.line;
  auto rest = text.substr(colon + 1);
  while (!rest.empty()) {
    // Commas part the quantities; one between digits belongs to a number.
    std::size_t end = 0;
    while (end < rest.size() &&
           !(rest[end] == ';' || (rest[end] == ',' && (end + 1 >= rest.size() || rest[end + 1] == ' '))))
      ++end;
    const auto cell = read_cell(rest.substr(0, end), {}, locale);
    rest = end < rest.size() ? rest.substr(end + 1) : std::string_view{};
    if (cell.state != CellReading::State::value || !cell.printed.measure) continue;
    if (*cell.printed.measure == Measure::flops) total.flops = cell.printed;
    if (*cell.printed.measure == Measure::bytes) total.bytes = cell.printed;
    if (*cell.printed.measure == Measure::time) total.time = cell.printed;
  }
  if (!total.flops && !total.bytes && !total.time) return std::nullopt;
  return total;
}

std::optional<Evidence> parse_stated_evidence(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kGiven = {"given",     "typed",       "measured",
                                                             "published", "measurement", "timed"};
  static constexpr std::array<std::string_view, 6> kModel = {"model",    "modelled", "modeled",
                                                             "analytic", "computed", "estimated"};
  const auto word = lower(plain_text(text));
  if (std::find(kGiven.begin(), kGiven.end(), word) != kGiven.end()) return Evidence::given;
  if (std::find(kModel.begin(), kModel.end(), word) != kModel.end()) return Evidence::model;
  return std::nullopt;
}

std::optional<StatedPrecision> parse_stated_precision(std::string_view text) {
  auto key = lower(plain_text(text));
  if (key.size() > 40) return std::nullopt;
  std::replace(key.begin(), key.end(), ' ', '.');
  if (const auto exact = parse_precision(key)) return StatedPrecision{*exact, false};
  const auto dot = key.find('.');
  const auto type = find_type(std::string_view(key).substr(0, dot));
  if (!type) return std::nullopt;
  if (dot != std::string::npos) {
    const auto full = parse_precision(std::string(to_string(*type)) + key.substr(dot));
    return full ? std::optional(StatedPrecision{*full, false}) : std::nullopt;
  }
  StatedPrecision stated{{*type, Path::tensor, Accumulate::standard, false}, false};
  switch (*type) {
    case NumberType::fp64:
    case NumberType::fp32:
    case NumberType::int32:
      stated.precision.path = Path::vector;
      stated.assumed_path = *type == NumberType::fp64;
      break;
    case NumberType::fp16:
    case NumberType::bf16:
    case NumberType::int8:
      stated.assumed_path = true;
      break;
    default:
      break;
  }
  return stated;
}

std::optional<double> bytes_per_weight(std::string_view data_type) {
  const auto type = find_type(data_type);
  if (!type) return std::nullopt;
  switch (*type) {
    case NumberType::fp64:
      return 8;
    case NumberType::fp32:
    case NumberType::tf32:
    case NumberType::int32:
      return 4;
    case NumberType::fp16:
    case NumberType::bf16:
      return 2;
    case NumberType::fp8:
    case NumberType::int8:
      return 1;
    case NumberType::fp4:
    case NumberType::int4:
      return 0.5;
    default:
      return std::nullopt;
  }
}

}  // namespace roofline::table
