#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/text.h"
#include "roofline/timeline_views.h"
#include "timeline/timeline_builder.h"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TimelineBuilder;

std::vector<std::string> lines_of(const Timeline& t, const TerminalStyle& style) {
  const auto steps = analyze_steps(t);
  std::istringstream in(lanes_text(t, steps.at(0), style));
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// 64 columns of 1 us: kernels on two streams, a gap that waits for its launch, and one too short for a letter.
Timeline small() {
  TimelineBuilder b;
  b.kernel("gemm", 0, 40'000, -1).kernel("norm", 10'000, 20'000, -1, 8).kernel("tiny", 40'000, 40'100, -1);
  b.kernel("gemm", 56'000, 64'000, 55'000);
  return b.build();
}

TEST(LanesText, ALetterBeginsABlockGoesOn) {
  const auto lines = lines_of(small(), {80, false, true});
  std::string gemm = "stream 7       │A";
  for (int i = 0; i < 39; ++i) gemm += "█";
  gemm += "░" + std::string(15, ' ') + "A";
  for (int i = 0; i < 7; ++i) gemm += "█";
  EXPECT_THAT(lines, Contains(gemm));
  std::string norm = "stream 8       │" + std::string(10, ' ') + "B";
  for (int i = 0; i < 9; ++i) norm += "█";
  EXPECT_THAT(lines, Contains(norm));
  EXPECT_THAT(lines, Contains(StartsWith("A gemm")));
  EXPECT_THAT(lines, Contains(StartsWith("idle, and why  │")));
}

TEST(LanesText, AsciiHasNoOtherSigns) {
  for (const auto& line : lines_of(small(), {80, false, false}))
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
  EXPECT_THAT(lines_of(small(), {80, false, false}), Contains(HasSubstr("|A=====")));
}

TEST(LanesText, StaysInsideTheTerminal) {
  TimelineBuilder b;
  b.range(std::string(300, 'r') + "\x1b[31m", 0, 64'000);
  b.kernel(std::string(500, 'k'), 0, 30'000, 0).kernel("\xff\xfe bad", 31'000, 64'000, 30'000);
  for (const std::size_t width : {40U, 72U, 80U, 100U, 200U})
    for (const auto& line : lines_of(b.build(), {width, false, true})) {
      EXPECT_LE(display_width(line), width) << line;
      EXPECT_THAT(line, Not(HasSubstr("\x1b")));
    }
}

TEST(LanesText, ColourIsAskedFor) {
  EXPECT_THAT(lines_of(small(), {80, true, true}), Contains(HasSubstr("\x1b[34mA\x1b[0m")));
}

TEST(LanesText, TheKeyNamesTheProfilerOfAHostLane) {
  TimelineBuilder b;
  b.kernel("gemm", 2'000, 64'000, 0).overhead(10'000, 40'000);
  const auto lines = lines_of(b.build(), {80, false, true});
  EXPECT_THAT(lines, Contains(StartsWith("host thread 1  │l"))) << "beside it, the profiler";
  EXPECT_THAT(lines, Contains(HasSubstr("p profiler")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("idle: profiler"))));
}

TEST(LanesText, SaysHowManyStreamsAreNotDrawn) {
  TimelineBuilder b;
  for (int stream = 1; stream <= 12; ++stream) b.kernel("k", 0, 1'000 * stream, -1, stream);
  const auto lines = lines_of(b.build(), {80, false, true});
  EXPECT_THAT(lines.at(0), EndsWith("all work, 12.0 µs, the busiest 10 of 12 streams"));
  EXPECT_THAT(lines, Contains(StartsWith("stream 12")));
  EXPECT_THAT(lines, Not(Contains(StartsWith("stream 2 "))));
}

TEST(LanesText, AStepOfNoLengthIsDrawn) {
  TimelineBuilder b;
  b.kernel("empty", 5, 5, -1);
  const auto lines = lines_of(b.build(), {80, false, true});
  EXPECT_THAT(lines.at(0), EndsWith(": all work, 0 s"));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith(std::string(15, ' ') + "└─"), EndsWith("┴"))));
  EXPECT_THAT(lines, Contains(StartsWith(std::string(15, ' ') + "0  "))) << "an axis, though nothing stands on it";
  EXPECT_THAT(lines, Not(Contains(HasSubstr("│")))) << "no lane: what takes no time covers none";
  for (const auto& line : lines) EXPECT_LE(display_width(line), 80U) << line;
}

}  // namespace
}  // namespace roofline
