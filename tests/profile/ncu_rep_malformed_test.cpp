// Broken reports and files that are no reports: each refused with its own kind and one line.
#include <random>

#include "profile/rep_fixtures.h"

namespace roofline::testing {
namespace {

InputProblem problem_of(std::string_view bytes) {
  try {
    read_profile(bytes, "input.bin", keep_all());
  } catch (const InputError& error) {
    return error.problem();
  }
  ADD_FAILURE() << "was read";
  return {};
}

TEST(NcuRepMalformed, FilesThatAreNoReports) {
  EXPECT_EQ(error_kind(""), "empty");
  EXPECT_EQ(error_kind("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), "git-lfs-pointer");
  EXPECT_EQ(error_kind("\n <!DOCTYPE html>\n<html><body>Sign in</body></html>"), "html-page");
  EXPECT_EQ(error_kind("<HTML>"), "html-page");
  EXPECT_EQ(error_kind(std::string("SQLite format 3\0\x10\0", 18)), "nsys-sqlite");
  EXPECT_EQ(error_kind("\x7f"
                       "ELF\x02\x01\x01"),
            "elf");
  EXPECT_EQ(error_kind("PK\x03\x04zip"), "archive");
  EXPECT_EQ(error_kind(std::string(257, 'a') + "ustar"), "archive");
  EXPECT_EQ(error_kind(std::string("\xFD"
                                   "7zXZ\0\0\0",
                                   8)),
            "unsupported-compression");
  EXPECT_EQ(error_kind(std::string(4096, '\0')), "zeros");
  EXPECT_EQ(error_kind(std::string("\x08\x07\0\0 QuadDCommon", 16)), "nsys-report");
  EXPECT_EQ(error_kind("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"), "no-permission");
  EXPECT_EQ(error_kind("Time (%),Total Time (ns),Instances\n1.0,2,3\n"), "nsys-csv");
  EXPECT_EQ(error_kind("{\"traceEvents\": []}"), "unknown-format");
  EXPECT_EQ(error_kind("{\"model_type\": \"llama\", \"num_hidden_layers\": 32}"), "model-config");
  EXPECT_EQ(error_kind("\x01\x02\x03\x04\x05"), "unknown-format");
}

TEST(NcuRepMalformed, ALoneBlockWithoutTheStartOfTheFile) {
  const auto writer = small_report();
  EXPECT_EQ(error_kind(std::string_view(writer.bytes()).substr(writer.block_starts()[0])), "lone-block");
}

TEST(NcuRepMalformed, Prefix) {
  EXPECT_EQ(error_kind(std::string("NVR\0", 4)), "too-short");
  EXPECT_EQ(error_kind(std::string("NVR\0\2\0\0", 7)), "too-short");
  EXPECT_EQ(error_kind(std::string("NVR\0\2\0\0\0", 8)), "truncated");
  EXPECT_EQ(error_kind(std::string("NVR\0\0\0\0\0", 8)), "missing-field");
  EXPECT_EQ(error_kind(std::string("NVR\0\2\0\0\0\x0D\7", 10)), "wrong-wiretype");
  EXPECT_EQ(error_kind(std::string("NVR\0\2\0\0\0\x08\x07", 10)), "");  // empty, but sound
}

TEST(NcuRepMalformed, EveryCutIsNoticedAndNamed) {
  const auto writer = small_report();
  const std::string_view whole = writer.bytes();
  std::vector<std::size_t> starts = writer.block_starts();
  starts.push_back(whole.size());
  for (std::size_t size = 11; size < whole.size(); ++size) {
    const bool between_blocks = std::find(starts.begin(), starts.end(), size) != starts.end();
    const std::string kind = error_kind(whole.substr(0, size));
    if (between_blocks) {
      // Nothing tells that blocks are missing, except names that stood in them.
      EXPECT_TRUE(kind.empty() || kind == "bad-name-id") << size << ' ' << kind;
    } else {
      EXPECT_TRUE(kind == "truncated" || kind == "trailing-bytes") << size << ' ' << kind;
    }
  }
}

TEST(NcuRepMalformed, ZeroTail) {
  const auto writer = small_report();
  const auto problem = problem_of(writer.bytes() + std::string(512, '\0'));
  EXPECT_EQ(problem.kind, "bad-block");
  EXPECT_EQ(problem.offset, writer.bytes().size());
}

TEST(NcuRepMalformed, CutFileNamesTheBlock) {
  const auto writer = small_report();
  const auto problem = problem_of(std::string_view(writer.bytes()).substr(0, writer.bytes().size() - 1));
  EXPECT_EQ(problem.kind, "truncated");
  EXPECT_EQ(problem.offset, writer.block_starts().back());
  EXPECT_NE(problem.action.find("--partial"), std::string::npos);
}

TEST(NcuRepMalformed, NamesThatStandNowhere) {
  NcuRepWriter writer;
  writer.result(saxpy(), Names::never);
  EXPECT_EQ(error_kind(writer.bytes()), "bad-name-id");
}

TEST(NcuRepMalformed, CountsThatThePayloadDoesNotHold) {
  EXPECT_EQ(error_kind(NcuRepWriter().block(0, 2, {std::string("\x08\x01", 2)}).bytes()), "bad-payload");
  EXPECT_EQ(error_kind(NcuRepWriter().block(~std::uint64_t{0}, 2, {}).bytes()), "bad-payload");
  EXPECT_EQ(error_kind(NcuRepWriter().block(1, ~std::uint64_t{0}, {}).bytes()), "bad-payload");
}

TEST(NcuRepMalformed, EntryLongerThanItsPayload) {
  NcuRepWriter writer;
  writer.block(0, 1, {"abcd"});
  std::string bytes = writer.bytes();
  bytes[bytes.size() - 8] = 5;
  EXPECT_EQ(error_kind(bytes), "bad-payload");
  bytes[bytes.size() - 8] = 3;  // leaves one byte over
  EXPECT_EQ(error_kind(bytes), "bad-payload");
}

TEST(NcuRepMalformed, BrokenMessages) {
  const auto kind = [](std::string entry) {
    return error_kind(NcuRepWriter().block(0, 1, {std::move(entry)}).bytes());
  };
  EXPECT_EQ(kind("\x2A\x7Fname"), "field-overrun");  // field 5 longer than the entry
  EXPECT_EQ(kind("\x28\x01"), "wrong-wiretype");     // field 5 as a number
  EXPECT_EQ(kind("\x6A\x04\x4D"
                 "abc"),
            "field-overrun");                                            // a metric with a cut fixed field
  EXPECT_EQ(kind(std::string("\x6A\x02\x12\x00", 4)), "missing-field");  // a metric without a name
  EXPECT_EQ(kind("\x0B"), "bad-wiretype");                               // groups
  EXPECT_EQ(kind(std::string("\x00", 1)), "bad-tag");                    // field 0
  EXPECT_EQ(kind("\x08" + std::string(11, '\xFF')), "bad-varint");
}

TEST(NcuRepMalformed, PartialHandsBackWhatStandsBeforeTheFault) {
  auto options = keep_all();
  options.partial = true;
  const auto writer = small_report();
  const auto cut = read_profile(std::string_view(writer.bytes()).substr(0, writer.bytes().size() - 1), "cut", options);
  ASSERT_EQ(cut.launches.size(), 1U);
  EXPECT_EQ(number(cut, 0, "gpu__time_duration.sum"), 12345.0);
  EXPECT_TRUE(cut.partial);
  ASSERT_TRUE(warns(cut, "partial"));
  EXPECT_NE(cut.warnings.back().message.find("the file is cut"), std::string::npos);
  const auto whole = read_profile(writer.bytes(), "whole", options);
  EXPECT_EQ(whole.launches.size(), 2U);
  EXPECT_FALSE(whole.partial);
}

TEST(NcuRepMalformed, PartialLosesOnlyTheMetricsWhoseNamesAreCutOff) {
  auto options = keep_all();
  options.partial = true;
  NcuRepWriter writer;
  writer.result(saxpy(), Names::two_pieces);
  const auto profile =
      read_profile(std::string_view(writer.bytes()).substr(0, writer.block_starts().back() + 6), "cut", options);
  ASSERT_EQ(profile.launches.size(), 1U);
  EXPECT_TRUE(warns(profile, "unresolved-names"));
  EXPECT_EQ(text(profile, 0, "device__attribute_display_name"), "NVIDIA H100 PCIe");
}

TEST(NcuRepMalformed, PartialStopsAtABrokenResult) {
  auto options = keep_all();
  options.partial = true;
  NcuRepWriter writer = small_report();
  writer.block(0, 1, {"\x2A\x7Fname"}).result(saxpy());
  const auto profile = read_profile(writer.bytes(), "broken", options);
  EXPECT_EQ(profile.launches.size(), 2U);
  EXPECT_TRUE(profile.partial);
}

// Whatever stands in the file, reading it ends with a profile or with an InputError.
void must_not_crash(std::string_view bytes, bool partial) {
  auto options = keep_all();
  options.partial = partial;
  try {
    const auto profile = read_profile(bytes, "mutated", options);
    for (const auto& launch : profile.launches) {
      static_cast<void>(profile.devices.at(launch.device));
      rule_results(profile, launch);
      section_rooflines(profile, launch);
    }
  } catch (const InputError&) {  // the expected way out
  }
}

std::string rich_report() {
  NcuRepWriter writer = small_report();
  auto kernel = saxpy();
  kernel.nvtx = {"a", "b"};
  kernel.rules = {{"R", "T", "S", {{"text", 2}}, 1, 3.0}};
  ReportSection section{.id = "S", .title = "T", .chart = "C"};
  section.roofs = {{"l", {{"m", "d"}, "c"}, {{"t"}, ""}}};
  section.derived = {{"d", "(m + 2) * 3"}};
  kernel.sections = {section};
  kernel.metrics.push_back({"m", 1.0, {{std::uint64_t{1}, 2.0}}});
  kernel.unknown_fields = true;
  writer.result(kernel, Names::two_pieces).extra_entry("abc");
  return writer.bytes();
}

TEST(NcuRepMutation, RandomDamageNeverCrashes) {
  const std::string whole = rich_report();
  std::mt19937 random(20240229);  // NOLINT: the same damage in every run
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (int round = 0; round < 6000; ++round) {
    std::string bytes = whole;
    for (std::size_t flips = below(4) + 1; flips > 0; --flips)
      bytes[below(bytes.size())] = static_cast<char>(below(256));
    if (below(3) == 0) bytes.resize(below(bytes.size()));
    if (below(8) == 0) bytes.insert(below(bytes.size() + 1), bytes.substr(0, below(bytes.size() + 1)));
    must_not_crash(bytes, round % 2 == 0);
  }
}

TEST(NcuRepMutation, EverySingleByteMayTakeAnExtremeValue) {
  const std::string whole = rich_report();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'\0', '\x7f', '\x80', '\xff'}) {
      std::string bytes = whole;
      bytes[i] = c;
      must_not_crash(bytes, false);
    }
  }
}

}  // namespace
}  // namespace roofline::testing
