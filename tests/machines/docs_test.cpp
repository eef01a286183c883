// docs/machines.md carries tables made from the data. To renew them: ROOFLINE_UPDATE_DOCS=1 on this test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "roofline/machines.h"

namespace roofline {
namespace {

constexpr std::string_view kBegin = "<!-- generated: begin -->\n";
constexpr std::string_view kEnd = "<!-- generated: end -->\n";

const MachineCatalogue& catalogue() { return MachineCatalogue::instance(); }

std::string number(std::optional<double> value, double unit) {
  return value ? fmt::format("{:.5g}", *value / unit) : std::string();
}

std::string dense(const Machine& machine, const char* key) {
  const auto peak = machine.ceiling(CeilingKind::datasheet)->peak(*parse_precision(key));
  return peak ? fmt::format("{:.5g}", peak->high / 1e12) : std::string();
}

std::string machine_line(const Machine& m) {
  const auto& facts = catalogue().facts(m);
  const auto* c = m.ceiling(CeilingKind::datasheet);
  const auto dram = c->bandwidth(MemoryLevel::dram, "dram");
  const auto ridge = ridge_point(*c, *parse_precision("bf16.tensor"));
  std::string clocks = number(facts.value("boost_clock"), 1e6);
  if (const auto tensor = facts.value("tensor_clock")) clocks += " / " + number(tensor, 1e6);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", m.id, m.name,
                     m.compute_capability, m.sm_count ? std::to_string(*m.sm_count) : "", clocks, number(dram, 1e9),
                     dense(m, "fp64.vector"), dense(m, "fp32.vector"), dense(m, "tf32.tensor"), dense(m, "fp16.tensor"),
                     dense(m, "bf16.tensor"), dense(m, "fp8.tensor"), dense(m, "int8.tensor"), dense(m, "fp4.tensor"),
                     ridge ? fmt::format("{:.3g}", *ridge) : "");
}

std::string machine_table() {
  std::string text =
      "| id | driver name | CC | SMs | MHz (tensor) | DRAM GB/s | FP64 | FP32 | TF32 TC | FP16 TC | BF16 TC | FP8 TC | "
      "INT8 TC | "
      "FP4 TC | BF16 ridge |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& m : catalogue().machines()) text += machine_line(m);
  return text;
}

std::string note_table() {
  std::string text = "| id | confidence | figure | note |\n|---|---|---|---|\n";
  for (const auto& m : catalogue().machines()) {
    const auto& facts = catalogue().facts(m);
    if (const auto note = facts.text("note"); !note.empty())
      text += fmt::format("| {} | {} |  | {} |\n", m.id, facts.text("confidence"), note);
    for (const auto& figure : facts.figures)
      if (!figure.note.empty())
        text += fmt::format("| {} | {} | {} | {} |\n", m.id, facts.text("confidence"), figure.key, figure.note);
  }
  return text;
}

std::string short_names() {
  std::string text = "| id | short names |\n|---|---|\n";
  for (const auto& m : catalogue().machines())
    if (const auto names = catalogue().facts(m).texts("short_name"); !names.empty())
      text += fmt::format("| {} | {} |\n", m.id, fmt::join(names, ", "));
  return text;
}

std::string rate_table() {
  std::string text =
      "| rates | CC | FP64 | FP64 TC | FP32 | TF32 TC | FP16 | FP16 TC | FP16 TC, FP16 acc. | FP8 TC | INT8 TC | "
      "sparsity | pipes that share silicon |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& chip : catalogue().chips()) {
    std::string groups;
    for (const auto& group : chip.pipe_groups) groups += fmt::format("{}", fmt::join(group, " + "));
    text += fmt::format("| {} | {} |", chip.id, chip.compute_capability);
    for (const auto* key : {"fp64.vector", "fp64.tensor", "fp32.vector", "tf32.tensor", "fp16.vector", "fp16.tensor",
                            "fp16.acc16.tensor", "fp8.tensor", "int8.tensor"}) {
      const auto rate = chip.rate(*parse_precision(key));
      text += rate ? fmt::format(" {:g} |", *rate) : std::string("  |");
    }
    text += fmt::format(" {} | {} |\n", chip.sparsity, groups);
  }
  return text;
}

std::string generated() {
  return fmt::format(
      "## Machines\n\nDense peaks in TFLOP/s (TOP/s for INT8); an empty cell is unknown or not supported. TC: tensor "
      "or "
      "matrix cores with the usual accumulator.\n\n{}\n## Short names\n\n{}\n## Operations per clock and SM\n\n{}\n"
      "## Notes and exceptions\n\n{}",
      machine_table(), short_names(), rate_table(), note_table());
}

TEST(Docs, MachineTablesAreUpToDate) {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/docs/machines.md";
  std::ifstream in(path);
  std::stringstream buffer;
  buffer << in.rdbuf();
  const auto text = buffer.str();
  const auto begin = text.find(kBegin);
  const auto end = text.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const auto first = begin + kBegin.size();
  if (std::getenv("ROOFLINE_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << text.substr(0, first) << generated() << text.substr(end);
    return;
  }
  EXPECT_TRUE(text.substr(first, end - first) == generated())
      << path << " is out of date: run this test once with ROOFLINE_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace roofline
