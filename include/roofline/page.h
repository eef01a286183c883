// The interactive report: one HTML file that needs nothing from outside, with a report in it.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

// Whether this library was built with the page. It is not where npm was missing at build time.
bool has_page();

// The page with the report of to_json() in it. Nothing in the report can become markup or script. Throws UsageError
// where has_page() is false.
std::string to_html(std::string_view report_json);

}  // namespace roofline
