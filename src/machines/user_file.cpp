#include "machines/user_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/printable.h"
#include "core/toml_depth.h"
#include "machines/entry.h"
#include "machines/table.h"

#ifdef ROOFLINE_TOML
#include <toml++/toml.h>
#endif

namespace roofline::machines {
namespace {

constexpr std::string_view kOrigin = "user file ";

bool may_repeat(std::string_view key) { return key == "alias" || key == "short_name"; }

#ifdef ROOFLINE_TOML

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // a machine has a few hundred lines
constexpr std::size_t kLongestId = 64;

// In messages.
std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 80;
  return roofline::printable(text, kMost);
}

std::uint64_t line_of(const toml::node& node) { return node.source().begin.line; }

// "3352 GB/s" is a number and a unit; what does not look so is left whole, for the check of the number to refuse.
void split_unit(std::string_view text, RawFigure& raw) {
  text = trim(text);
  auto space = text.find_last_of(" \t");
  if (space == std::string_view::npos) {
    double number = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    space = parsed.ec == std::errc{} ? static_cast<std::size_t>(parsed.ptr - text.data()) : text.size();
  }
  raw.text = trim(text.substr(0, space));
  raw.unit = trim(text.substr(space));
}

bool is_id(std::string_view id) {
  const auto ok = [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return std::islower(u) != 0 || std::isdigit(u) != 0 || c == '-' || c == '.' || c == '_';
  };
  return !id.empty() && id.size() <= kLongestId && std::isalnum(static_cast<unsigned char>(id.front())) != 0 &&
         std::all_of(id.begin(), id.end(), ok);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) { machine_.facts.origin = std::string(kOrigin) + path; }

  UserMachine read(std::string_view text) {
    if (text.size() > kMostBytes)
      fail(path_, 0, "bad-toml", fmt::format("{} bytes", text.size()), "a machine's file of under 1 MiB",
           "check that this is the file you mean");
    if (const auto line = too_deep_toml_line(text))
      fail(path_, *line, "bad-toml", "a key of hundreds of parts", "dram = \"3352 GB/s\"", "correct the line");
    walk(parse(text), "");
    if (machine_.id.empty()) fail(path_, 1, "missing-key", "no id", "a line such as id = \"my-gpu\"", "add it");
    auto& figures = machine_.facts.figures;
    std::stable_sort(figures.begin(), figures.end(), [](const Figure& a, const Figure& b) { return a.line < b.line; });
    const auto& facts = machine_.facts;
    const bool roofs = std::any_of(figures.begin(), figures.end(), [](const Figure& f) {
      return f.key == "dram" || f.key == "rates" || parse_precision(f.key).has_value() ||
             (f.key.ends_with("_measured") && f.value.has_value());
    });
    if (facts.figures.empty() || !roofs)
      fail(path_, 1, "missing-key", "neither dram nor a peak", "at least one roof, such as dram = \"3352 GB/s\"",
           "add what the datasheet states");
    return std::move(machine_);
  }

 private:
  toml::table parse(std::string_view text) const {
    try {
      return toml::parse(text, path_);
    } catch (const toml::parse_error& error) {
      fail(path_, error.source().begin.line, "bad-toml", printable(error.description()),
           "TOML, as in dram = \"3352 GB/s\"", "correct the line; a precision is one key, in quotes: \"bf16.tensor\"");
    }
  }

  void walk(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table) {
      const auto key = prefix.empty() ? std::string(name.str()) : fmt::format("{}.{}", prefix, name.str());
      const auto* inner = node.as_table();
      if (inner == nullptr)
        add(key, node);
      else if (inner->contains("value"))
        add_figure(key, *inner);
      else if (!inner->empty())
        walk(*inner, key);
      else
        fail(path_, line_of(node), "unknown-key", "an empty table '" + printable(key) + "'", "key = value",
             "see docs/machines.md for all keys");
    }
  }

  void add(const std::string& key, const toml::node& node) {
    if (key == "id") return set_id(node);
    const auto* list = node.as_array();
    if (list == nullptr) return keep(raw_figure(key, node), {});
    if (!may_repeat(key) || list->empty())
      fail(path_, line_of(node), "bad-value", printable(key) + " is a list",
           "one value; lists are for alias and short_name", "state one value");
    for (const auto& item : *list) keep(raw_figure(key, item), {});
  }

  void set_id(const toml::node& node) {
    machine_.id = text_of("id", node);
    if (!is_id(machine_.id))
      fail(path_, line_of(node), "bad-value", fmt::format("id = '{}'", printable(machine_.id)),
           "small letters, digits, '-', '.' and '_', at most 64", "correct it");
  }

  std::string text_of(const std::string& key, const toml::node& node) const {
    const auto text = node.value_exact<std::string>();
    if (!text)
      fail(path_, line_of(node), "bad-value", printable(key) + " is no text", "a text in quotes", "put it in quotes");
    return *text;
  }

  RawFigure raw_figure(const std::string& key, const toml::node& node) const {
    RawFigure raw;
    raw.key = printable(key);
    raw.line = line_of(node);
    if (is_text_key(key)) {
      raw.text = text_of(key, node);
    } else if (const auto text = node.value_exact<std::string>()) {
      split_unit(printable(*text), raw);
    } else if (const auto whole = node.value_exact<std::int64_t>()) {
      raw.text = fmt::to_string(*whole);
    } else if (const auto number = node.value_exact<double>()) {
      raw.text = fmt::to_string(*number);
    } else {
      fail(path_, raw.line, "bad-value", raw.key + " is neither number nor text", "a number with its unit",
           "write it as in \"3352 GB/s\"");
    }
    return raw;
  }

  void add_figure(const std::string& key, const toml::table& table) {
    auto raw = raw_figure(key, *table.get("value"));
    std::vector<std::string> sources;
    for (const auto& [name, node] : table) {
      const auto part = std::string(name.str());
      const auto full = fmt::format("{}.{}", key, part);
      if (part == "unit") {
        if (!raw.unit.empty())
          fail(path_, line_of(node), "bad-value", printable(key) + " has two units", "one", "keep one of them");
        raw.unit = printable(text_of(full, node));
      } else if (part == "note") {
        raw.note = text_of(full, node);
      } else if (part == "source") {
        sources = sources_of(full, node);
      } else if (part != "value") {
        fail(path_, line_of(node), "unknown-key", "key '" + printable(full) + "'", "value, unit, source or note",
             "correct it");
      }
    }
    keep(std::move(raw), std::move(sources));
  }

  std::vector<std::string> sources_of(const std::string& key, const toml::node& node) const {
    const auto* list = node.as_array();
    if (list == nullptr) return {text_of(key, node)};
    std::vector<std::string> sources;
    for (const auto& item : *list) sources.push_back(text_of(key, item));
    return sources;
  }

  void keep(RawFigure raw, std::vector<std::string> sources) {
    auto figure = read_figure(raw, path_);
    figure.sources = std::move(sources);
    machine_.facts.figures.push_back(std::move(figure));
  }

  const std::string& path_;
  UserMachine machine_;
};

#endif

// ---------------------------------------------------------------- writing

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (std::iscntrl(static_cast<unsigned char>(c)) != 0)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string key_text(std::string_view key) {
  return key.find('.') == std::string_view::npos ? std::string(key) : quoted(key);
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  parts.reserve(texts.size());
  for (const auto& t : texts) parts.push_back(quoted(t));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string value_text(const Figure& figure) {
  if (is_text_key(figure.key)) return quoted(figure.text);
  return figure.unit.empty() ? figure.text : quoted(figure.text + " " + figure.unit);
}

std::string figure_line(const Figure& figure) {
  auto value = value_text(figure);
  if (figure.sources.empty() && figure.note.empty()) return fmt::format("{} = {}\n", key_text(figure.key), value);
  if (!figure.sources.empty()) value += ", source = " + quoted_list(figure.sources);
  if (!figure.note.empty()) value += ", note = " + quoted(figure.note);
  return fmt::format("{} = {{ value = {} }}\n", key_text(figure.key), value);
}

}  // namespace

std::string path_of(const MachineFacts& facts) {
  return facts.origin.starts_with(kOrigin) ? facts.origin.substr(kOrigin.size()) : facts.origin;
}

UserMachine read_user_file(std::string_view toml, const std::string& path) {
#ifdef ROOFLINE_TOML
  return Reader(path).read(toml);
#else
  static_cast<void>(toml);
  fail(path, 0, "not-built", "a machine's file, but this program was built without toml++", "a build with it",
       "install toml++ (libtomlplusplus-dev) and build again");
#endif
}

}  // namespace roofline::machines

namespace roofline {

std::string to_toml(const Machine& machine, const MachineFacts& facts) {
  std::string out = fmt::format("id = {}\n", machines::quoted(machine.id));
  std::vector<std::string_view> done;
  for (const auto& figure : facts.figures) {
    if (!machines::may_repeat(figure.key)) {
      out += machines::figure_line(figure);
      continue;
    }
    if (std::find(done.begin(), done.end(), figure.key) != done.end()) continue;
    done.push_back(figure.key);
    std::vector<std::string> texts;
    for (const auto text : facts.texts(figure.key)) texts.emplace_back(text);
    out += fmt::format("{} = {}\n", figure.key, machines::quoted_list(texts));
  }
  return out;
}

}  // namespace roofline
