// What stands around a typed table: its caption, "key: value" lines and a sentence with the totals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/table_cell.h"
#include "profile/table_layout.h"
#include "roofline/quantity.h"

namespace roofline::table {

// Evidence that the table itself names; absent where it does not.
struct StatedEvidence {
  Evidence flops = Evidence::absent;
  Evidence bytes = Evidence::absent;
  Evidence time = Evidence::absent;
};

struct Peak {
  Printed flops_per_s;
  std::optional<Precision> precision;
};

struct Caption {
  std::string machine;
  std::string source;
  std::string precision;               // as typed after "precision:"
  std::string data_type;               // named in the caption: "bf16"
  std::optional<double> weight_bytes;  // per weight, where the caption says so apart from the data type (W4A16)
  std::vector<Peak> peaks;
  std::optional<Printed> bandwidth;  // bytes/s
  std::optional<Printed> ridge;      // FLOP/byte
  std::optional<double> batch;
  std::optional<double> parameters;  // of the model, dense ones only
  bool decode = false;
  bool parallel = false;         // spread over several devices: rows hold a share of the model
  std::optional<bool> per_call;  // "values: per call" or "values: total"
  StatedEvidence evidence;
};
Caption read_caption(const std::vector<FreeLine>& lines, NumberLocale locale, std::vector<LayoutWarning>& warnings);

// "15.2 GFLOP, 8.0 GB, 2.4 ms" of a line that starts with "Total".
struct StatedTotal {
  std::uint64_t line = 0;
  std::optional<Printed> flops;
  std::optional<Printed> bytes;
  std::optional<Printed> time;
};
std::optional<StatedTotal> read_total(const FreeLine& line, NumberLocale locale);

// "given", "model", "modelled", "measured", ... nullopt for anything else.
std::optional<Evidence> parse_stated_evidence(std::string_view text);
// "bf16.tensor", "bf16", "FP8 tensor", "half"; `assumed_path` is set where the text does not name the path and the
// type has more than one.
struct StatedPrecision {
  Precision precision;
  bool assumed_path = false;
};
std::optional<StatedPrecision> parse_stated_precision(std::string_view text);
// Bytes of one weight in a type named like "bf16".
std::optional<double> bytes_per_weight(std::string_view data_type);

}  // namespace roofline::table
