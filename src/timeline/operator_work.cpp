// What operators have to do, by the formulas that data/operators.csv gives them.
#include "roofline/operator_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "data/operators.csv.h"

namespace roofline {
namespace {

using Json = nlohmann::json;
using Sizes = std::vector<double>;  // of dimensions; doubles, so that products of hostile ones do not overflow

// --- the table ---

struct Entry {
  std::string formula;
  std::map<std::string, std::string, std::less<>> arguments;

  std::optional<std::size_t> index(std::string_view key) const {
    const auto it = arguments.find(key);
    if (it == arguments.end()) return std::nullopt;
    std::size_t value = 0;
    const auto& text = it->second;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc{} ? std::optional<std::size_t>(value) : std::nullopt;
  }
  std::string_view word(std::string_view key) const {
    const auto it = arguments.find(key);
    return it == arguments.end() ? std::string_view{} : std::string_view(it->second);
  }
};

std::string_view take(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const auto part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

using Table = std::unordered_map<std::string, Entry>;

Table read_table() {
  Table table;
  std::string_view text = data::operators_csv();
  take(text, '\n');
  while (!text.empty()) {
    auto line = take(text, '\n');
    if (line.empty()) continue;
    const std::string name(take(line, ','));
    Entry entry;
    entry.formula = take(line, ',');
    auto arguments = take(line, ',');
    while (!arguments.empty()) {
      auto pair = take(arguments, ' ');
      const std::string key(take(pair, '='));
      entry.arguments.emplace(key, pair);
    }
    if (!table.emplace(name, std::move(entry)).second)
      throw std::logic_error(fmt::format("operators.csv: \"{}\" stands twice", name));
  }
  return table;
}

const Entry* find_entry(std::string_view name) {
  static const Table table = read_table();
  const auto it = table.find(std::string(name));
  return it == table.end() ? nullptr : &it->second;
}

// --- arguments ---

enum class Kind : std::uint8_t { boolean, integer, floating };

struct ElementType {
  double bytes = 0;
  Kind kind = Kind::floating;
  NumberType number = NumberType::unknown;
};

struct NamedType {
  std::string_view name;
  ElementType type;
};
constexpr NamedType kTypes[] = {
    {"c10::BFloat16", {2, Kind::floating, NumberType::bf16}},
    {"c10::Half", {2, Kind::floating, NumberType::fp16}},
    {"float", {4, Kind::floating, NumberType::fp32}},
    {"double", {8, Kind::floating, NumberType::fp64}},
    {"c10::Float8_e4m3fn", {1, Kind::floating, NumberType::fp8}},
    {"c10::Float8_e5m2", {1, Kind::floating, NumberType::fp8}},
    {"c10::Float8_e4m3fnuz", {1, Kind::floating, NumberType::fp8}},
    {"c10::Float8_e5m2fnuz", {1, Kind::floating, NumberType::fp8}},
    {"bool", {1, Kind::boolean, NumberType::int8}},
    {"signed char", {1, Kind::integer, NumberType::int8}},
    {"unsigned char", {1, Kind::integer, NumberType::int8}},
    {"short", {2, Kind::integer, NumberType::int32}},
    {"int", {4, Kind::integer, NumberType::int32}},
    {"long", {8, Kind::integer, NumberType::int32}},
    {"long int", {8, Kind::integer, NumberType::int32}},
};

std::optional<ElementType> element_type(std::string_view name) {
  for (const auto& entry : kTypes)
    if (entry.name == name) return entry.type;
  return std::nullopt;
}

struct Tensor {
  Sizes sizes;
  ElementType type;

  double elements() const { return std::accumulate(sizes.begin(), sizes.end(), 1.0, std::multiplies<>()); }
  double bytes() const { return elements() * type.bytes; }
};

// The arguments of one call.
class Arguments {
 public:
  Arguments(std::string_view shapes, std::string_view types, std::string_view values)
      : shapes_(parse(shapes)), types_(parse(types)), values_(parse(values)) {}

  std::size_t size() const { return shapes_.is_array() ? shapes_.size() : 0; }

  // nullopt where the argument is no tensor, or its shape or type is not known.
  std::optional<Tensor> tensor(std::optional<std::size_t> index) const {
    if (!index || !shapes_.is_array() || *index >= shapes_.size() || !types_.is_array() || *index >= types_.size())
      return std::nullopt;
    if (!types_[*index].is_string()) return std::nullopt;
    const auto type = element_type(types_[*index].get_ref<const std::string&>());
    auto sizes = as_sizes(shapes_[*index]);
    if (!type || !sizes) return std::nullopt;
    return Tensor{std::move(*sizes), *type};
  }

  // A list of numbers among the values: "[1, 1]"; empty for none.
  std::vector<double> list(std::optional<std::size_t> index) const {
    const auto json = parse(text(index));
    if (json.is_number()) return {json.get<double>()};
    return as_sizes(json, true).value_or(Sizes{});
  }
  // "True", "1"; nullopt where the trace does not say.
  std::optional<bool> flag(std::optional<std::size_t> index) const {
    const auto value = text(index);
    if (value == "True" || value == "true" || value == "1") return true;
    if (value == "False" || value == "false" || value == "0") return false;
    return std::nullopt;
  }
  std::string text(std::optional<std::size_t> index) const {
    if (!index || !values_.is_array() || *index >= values_.size() || !values_[*index].is_string()) return {};
    return values_[*index].get<std::string>();
  }

 private:
  static Json parse(std::string_view text) { return Json::parse(text, nullptr, false); }

  static std::optional<Sizes> as_sizes(const Json& json, bool may_be_negative = false) {
    if (!json.is_array()) return std::nullopt;
    Sizes sizes;
    for (const auto& size : json) {
      if (!size.is_number()) return std::nullopt;
      const double value = size.get<double>();
      if (!std::isfinite(value) || (value < 0 && !may_be_negative)) return std::nullopt;
      sizes.push_back(value);
    }
    return sizes;
  }

  Json shapes_, types_, values_;
};

// --- shapes ---

std::string shape_text(const Sizes& sizes) {
  std::string text;
  for (const double size : sizes) text += fmt::format("{}{:.0f}", text.empty() ? "" : "x", size);
  return text.empty() ? "scalar" : text;
}

// The common shape of arguments of different sizes, by the rule that a size of 1 stretches. nullopt where none is.
std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const double y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

double product(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), 1.0, std::multiplies<>()); }

// --- precisions ---

Precision vector_precision(NumberType type) {
  // Arithmetic on 16 and fewer bits is done in FP32 unless kernels are written for packed halves.
  return {type == NumberType::fp64 ? NumberType::fp64 : NumberType::fp32, Path::vector, Accumulate::standard, false};
}

// Of a matrix product. FP32 and FP64 products run on vector units unless the kernel's name says otherwise.
Precision matrix_precision(NumberType type) {
  const bool on_vectors = type == NumberType::fp32 || type == NumberType::fp64 || type == NumberType::int32;
  return {type, on_vectors ? Path::vector : Path::tensor, Accumulate::standard, false};
}

// --- formulas ---

using Result = std::optional<OperatorWork>;

// C[.., M, N] = A[.., M, K] B[.., K, N]; a vector is a matrix with one row or column.
struct Product {
  double batch = 1, m = 0, n = 0, k = 0;
};

std::optional<Product> matrix_product(Sizes a, Sizes b, bool transposed_b) {
  if (a.empty() || b.empty()) return std::nullopt;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) transposed_b ? static_cast<void>(b.insert(b.begin(), 1)) : b.push_back(1);
  if (transposed_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
  Product p;
  p.m = a[a.size() - 2];
  p.k = a.back();
  p.n = b.back();
  if (b[b.size() - 2] != p.k) return std::nullopt;
  const auto batch = broadcast(Sizes(a.begin(), a.end() - 2), Sizes(b.begin(), b.end() - 2));
  if (!batch) return std::nullopt;
  p.batch = product(*batch);
  return p;
}

Result matmul(const Entry& entry, const Arguments& arguments, bool transposed_b) {
  const auto a = arguments.tensor(entry.index("a"));
  const auto b = arguments.tensor(entry.index("b"));
  if (!a || !b) return std::nullopt;
  const auto p = matrix_product(a->sizes, b->sizes, transposed_b);
  if (!p) return std::nullopt;
  const double results = p->batch * p->m * p->n;
  OperatorWork work;
  work.parts.push_back({matrix_precision(a->type.number), 2 * results * p->k});
  double result_bytes = a->type.bytes;
  if (entry.word("out") == "bf16") {
    result_bytes = 2;
    work.note = "result taken to be of 16 bits";
  }
  if (entry.word("out") == "int") result_bytes = 4;
  work.bytes = a->bytes() + b->bytes() + results * result_bytes;
  if (const auto bias = arguments.tensor(entry.index("bias")); bias && !bias->sizes.empty()) {
    work.parts.push_back({vector_precision(a->type.number), results});
    work.bytes += bias->bytes();
  }
  work.shape = shape_text(a->sizes) + " . " + shape_text(b->sizes);
  return work;
}

// Q [B, H, Sq, D], K and V [B, Hkv, Skv, D]; `heads=2` says that the heads stand behind the sequence.
Result attention(const Entry& entry, const Arguments& arguments) {
  const auto q = arguments.tensor(entry.index("q"));
  const auto k = arguments.tensor(entry.index("k"));
  const auto v = arguments.tensor(entry.index("v"));
  if (!q || !k || !v || q->sizes.size() != 4 || k->sizes.size() != 4 || v->sizes.size() != 4) return std::nullopt;
  const std::size_t heads = entry.index("heads").value_or(1);
  const std::size_t sequence = heads == 1 ? 2 : 1;
  if (heads > 2 || q->sizes[3] != k->sizes[3]) return std::nullopt;
  const double scores = q->sizes[0] * q->sizes[heads] * q->sizes[sequence] * k->sizes[sequence];
  const auto causal = arguments.flag(entry.index("causal"));
  OperatorWork work;
  double flops = 2 * scores * (q->sizes[3] + v->sizes[3]);
  if (causal.value_or(false) && q->sizes[sequence] == k->sizes[sequence]) {
    flops /= 2;
    work.note = "causal: half of the products";
  } else if (causal.value_or(false)) {
    // Masks of other shapes start at the first or at the last key: engines differ, and traces do not say.
    work.note = "causal over keys of another length: all products counted";
  } else if (!causal) {
    work.note = "the trace does not say whether it is causal: all products counted";
  }
  work.parts.push_back({matrix_precision(q->type.number), flops});
  const double result = q->elements() / q->sizes[3] * v->sizes[3];
  work.bytes = q->bytes() + k->bytes() + v->bytes() + (q->sizes[3] > 0 ? result * q->type.bytes : 0);
  work.shape =
      fmt::format("q {} k {}{}", shape_text(q->sizes), shape_text(k->sizes), causal.value_or(false) ? " causal" : "");
  return work;
}

double entry_or(const std::vector<double>& list, std::size_t i, double otherwise) {
  if (list.empty()) return otherwise;
  return i < list.size() ? list[i] : list.back();
}

// X [N, C, spatial...], W [O, C / groups, kernel...]
Result convolution(const Entry& entry, const Arguments& arguments) {
  const auto x = arguments.tensor(entry.index("x"));
  const auto w = arguments.tensor(entry.index("w"));
  if (!x || !w || x->sizes.size() < 3 || x->sizes.size() != w->sizes.size()) return std::nullopt;
  if (arguments.flag(entry.index("transposed")).value_or(false)) return std::nullopt;
  const auto stride = arguments.list(entry.index("stride"));
  const auto padding = arguments.list(entry.index("padding"));
  const auto dilation = arguments.list(entry.index("dilation"));
  if (stride.empty() || padding.empty()) return std::nullopt;  // without them the size of the result is a guess
  double positions = 1, window = 1;
  for (std::size_t i = 2; i < x->sizes.size(); ++i) {
    const double step = entry_or(stride, i - 2, 1);
    if (!(step > 0)) return std::nullopt;
    const double reach = entry_or(dilation, i - 2, 1) * (w->sizes[i] - 1) + 1;
    positions *= std::max(0.0, std::floor((x->sizes[i] + 2 * entry_or(padding, i - 2, 0) - reach) / step) + 1);
    window *= w->sizes[i];
  }
  const double results = x->sizes[0] * w->sizes[0] * positions;
  OperatorWork work;
  work.parts.push_back({matrix_precision(x->type.number), 2 * results * w->sizes[1] * window});
  work.bytes = x->bytes() + w->bytes() + results * x->type.bytes;
  if (const auto bias = arguments.tensor(entry.index("bias")); bias && !bias->sizes.empty()) {
    work.parts.push_back({vector_precision(x->type.number), results});
    work.bytes += bias->bytes();
  }
  work.shape = shape_text(x->sizes) + " * " + shape_text(w->sizes);
  return work;
}

// The type of a result: the widest of the highest kind; a scalar tensor only lifts the kind.
ElementType promoted(const std::vector<Tensor>& tensors) {
  const auto rank = [](const Tensor& t) { return std::tuple(t.type.kind, !t.sizes.empty(), t.type.bytes); };
  return std::max_element(tensors.begin(), tensors.end(),
                          [&](const auto& a, const auto& b) { return rank(a) < rank(b); })
      ->type;
}

// Every tensor argument is read once, the result written once.
Result pointwise(const Entry& entry, const Arguments& arguments) {
  std::vector<Tensor> tensors;
  Sizes shape;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (auto tensor = arguments.tensor(i)) {
      const auto common = broadcast(shape, tensor->sizes);
      if (!common) return std::nullopt;
      shape = *common;
      tensors.push_back(std::move(*tensor));
    }
  if (tensors.empty() || shape.empty()) return std::nullopt;
  ElementType type = promoted(tensors);
  if (const auto like = arguments.tensor(entry.index("like"))) type = like->type;
  if (entry.word("out") == "bool") type = {1, Kind::boolean, NumberType::int8};
  OperatorWork work;
  for (const auto& tensor : tensors) work.bytes += tensor.bytes();
  const double results = product(shape);
  work.bytes += results * type.bytes;
  if (entry.word("flops") == "1" && type.kind == Kind::floating) {
    work.parts.push_back({vector_precision(type.number), results});
    work.lower_bound = entry.word("more") == "yes";
  }
  work.shape = shape_text(shape);
  return work;
}

Result copy(const Entry& entry, const Arguments& arguments) {
  const auto to = arguments.tensor(entry.index("to"));
  const auto from = arguments.tensor(entry.index("from"));
  if (!to || !from) return std::nullopt;
  OperatorWork work;
  work.bytes = to->bytes() + from->bytes();
  work.shape = shape_text(to->sizes);
  return work;
}

Result fill(const Entry& entry, const Arguments& arguments) {
  const auto to = arguments.tensor(entry.index("to"));
  if (!to) return std::nullopt;
  OperatorWork work;
  work.bytes = to->bytes();
  work.shape = shape_text(to->sizes);
  return work;
}

// Sums over some dimensions, all where none are named.
Result reduction(const Entry& entry, const Arguments& arguments) {
  const auto x = arguments.tensor(entry.index("x"));
  if (!x) return std::nullopt;
  double results = 1;
  const auto dims = arguments.list(entry.index("dims"));
  if (!dims.empty()) {
    results = x->elements();
    for (const double dim : dims) {
      const double at = dim < 0 ? dim + static_cast<double>(x->sizes.size()) : dim;
      if (at < 0 || at >= static_cast<double>(x->sizes.size())) return std::nullopt;
      const double size = x->sizes[static_cast<std::size_t>(at)];
      results = size > 0 ? results / size : 0;
    }
  }
  OperatorWork work;
  work.bytes = x->bytes() + results * x->type.bytes;
  if (x->type.kind == Kind::floating) {
    work.parts.push_back({vector_precision(x->type.number), x->elements()});
    work.lower_bound = true;
  }
  work.shape = shape_text(x->sizes);
  return work;
}

// Softmax and norms: read once, written once, though a long row may be read twice. FLOPs are not told.
Result rowwise(const Entry& entry, const Arguments& arguments) {
  const auto x = arguments.tensor(entry.index("x"));
  if (!x) return std::nullopt;
  OperatorWork work;
  work.bytes = 2 * x->bytes();
  for (const char* key : {"weight", "bias"})
    if (const auto extra = arguments.tensor(entry.index(key))) work.bytes += extra->bytes();
  work.lower_bound = true;
  work.shape = shape_text(x->sizes);
  return work;
}

// Rows of a table by index: each is read and written once, whether or not two are the same.
Result gather(const Entry& entry, const Arguments& arguments) {
  const auto table = arguments.tensor(entry.index("table"));
  const auto index = arguments.tensor(entry.index("index"));
  if (!table || !index || table->sizes.empty()) return std::nullopt;
  const auto dim = arguments.text(entry.index("dim"));
  if (!dim.empty() && dim != "0") return std::nullopt;
  const double row = product(Sizes(table->sizes.begin() + 1, table->sizes.end())) * table->type.bytes;
  OperatorWork work;
  work.bytes = index->bytes() + 2 * index->elements() * row;
  work.shape = shape_text(index->sizes) + " of " + shape_text(table->sizes);
  return work;
}

Result apply(const Entry& entry, const Arguments& arguments) {
  if (entry.formula == "matmul") return matmul(entry, arguments, false);
  if (entry.formula == "linear") return matmul(entry, arguments, true);
  if (entry.formula == "attention") return attention(entry, arguments);
  if (entry.formula == "convolution") return convolution(entry, arguments);
  if (entry.formula == "pointwise") return pointwise(entry, arguments);
  if (entry.formula == "copy") return copy(entry, arguments);
  if (entry.formula == "fill") return fill(entry, arguments);
  if (entry.formula == "reduction") return reduction(entry, arguments);
  if (entry.formula == "rowwise") return rowwise(entry, arguments);
  if (entry.formula == "gather") return gather(entry, arguments);
  throw std::logic_error("operators.csv: unknown formula \"" + entry.formula + "\"");
}

}  // namespace

double OperatorWork::flops() const {
  double sum = 0;
  for (const auto& part : parts)
    if (!is_integer(part.precision.type)) sum += part.flops;
  return sum;
}

std::optional<OperatorWork> operator_work(std::string_view name, std::string_view shapes, std::string_view types,
                                          std::string_view values) {
  const auto* entry = find_entry(name);
  if (entry == nullptr || shapes.empty() || types.empty()) return std::nullopt;
  auto work = apply(*entry, Arguments(shapes, types, values));
  if (!work || !std::isfinite(work->bytes) || !std::isfinite(work->flops())) return std::nullopt;
  work->formula = entry->formula;
  return work;
}

}  // namespace roofline
