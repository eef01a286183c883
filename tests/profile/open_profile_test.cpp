#include "roofline/profile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "profile/rep_fixtures.h"

namespace roofline::testing {
namespace {

namespace fs = std::filesystem;

std::string gzip(std::string_view bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

const std::string kSkippable("\x51\x2A\x4D\x18\x04\0\0\0note", 12);

// A folder of its own for each test, gone afterwards.
class OpenProfile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "roofline-open-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string store(const std::string& name, std::string_view bytes) const {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }
  static std::string kind_of(const std::string& path, const ReadOptions& options = keep_all()) {
    try {
      open_profile(path, options);
    } catch (const InputError& error) {
      EXPECT_EQ(error.problem().path, path);
      return error.problem().kind;
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(OpenProfile, ChoosesByContentNotByExtension) {
  const auto path = store("report.csv", small_report().bytes());
  const auto profile = open_profile(path, keep_all());
  EXPECT_EQ(profile.path, path);
  EXPECT_EQ(profile.format, "ncu-rep");
  EXPECT_EQ(profile.launches.size(), 2U);
}

TEST_F(OpenProfile, NothingToOpen) {
  EXPECT_EQ(kind_of((folder_ / "none").string()), "not-found");
  EXPECT_EQ(kind_of(folder_.string()), "directory");
  EXPECT_EQ(kind_of(store("empty", "")), "empty");
  const auto locked = store("locked", "NVR");
  ::chmod(locked.c_str(), 0);
  if (::access(locked.c_str(), R_OK) == 0) return;  // root may read everything
  EXPECT_EQ(kind_of(locked), "unreadable");
}

TEST_F(OpenProfile, Compressed) {
  const std::string plain = small_report().bytes();
  const auto half = plain.size() / 2;
  const auto first = std::string_view(plain).substr(0, half);
  const auto second = std::string_view(plain).substr(half);
  for (const auto& bytes : {gzip(plain), zstd(plain), gzip(first) + gzip(second), zstd(first) + zstd(second),
                            kSkippable + zstd(first) + kSkippable + zstd(second) + kSkippable, gzip(zstd(plain)),
                            gzip(plain) + std::string(100, '\0'), zstd(gzip(plain)), gzip("") + gzip(plain)}) {
    const auto profile = open_profile(store("packed", bytes), keep_all());
    EXPECT_EQ(profile.launches.size(), 2U);
    EXPECT_EQ(number(profile, 1, "gpu__time_duration.sum"), 23456.0);
  }
}

TEST_F(OpenProfile, CompressedInputsThatAreRefused) {
  const std::string plain = small_report().bytes();
  EXPECT_EQ(error_kind(gzip(gzip(zstd(plain)))), "nested-compression");
  EXPECT_EQ(error_kind(gzip(plain) + "tail"), "bad-gzip");
  EXPECT_EQ(error_kind(zstd(plain) + "tail"), "bad-zstd");
  EXPECT_EQ(error_kind(gzip("")), "empty");
  for (const auto& packed : {gzip(plain), zstd(plain)}) {
    for (std::size_t cut = 5; cut + 1 < packed.size(); cut += 97) {
      EXPECT_EQ(error_kind(std::string_view(packed).substr(0, cut)), "truncated") << cut;
    }
  }
  auto damaged = zstd(plain);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  EXPECT_NE(error_kind(damaged), "");
}

TEST_F(OpenProfile, UnpackingIsBounded) {
  const std::string zeros(std::size_t{32} << 20U, '\0');
  auto options = keep_all();
  options.max_decompressed = std::uint64_t{1} << 20U;
  for (const auto& bomb : {gzip(zeros), zstd(zeros), gzip(gzip(zeros))}) {
    EXPECT_EQ(error_kind(bomb, options), "too-large");
  }
  options.max_decompressed = zeros.size();
  // Exactly the limit is fine, also where it fills the buffer to its last byte.
  EXPECT_EQ(error_kind(gzip(zeros), options), "zeros");
  EXPECT_EQ(error_kind(zstd(zeros), options), "zeros");
}

TEST_F(OpenProfile, PartialUnpacksWhatThereIs) {
  // Incompressible filler, so that the first launches come out before the cut.
  NcuRepWriter writer = small_report();
  std::string noise;
  std::uint32_t state = 1;
  while (noise.size() < 3'000'000) noise += static_cast<char>((state = state * 1'664'525U + 1'013'904'223U) >> 24U);
  writer.source(2, noise).result(saxpy());
  auto options = keep_all();
  options.partial = true;
  for (auto packed : {gzip(writer.bytes()), zstd(writer.bytes())}) {
    packed.resize(packed.size() - 1'000'000);
    const auto profile = read_profile(packed, "cut", options);
    EXPECT_EQ(profile.launches.size(), 2U);
    EXPECT_TRUE(profile.partial);
  }
}

TEST_F(OpenProfile, PipesAreRead) {
  const auto path = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(path, std::ios::binary) << small_report().bytes(); });
  EXPECT_EQ(open_profile(path, keep_all()).launches.size(), 2U);
}

TEST_F(OpenProfile, StandardInputIsRead) {
  const int saved = ::dup(STDIN_FILENO);
  const int file = ::open(store("in", gzip(small_report().bytes())).c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  const auto profile = open_profile("-", keep_all());
  ::dup2(saved, STDIN_FILENO);
  ::close(file);
  ::close(saved);
  EXPECT_EQ(profile.launches.size(), 2U);
  EXPECT_EQ(profile.path, "-");
}

TEST_F(OpenProfile, SeveralFilesKeepTheirOrder) {
  std::vector<std::string> paths;
  for (int i = 0; i < 40; ++i) {
    NcuRepWriter writer;
    writer.result(saxpy(1000.0 + i));
    paths.push_back(store("r" + std::to_string(i), i % 3 == 0 ? gzip(writer.bytes()) : writer.bytes()));
  }
  auto options = keep_all();
  std::uint64_t last_done = 0;
  std::uint64_t last_total = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    last_done = done;
    last_total = total;
  };
  const auto profiles = open_profiles(paths, options);
  ASSERT_EQ(profiles.size(), paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(profiles[i].path, paths[i]);
    EXPECT_EQ(number(profiles[i], 0, "gpu__time_duration.sum"), 1000.0 + static_cast<double>(i));
  }
  EXPECT_EQ(last_done, last_total);
  EXPECT_TRUE(open_profiles({}).empty());
}

TEST_F(OpenProfile, OneBadFileOfSeveralIsNamed) {
  const auto good = store("good", small_report().bytes());
  const auto bad = store("bad", "<html>");
  const std::vector<std::string> paths = {good, bad, good, (folder_ / "none").string()};
  try {
    open_profiles(paths);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problem().path, bad);  // the first in the order given
    EXPECT_EQ(error.problem().kind, "html-page");
  }
}

TEST_F(OpenProfile, AFileNamedTwiceIsWarnedOf) {
  const auto path = store("one", small_report().bytes());
  const auto other = store("two", small_report().bytes());
  const std::vector<std::string> paths = {path, other, (folder_ / "." / "one").string()};
  const auto profiles = open_profiles(paths, keep_all());
  const auto warned = [](const Profile& p) {
    return std::any_of(p.warnings.begin(), p.warnings.end(), [](const auto& w) { return w.code == "same-file"; });
  };
  EXPECT_FALSE(warned(profiles[0]));
  EXPECT_FALSE(warned(profiles[1]));  // equal, but another file
  EXPECT_TRUE(warned(profiles[2]));
}

TEST_F(OpenProfile, TextOfNoKnownFormatIsQuoted) {
  const auto found = [&](std::string_view bytes) {
    try {
      read_profile(bytes, "x");
    } catch (const InputError& error) {
      EXPECT_EQ(error.problem().kind, "unknown-format");
      return error.problem().found;
    }
    return std::string();
  };
  const auto script = found("\n\nnsys start --stop-on-exit=false\nrun\n");
  EXPECT_NE(script.find("starts with \"nsys start --stop-on-exit=false\""), std::string::npos) << script;
  EXPECT_NE(found(std::string("\x01\x02\x03zz", 5)).find("starts with 01 02 03"), std::string::npos);
  EXPECT_NE(found("words\tand \xFF more").find("\"words and \xEF\xBF\xBD more\""), std::string::npos);
  std::string accents = "a";
  for (int i = 0; i < 60; ++i) accents += "\xC3\xA9";
  const auto cut = found(accents);
  EXPECT_NE(cut.find("\xC3\xA9...\""), std::string::npos) << cut;
  EXPECT_LT(cut.size(), 120U);
  EXPECT_NE(found(std::string("\xFF\xFEh\0i\0", 6)).find("\"hi\""), std::string::npos);
}

TEST_F(OpenProfile, WhatNsightSystemsPrintsIsNamed) {
  const auto kind = [](std::string_view bytes) {
    try {
      read_profile(bytes, "x");
    } catch (const InputError& error) {
      EXPECT_NE(error.problem().action.find("ncu -o"), std::string::npos) << error.what();
      return error.problem().kind;
    }
    return std::string();
  };
  EXPECT_EQ(kind("Collecting data...\nGenerating '/tmp/a.qdstrm'\n"), "nsys-text");
  EXPECT_EQ(kind("[1/8] [=====100%] a.nsys-rep\n"), "nsys-text");
  EXPECT_EQ(kind("[6/8] Executing 'cuda_gpu_kern_sum' stats report\n"), "nsys-text");
  EXPECT_EQ(kind("\n Time (%)  Total Time (ns)  Instances  Name\n --------  ---\n 3.0  5  1  k\n"), "nsys-csv");
  EXPECT_EQ(kind("Time (%),Total Time (ns),Instances,Name\n"), "nsys-csv");
}

TEST_F(OpenProfile, ProfilesOutliveTheFileAndTheCallersBytes) {
  auto kernel = saxpy();
  kernel.rules = {{"R", "T", "S", {{"text", 2}}, 0, 0}};
  NcuRepWriter writer;
  writer.result(kernel);
  const auto path = store("gone", writer.bytes());
  const auto mapped = open_profile(path, keep_all());
  fs::remove(path);
  EXPECT_EQ(rule_results(mapped, mapped.launches[0]).size(), 1U);
  auto bytes = std::make_unique<std::string>(writer.bytes());
  const auto copied = read_profile(*bytes, "memory", keep_all());
  bytes.reset();
  EXPECT_EQ(rule_results(copied, copied.launches[0]).size(), 1U);
}

}  // namespace
}  // namespace roofline::testing
