#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/quantization.json.h"
#include "roofline/error.h"
#include "roofline/model.h"

namespace roofline::model {
namespace {

using nlohmann::json;

Precision precision_at(const json& entry, const char* key, const char* fallback) {
  const auto text = entry.value(key, std::string(fallback));
  const auto precision = parse_precision(text);
  if (!precision) throw std::logic_error("quantization.json: precision " + text);
  return *precision;
}

ScaleLayout scale_at(const json& entry, const char* key) {
  ScaleLayout scale;
  const auto it = entry.find(key);
  if (it == entry.end()) return scale;
  scale.bytes = it->value("bytes", 0.0);
  scale.rows = it->value("rows", Count{1});
  scale.columns = it->value("columns", Count{0});
  scale.tensor_bytes = it->value("tensor_bytes", 0.0);
  scale.zero_bits = it->value("zero_bits", 0.0);
  return scale;
}

Scheme read_scheme(const json& entry) {
  Scheme scheme;
  scheme.name = entry.at("name");
  scheme.weight_bits = entry.value("weight_bits", 16.0);
  scheme.weight_scale = scale_at(entry, "weight_scale");
  scheme.activation_bits = entry.value("activation_bits", 16.0);
  scheme.activation_scale = scale_at(entry, "activation_scale");
  scheme.precision = precision_at(entry, "precision", "bf16.tensor");
  scheme.base = precision_at(entry, "base", "bf16.tensor");
  scheme.kv = entry.value("kv", std::string());
  scheme.source = entry.at("source");
  return scheme;
}

KvFormat read_kv_format(const json& entry) {
  KvFormat format;
  format.name = entry.at("name");
  format.bits = entry.at("bits");
  format.head_scale_bytes = entry.value("head_scale_bytes", 0.0);
  format.rope_bits = entry.at("rope_bits");
  format.latent_group = entry.value("latent_group", Count{0});
  format.latent_scale_bytes = entry.value("latent_scale_bytes", 0.0);
  format.latent_only = entry.value("latent_only", false);
  format.source = entry.at("source");
  return format;
}

struct Formats {
  std::vector<Scheme> schemes;
  std::vector<KvFormat> kv;
};

const Formats& formats() {
  static const Formats kFormats = [] {
    Formats result;
    const auto root = json::parse(data::quantization_json());
    for (const auto& entry : root.at("schemes")) result.schemes.push_back(read_scheme(entry));
    for (const auto& entry : root.at("kv_formats")) result.kv.push_back(read_kv_format(entry));
    return result;
  }();
  return kFormats;
}

template <typename T>
const T* find_named(const std::vector<T>& all, std::string_view name) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const T& x) { return x.name == name; });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

double ScaleLayout::bytes_of(double matrix_rows, double matrix_columns) const {
  const double row_tiles = rows == 0 ? 1 : std::ceil(matrix_rows / static_cast<double>(rows));
  const double column_tiles = columns == 0 ? 1 : std::ceil(matrix_columns / static_cast<double>(columns));
  return row_tiles * column_tiles * (bytes + zero_bits / 8) + tensor_bytes;
}

double Scheme::weight_bytes(double rows, double columns) const {
  return rows * columns * weight_bits / 8 + weight_scale.bytes_of(rows, columns);
}

double Scheme::activation_bytes(double tokens, double columns) const {
  return tokens * columns * activation_bits / 8 + activation_scale.bytes_of(tokens, columns);
}

const Scheme* find_scheme(std::string_view name) { return find_named(formats().schemes, name); }
const KvFormat* find_kv_format(std::string_view name) { return find_named(formats().kv, name); }
std::span<const Scheme> schemes() { return formats().schemes; }
std::span<const KvFormat> kv_formats() { return formats().kv; }

}  // namespace roofline::model
