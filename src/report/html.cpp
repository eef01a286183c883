// A document as one page of HTML: no script, nothing fetched. The interactive page of reports is another thing.
#include <fmt/format.h>

#include "report/text.h"
#include "roofline/document.h"

namespace roofline {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<style>
:root{color-scheme:light dark;--ink:#1b1f24;--faint:#646c76;--line:#d5dae0;--good:#1a7f37;--warn:#9a6700;--bad:#b42318}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--faint:#98a1ab;--line:#3a424c;--good:#57c271;--warn:#d9a520;--bad:#f0776b}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:1.6rem}.wide{overflow-x:auto}img{max-width:100%;height:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.8rem 0}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
th.r,td.r{text-align:right}tfoot td{border-top:2px solid var(--line);font-weight:600}
pre{background:color-mix(in srgb,var(--line) 35%,transparent);padding:.6rem;overflow-x:auto}
.strong{font-weight:600}.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}.faint{color:var(--faint)}
</style>
)";

std::string escaped(std::string_view raw) {
  std::string out;
  for (const char c : text::printable(raw, true)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string_view style_of(Tone tone) {
  switch (tone) {
    case Tone::strong:
      return " class=\"strong\"";
    case Tone::good:
      return " class=\"good\"";
    case Tone::warn:
      return " class=\"warn\"";
    case Tone::bad:
      return " class=\"bad\"";
    case Tone::faint:
      return " class=\"faint\"";
    case Tone::normal:
      break;
  }
  return "";
}

class HtmlView {
 public:
  std::string print(const Document& document) {
    out_ = fmt::format("{}<title>{}</title></head><body>\n", kHead, escaped(document.title));
    if (!document.title.empty()) out_ += fmt::format("<h1>{}</h1>\n", escaped(document.title));
    for (const auto& block : document.blocks) std::visit([this](const auto& b) { add(b); }, block);
    return std::move(out_) + "</body></html>\n";
  }

 private:
  void add(const Heading& heading) { out_ += fmt::format("<h2>{}</h2>\n", escaped(heading.text)); }
  void add(const Paragraph& p) { out_ += fmt::format("<p{}>{}</p>\n", style_of(p.tone), escaped(p.text)); }
  void add(const Command& command) { out_ += fmt::format("<pre>{}</pre>\n", escaped(command.text)); }

  void add(const Bullets& bullets) {
    out_ += "<ul>\n";
    for (const auto& item : bullets.items)
      out_ += fmt::format("<li{}>{}</li>\n", style_of(item.tone), escaped(item.text));
    out_ += "</ul>\n";
  }

  void add(const Table& table) {
    if (table.rows.empty()) return;
    out_ += "<div class=\"wide\"><table>\n";
    if (!table.title.empty()) out_ += fmt::format("<caption>{}</caption>\n", escaped(table.title));
    out_ += "<thead><tr>";
    for (const auto& column : table.columns)
      if (!column.data_only) out_ += fmt::format("<th scope=\"col\"{}>{}</th>", side(column), escaped(column.title));
    out_ += "</tr></thead>\n<tbody>\n";
    for (const auto& cells : table.rows) row(table, cells);
    out_ += "</tbody>\n";
    if (!table.footer.empty()) {
      out_ += "<tfoot>\n";
      row(table, table.footer);
      out_ += "</tfoot>\n";
    }
    out_ += "</table></div>\n";
  }

  static std::string_view side(const Column& column) { return column.align == Align::right ? " class=\"r\"" : ""; }

  void row(const Table& table, const std::vector<Cell>& cells) {
    out_ += "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const auto& column = table.columns[c];
      if (column.data_only) continue;
      const Cell cell = c < cells.size() ? cells[c] : Cell{};
      const bool absent = cell.text.empty() && column.align == Align::right;
      out_ += fmt::format("<td{}><span{}>{}</span></td>", side(column), style_of(cell.tone),
                          absent ? "—" : escaped(cell.text));
    }
    out_ += "</tr>\n";
  }

  std::string out_;
};

}  // namespace

std::string to_html(const Document& document) { return HtmlView().print(document); }

}  // namespace roofline
