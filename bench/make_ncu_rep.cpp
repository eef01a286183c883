// Writes large .ncu-rep files for benchmarks: synthetic ones with the byte mix of real `full` reports (modules 44 %,
// instances 30 %, section definitions 12 %, scalar metrics 9 %, the rest rules and headers), or the blocks of a given
// report again and again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/ncu_rep_writer.h"

namespace {

using roofline::testing::gpu_metrics;
using roofline::testing::NcuRepWriter;
using roofline::testing::report_device;
using roofline::testing::ReportResult;
using roofline::testing::ReportSection;

struct Settings {
  std::string out;
  std::uint64_t bytes = std::uint64_t{1} << 30U;
  std::uint64_t results = 0;   // instead of bytes
  std::size_t metrics = 1220;  // per result, as ncu 2024 collects for its `full` set
  bool scalars_only = false;   // no modules, instances, sections, rules
  std::string repeat;          // a report whose blocks are to be repeated
  std::string names = ROOFLINE_SOURCE_DIR "/data/metrics.csv";
};

// About this share of a real report's metrics is declared in the catalogue.
constexpr double kDeclaredShare = 0.27;

std::vector<std::string> declared_names(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> names;
  std::string line;
  std::getline(in, line);  // the heading
  while (std::getline(in, line)) {
    const auto name = line.substr(0, line.find(','));
    if (!name.empty() && name[0] != '#' && name[0] != '"') names.push_back(name);
  }
  return names;
}

// One kernel: declared metrics, undeclared ones, texts like ncu's breakdowns, and, unless only scalars are wanted, the
// bulk around them in its usual proportions.
ReportResult make_kernel(const Settings& settings, const std::vector<std::string>& declared, unsigned variant) {
  ReportResult kernel{.mangled = fmt::format("_Z6kernelILi{}EEvPfi", variant),
                      .function = "kernel",
                      .demangled = fmt::format("void kernel<(int){}>(float *, int)", variant),
                      .grid = {1024 + variant, 4, 1},
                      .block = {256, 1, 1}};
  kernel.metrics = gpu_metrics({});
  const auto wanted = static_cast<std::size_t>(kDeclaredShare * static_cast<double>(settings.metrics));
  for (std::size_t i = 0; i < std::min(wanted, declared.size()); ++i) {
    kernel.metrics.push_back({declared[i], 1000.0 * static_cast<double>(i + variant) + 0.5});
  }
  for (std::size_t i = 0; kernel.metrics.size() < settings.metrics; ++i) {
    auto name = fmt::format("smsp__synthetic_counter_{:04}.sum", i);
    if (i % 30 == 7 && !settings.scalars_only) {
      kernel.metrics.push_back({fmt::format("breakdown:{}", name), std::string(1000, 'x')});
    } else if (i % 2 == 0) {
      kernel.metrics.push_back({std::move(name), static_cast<std::uint64_t>(i) << 20U});
    } else {
      kernel.metrics.push_back({std::move(name), static_cast<double>(i) / 3});
    }
  }
  return kernel;
}

// Adds instances, sections and rules in proportion to the bytes of the scalars; returns the module's size.
std::size_t add_bulk(ReportResult& kernel, std::size_t scalar_bytes) {
  const auto share = [scalar_bytes](double percent) {
    return static_cast<std::size_t>(static_cast<double>(scalar_bytes) * percent / 9.0);
  };
  constexpr std::size_t kInstanceBytes = 25;
  constexpr std::size_t kMetricsWithInstances = 110;  // source counters, PM sampling
  const std::size_t each = share(30) / kInstanceBytes / kMetricsWithInstances;
  const std::size_t stride = kernel.metrics.size() / kMetricsWithInstances;
  for (std::size_t m = 0; m < kMetricsWithInstances; ++m) {
    auto& metric = kernel.metrics[m * stride];
    for (std::size_t i = 0; i < each; ++i) {
      metric.instances.emplace_back(std::uint64_t{0x7F0000000000} + i * 16, static_cast<double>(i));
    }
    if (m % 33 == 32) metric.value = {};  // a few metrics have instances only
  }
  constexpr std::size_t kSections = 24;
  for (std::size_t i = 0; i < kSections; ++i) {
    kernel.sections.push_back({.id = fmt::format("Section{}", i),
                               .title = "A section",
                               .chart = "",
                               .description = std::string(share(12) / kSections, 's')});
  }
  kernel.rules = {{"Rule", "A rule", "Section0", {{std::string(share(4), 'r'), 2}}, 1, 10.0}};
  return share(44);
}

// Blocks that can be repeated: their names stand in `head`.
struct Pattern {
  std::string head;
  std::vector<std::string> blocks;
  std::uint64_t results = 0;  // in all blocks together
};

Pattern synthetic(const Settings& settings) {
  constexpr unsigned kVariants = 8;
  const auto declared = declared_names(settings.names);
  NcuRepWriter writer;
  writer.session({.devices = {report_device({})}, .command_line = "ncu --set full ./a.out"});
  std::vector<std::string> names;
  std::vector<ReportResult> kernels;
  for (unsigned v = 0; v < kVariants; ++v) {
    kernels.push_back(make_kernel(settings, declared, v));
    static_cast<void>(writer.encode(kernels.back(), names));
  }
  writer.block(0, 0, {}, names);
  Pattern pattern{writer.bytes(), {}, kVariants};
  for (unsigned v = 0; v < kVariants; ++v) {
    const auto start = writer.bytes().size();
    std::vector<std::string> none;
    if (!settings.scalars_only) {
      const auto scalar_bytes = writer.encode(kernels[v], none).size();
      writer.source(v + 1, std::string(add_bulk(kernels[v], scalar_bytes), '\x90'));
    }
    writer.result(kernels[v]);
    pattern.blocks.push_back(writer.bytes().substr(start));
  }
  return pattern;
}

std::uint32_t u32_at(std::string_view bytes, std::size_t pos) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes.at(pos + i))) << 8 * i;
  return value;
}

struct Header {
  std::string repeated;  // without names and session: they must not pile up
  std::uint64_t payload = 0;
  std::uint64_t results = 0;
};

Header strip(std::string_view bytes) {
  Header header;
  protozero::pbf_writer out(header.repeated);
  for (protozero::pbf_reader m(bytes.data(), bytes.size()); m.next();) {
    switch (m.tag()) {
      case 3:
        m.skip();
        break;
      case 4: {
        m.skip();
        out.add_message(4, std::string());
        break;
      }
      case 6:
        out.add_message(6, m.get_view());
        break;
      default: {
        const auto value = m.get_uint64();
        if (m.tag() == 2) header.results = value;
        if (m.tag() == 5) header.payload = value;
        out.add_uint64(m.tag(), value);
      }
    }
  }
  return header;
}

Pattern repeated(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  Pattern pattern{bytes, {}, 0};
  for (std::size_t pos = 8 + u32_at(bytes, 4); pos < bytes.size();) {
    const std::uint32_t size = u32_at(bytes, pos);
    const Header header = strip(std::string_view(bytes).substr(pos + 4, size));
    pos += 4 + size;
    if (header.payload != 0) {
      std::string block;
      for (unsigned shift = 0; shift < 32; shift += 8)
        block += static_cast<char>(header.repeated.size() >> shift & 0xFFU);
      pattern.blocks.push_back(block + header.repeated + bytes.substr(pos, header.payload));
    }
    pattern.results += header.results;
    pos += header.payload;
  }
  if (pattern.results == 0) throw std::runtime_error(path + ": no results to repeat");
  return pattern;
}

void write(const Settings& settings, const Pattern& pattern) {
  std::ofstream out(settings.out, std::ios::binary);
  out.write(pattern.head.data(), static_cast<std::streamsize>(pattern.head.size()));
  std::uint64_t written = pattern.head.size();
  const std::uint64_t rounds = settings.results / pattern.results;
  for (std::uint64_t round = 0; settings.results != 0 ? round < rounds : written < settings.bytes; ++round) {
    for (const auto& block : pattern.blocks) {
      out.write(block.data(), static_cast<std::streamsize>(block.size()));
      written += block.size();
    }
  }
  out.close();
  if (!out) throw std::runtime_error("cannot write " + settings.out);
  fmt::print("{}: {} bytes\n", settings.out, written);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Writes large .ncu-rep files for benchmarks.");
  app.add_option("out", settings.out, "file to write")->required();
  app.add_option("--bytes", settings.bytes, "size to reach");
  app.add_option("--results", settings.results, "number of results instead of a size (rounded down to whole rounds)");
  app.add_option("--metrics", settings.metrics, "metrics per result");
  app.add_flag("--scalars-only", settings.scalars_only, "no modules, instances, sections and rules");
  app.add_option("--repeat", settings.repeat, "repeat the blocks of this report")->check(CLI::ExistingFile);
  app.add_option("--names", settings.names, "CSV file with declared metric names")->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  try {
    write(settings, settings.repeat.empty() ? synthetic(settings) : repeated(settings.repeat));
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_ncu_rep: {}\n", error.what());
    return 1;
  }
  return 0;
}
