// One machine from key-value lines: the ground for the compiled-in catalogue and for files that users write.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "roofline/machines.h"

namespace roofline::machines {

// What a line says, before it is understood.
struct RawFigure {
  std::string key, text, unit, source, note;
  std::uint64_t line = 0;
};

// Whether a key's value is a text, not a figure; false for an unknown key.
bool is_text_key(std::string_view key);

// Checks key, unit and value. Throws InputError.
Figure read_figure(const RawFigure& raw, const std::string& label);

// Puts a machine's ceilings together from its figures. `rates` may be null. Throws InputError.
Machine build_machine(std::string id, const MachineFacts& facts, const ChipRates* rates, const std::string& label);

// data/chips.csv. Throws InputError.
std::vector<ChipRates> read_chips(std::string_view text, const std::string& label);

// "2:4" is 2, "4:16" is 4. nullopt for anything else than two positive whole numbers, the first below the second.
std::optional<double> sparsity_factor(std::string_view pattern);

}  // namespace roofline::machines
