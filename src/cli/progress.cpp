#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/terminal.h"
#include "roofline/timeline.h"

namespace roofline::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};  // what ends sooner needs no bar
constexpr std::chrono::milliseconds kBetween{100};
constexpr double kTrusted = 0.02;  // share from which the time left can be told
constexpr std::string_view kWipe = "\r\033[K";

bool can_draw() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

std::string progress_line(double share, double elapsed_s, std::size_t width, bool unicode) {
  share = std::clamp(share, 0.0, 1.0);
  auto text = fmt::format(" {:3.0f}%", 100 * share);
  if (share >= kTrusted && share < 1) text += fmt::format(", {:.0f} s left", elapsed_s * (1 - share) / share);
  constexpr std::string_view kWhat = "reading ";
  constexpr std::size_t kLongestBar = 40;
  const auto taken = kWhat.size() + text.size();
  const auto cells = std::min(kLongestBar, width > taken ? width - taken : 0);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
  std::string bar;
  for (std::size_t i = 0; i < cells; ++i) bar += i < full ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  return std::string(kWhat) + bar + text;
}

StatusLine::StatusLine() : terminal_(can_draw()) {}

void StatusLine::show(std::string_view text) {
  if (!terminal_) return;
  visible_ = true;
  fmt::print(stderr, "{}{}", kWipe, text);
  std::fflush(stderr);
}

void StatusLine::wipe() {
  if (visible_) fmt::print(stderr, "{}", kWipe);
  visible_ = false;
}

void Progress::operator()(std::uint64_t done, std::uint64_t total) {
  const auto now = Clock::now();
  if (!line_.can_show() || total == 0 || now - start_ < kPatience || now - drawn_ < kBetween) return;
  drawn_ = now;
  const auto style = detect_style(0);
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  line_.show(progress_line(share, elapsed, style.width - 1, style.unicode));
}

std::vector<Profile> open_watched(std::span<const std::string> paths, ReadOptions options) {
  Progress progress;
  options.progress = [&](std::uint64_t done, std::uint64_t total) { progress(done, total); };
  return open_inputs(paths, options);
}

}  // namespace roofline::cli
