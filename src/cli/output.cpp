#include "cli/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/choices.h"
#include "cli/terminal.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

using Json = nlohmann::ordered_json;

Json value_of(const Cell& cell, const Column& column) {
  if (cell.number) return std::isfinite(*cell.number) ? Json(*cell.number) : Json(nullptr);
  if (column.align == Align::left && !cell.text.empty()) return cell.text;
  return nullptr;
}

Json json_of(const Table& table) {
  Json columns = Json::array();
  for (const auto& column : table.columns) columns.push_back(column.key);
  Json rows = Json::array();
  for (const auto& cells : table.rows) {
    Json row = Json::array();
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      row.push_back(i < cells.size() ? value_of(cells[i], table.columns[i]) : Json(nullptr));
    rows.push_back(std::move(row));
  }
  return {{"title", table.title}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

}  // namespace

std::string tables_json(const Document& document) {
  Json notes = Json::array();
  Json tables = Json::array();
  for (const auto& block : document.blocks) {
    if (const auto* table = std::get_if<Table>(&block)) tables.push_back(json_of(*table));
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) notes.push_back(paragraph->text);
    if (const auto* bullets = std::get_if<Bullets>(&block))
      for (const auto& item : bullets->items) notes.push_back(item.text);
  }
  const Json out = {{"schema", "roofline/tables/1"},
                    {"title", document.title},
                    {"notes", std::move(notes)},
                    {"tables", std::move(tables)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

const std::map<std::string, Output::Format>& Output::formats() {
  static const std::map<std::string, Format> kFormats = {
      {"table", Format::table}, {"markdown", Format::markdown}, {"md", Format::markdown}, {"csv", Format::csv},
      {"json", Format::json},   {"chart", Format::chart},       {"svg", Format::svg},     {"png", Format::png},
      {"pdf", Format::pdf},     {"html", Format::html}};
  return kFormats;
}

void Output::setup(CLI::App& command) {
  auto* group = command.add_option_group("Output");
  group->add_option("--format", format_, "table, markdown, csv, json, chart (in the terminal), svg, png, pdf or html")
      ->transform(one_of(formats()))
      ->type_name("FORMAT");
  group->add_flag("--json", json_, "Same as --format json");
  group->add_option("-o,--output", output_,
                    "Write to a file; its extension picks the format (.md .csv .json .txt .svg .png .pdf .html)");
  group->add_option("--width", width_, "Columns of the table (0: the terminal's)")->check(at_most(kMostColumns));
}

Output::Format Output::format() const {
  if (json_) return Format::json;
  if (format_ != Format::automatic) return format_;
  if (output_.empty()) return Format::table;
  const auto extension = std::filesystem::path(output_).extension().string();
  if (extension == ".txt") return Format::table;
  const auto it = formats().find(extension.empty() ? extension : extension.substr(1));
  if (it != formats().end() && it->second != Format::chart) return it->second;
  throw UsageError(fmt::format("cannot tell the format of '{}' by its extension; add --format", output_));
}

std::string Output::picture(Format format, const Forms& forms) const {
  if (forms.svg && format == Format::svg) return forms.svg(SvgTheme::automatic);
  if (forms.svg && format == Format::png) return svg_to_png(forms.svg(SvgTheme::light));
  if (forms.svg && format == Format::pdf) return svg_to_pdf(forms.svg(SvgTheme::light), "roofline");
  if (forms.terminal && format == Format::chart) return forms.terminal(style());
  if (!forms.chart && forms.svg) throw UsageError("no chart for the terminal is drawn of this; choose svg, png or pdf");
  if (!forms.chart) throw UsageError("no chart is drawn of this; choose table, markdown, csv, json or html");
  const auto chart = forms.chart();
  if (format == Format::svg) return to_svg(chart);
  if (format == Format::png) return to_png(chart);
  if (format == Format::pdf) return to_pdf(chart);
  return to_terminal(chart, style());
}

TerminalStyle Output::style() const {
  auto style = detect_style(width_);
  if (!output_.empty()) style.color = false;
  return style;
}

void Output::print(const Document& document, const Forms& forms) const {
  const auto chosen = format();
  switch (chosen) {
    case Format::json:
      return write(forms.json ? forms.json() : tables_json(document));
    case Format::markdown:
      return write(to_markdown(document));
    case Format::csv:
      return write(to_csv(document));
    case Format::chart:
    case Format::svg:
      return write(picture(chosen, forms));
    case Format::png:
    case Format::pdf:
      return write(picture(chosen, forms), true);
    case Format::html:
      return write(forms.html ? forms.html() : to_html(document));
    case Format::automatic:
    case Format::table:
      break;
  }
  auto text = to_terminal(document, style());
  if (forms.chart_above) text = picture(Format::chart, forms) + '\n' + text;
  if (forms.chart_below) text += '\n' + picture(Format::chart, forms);
  write(std::move(text));
}

void Output::write(std::string text, bool binary) const { write_output(std::move(text), output_, binary); }

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

namespace {

bool is_option_group(const CLI::App* app) { return app->get_name().empty(); }

// What a command's arguments were given, those of its option groups too: of -o, and of all others.
void add_arguments(const CLI::App& app, std::vector<std::string>& outputs, std::vector<std::string>& others) {
  for (const auto* option : app.get_options()) {
    auto& texts = option->check_lname("output") ? outputs : others;
    for (const auto& text : option->results()) texts.push_back(text);
  }
  for (const auto* group : app.get_subcommands(is_option_group)) add_arguments(*group, outputs, others);
}

}  // namespace

void protect_inputs(const CLI::App& app) {
  std::vector<std::string> outputs;
  std::vector<std::string> inputs;
  add_arguments(app, outputs, inputs);
  for (const auto& output : outputs) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(output, error)) continue;
    for (const auto& input : inputs)
      if (same_file(input, output))
        throw UsageError(fmt::format("-o {}: this would overwrite the input '{}'; write elsewhere", output, input));
  }
  for (const auto* command : app.get_subcommands()) protect_inputs(*command);
}

void write_output(std::string text, const std::string& path, bool binary) {
  if (!binary && !text.ends_with('\n')) text += '\n';
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw UsageError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    return;
  }
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw UsageError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

}  // namespace roofline::cli
