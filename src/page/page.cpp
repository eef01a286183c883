#include "roofline/page.h"

#include <array>
#include <stdexcept>

#include "data/roofline-page.html.h"
#include "roofline/error.h"

namespace roofline {
namespace {

constexpr std::string_view kDataElement = "<script type=\"application/json\" id=\"roofline-report\">";

// A character that could end the element, or that older scripts take for a line end.
struct Unsafe {
  std::string_view bytes;
  std::string_view escape;
};
constexpr std::array<Unsafe, 5> kUnsafe = {
    {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\xE2\x80\xA8", "\\u2028"}, {"\xE2\x80\xA9", "\\u2029"}}};

// In JSON these characters stand inside strings only, where an escape means the same.
void append_escaped(std::string_view json, std::string& out) {
  std::size_t copied = 0;
  for (std::size_t at = json.find_first_of("<>&\xE2"); at != std::string_view::npos;
       at = json.find_first_of("<>&\xE2", at + 1)) {
    for (const auto& unsafe : kUnsafe) {
      if (json.substr(at, unsafe.bytes.size()) != unsafe.bytes) continue;
      out.append(json, copied, at - copied);
      out += unsafe.escape;
      copied = at + unsafe.bytes.size();
      break;
    }
  }
  out.append(json, copied);
}

}  // namespace

bool has_page() { return !data::roofline_page_html().empty(); }

std::string to_html(std::string_view report_json) {
  if (!has_page())
    throw UsageError(
        "this build has no HTML page, because Node.js 18 or newer with npm was missing when it was built; install them "
        "(apt-get install nodejs npm) and build with -DROOFLINE_WEB=ON, or choose another format, such as svg");
  const auto page = data::roofline_page_html();
  const auto element = page.find(kDataElement);
  if (element == std::string_view::npos) throw std::logic_error("the HTML page has no place for a report");
  const auto begin = element + kDataElement.size();
  std::string out;
  out.reserve(page.size() + report_json.size() + report_json.size() / 16);
  out.append(page, 0, begin);
  append_escaped(report_json, out);
  out.append(page, begin);
  return out;
}

}  // namespace roofline
