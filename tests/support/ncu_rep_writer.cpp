#include "support/ncu_rep_writer.h"

#include <fstream>
#include <protozero/pbf_writer.hpp>
#include <stdexcept>

namespace roofline::testing {
namespace {

using protozero::pbf_writer;

void append_u32(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFFU);
}

std::string message(const auto& fill) {
  std::string bytes;
  pbf_writer writer(bytes);
  fill(writer);
  return bytes;
}

std::string encode_value(const ReportValue& value) {
  return message([&](pbf_writer& w) {
    if (const auto* text = std::get_if<std::string>(&value)) w.add_string(1, *text);
    if (const auto* number = std::get_if<double>(&value)) w.add_double(3, *number);
    if (const auto* number = std::get_if<std::uint64_t>(&value)) w.add_uint64(5, *number);
  });
}

bool has_value(const ReportValue& value) { return !std::holds_alternative<std::monostate>(value); }

std::string encode_dim3(const Dim3& d) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, d.x);
    w.add_uint64(2, d.y);
    w.add_uint64(3, d.z);
  });
}

std::string encode_instance(const ReportValue& correlation, const ReportValue& value) {
  return message([&](pbf_writer& w) {
    if (has_value(correlation)) w.add_message(1, encode_value(correlation));
    if (has_value(value)) w.add_message(2, encode_value(value));
  });
}

// A pair of texts in fields 1 and 2: versions, derived metrics.
std::string encode_pair(const std::pair<std::string, std::string>& pair) {
  return message([&](pbf_writer& w) {
    w.add_string(1, pair.first);
    w.add_string(2, pair.second);
  });
}

std::string encode_metric(const ReportMetric& metric, std::uint64_t id) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, id);
    if (has_value(metric.value)) w.add_message(2, encode_value(metric.value));
    for (const auto& instance : metric.instances) w.add_message(3, encode_instance(instance.first, instance.second));
    w.add_uint64(4, 0);
  });
}

std::string encode_rule(const ReportRule& rule) {
  const auto body = message([&](pbf_writer& w) {
    for (const auto& entry : rule.messages) {
      const auto said = message([&](pbf_writer& m) {
        m.add_string(1, entry.first);
        m.add_uint64(2, entry.second);
      });
      w.add_message(1, message([&](pbf_writer& item) { item.add_message(1, said); }));
    }
    if (rule.speedup_type == 0) return;
    const auto speedup = message([&](pbf_writer& m) {
      m.add_uint64(1, rule.speedup_type);
      m.add_double(2, rule.speedup_percent);
    });
    w.add_message(1, message([&](pbf_writer& item) { item.add_message(10, speedup); }));
  });
  return message([&](pbf_writer& w) {
    w.add_string(1, rule.rule);
    w.add_string(2, rule.title);
    w.add_message(3, body);
    w.add_string(4, rule.section);
  });
}

std::string encode_named(const std::string& name) {
  return message([&](pbf_writer& w) { w.add_string(1, name); });
}

std::string encode_amount(const ReportChartAmount& amount) {
  return message([&](pbf_writer& w) {
    if (amount.clock.empty()) {
      for (const auto& metric : amount.metrics) w.add_message(2, encode_named(metric));
      return;
    }
    w.add_message(3, message([&](pbf_writer& product) {
                    for (const auto& metric : amount.metrics) product.add_message(1, encode_named(metric));
                    product.add_message(2, encode_named(amount.clock));
                  }));
  });
}

std::string encode_chart(const ReportSection& section) {
  return message([&](pbf_writer& w) {
    w.add_string(1, section.chart);
    for (const bool roof : {true, false}) {
      for (const auto& line : roof ? section.roofs : section.points) {
        w.add_message(roof ? 4 : 5, message([&](pbf_writer& l) {
                        l.add_message(1, encode_amount(line.work));
                        l.add_message(2, encode_amount(line.traffic));
                        l.add_message(3, encode_named(line.label));
                      }));
      }
    }
  });
}

std::string encode_section(const ReportSection& section) {
  return message([&](pbf_writer& w) {
    w.add_string(1, section.id);
    w.add_string(2, section.title);
    if (!section.chart.empty()) {
      const auto item = message([&](pbf_writer& m) { m.add_message(6, encode_chart(section)); });
      w.add_message(5, message([&](pbf_writer& body) { body.add_message(1, item); }));
    }
    if (!section.description.empty()) w.add_string(7, section.description);
    if (section.derived.empty()) return;
    w.add_message(10, message([&](pbf_writer& group) {
                    for (const auto& derived : section.derived) group.add_message(1, encode_pair(derived));
                  }));
  });
}

std::string encode_nvtx_thread(std::uint64_t thread, const std::vector<std::string>& ranges) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, thread);
    w.add_message(2, message([&](pbf_writer& domain) {
                    domain.add_uint64(1, 0);
                    for (const auto& name : ranges) domain.add_message(3, encode_named(name));
                  }));
  });
}

std::string encode_nvtx(const ReportResult& result) {
  return message([&](pbf_writer& w) {
    if (!result.other_nvtx.empty()) w.add_message(2, encode_nvtx_thread(result.thread + 1, result.other_nvtx));
    w.add_message(2, encode_nvtx_thread(result.thread, result.nvtx));
  });
}

// Everything behind the metrics, in the order of field numbers as real files have it.
void encode_tail(pbf_writer& w, const ReportResult& result) {
  w.add_uint64(14, 1'700'000'000);
  w.add_message(15, message([&](pbf_writer& source) { source.add_uint64(1, result.source); }));
  w.add_uint64(16, 0);
  for (const auto& section : result.sections) w.add_message(17, encode_section(section));
  for (const auto& rule : result.rules) w.add_message(19, encode_rule(rule));
  if (!result.nvtx.empty() || !result.other_nvtx.empty()) w.add_message(21, encode_nvtx(result));
  w.add_uint64(22, result.context);
  w.add_uint64(23, result.stream);
  if (result.clock_lock) {
    w.add_message(25, message([&](pbf_writer& lock) {
                    lock.add_uint64(1, result.clock_lock->first);
                    lock.add_uint64(2, result.clock_lock->second);
                  }));
  }
  if (!result.unknown_fields) return;
  w.add_string(200, "what later versions may add");
  w.add_uint64(201, 77);
  w.add_double(202, 1.5);
  w.add_fixed32(203, 9);
}

std::string encode_device(const ReportDevice& device) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, device.id);
    w.add_string(2, device.name);
    for (const auto& attribute : device.attributes) {
      w.add_message(3, message([&](pbf_writer& a) {
                      a.add_string(1, attribute.name);
                      a.add_message(2, encode_value(attribute.value));
                    }));
    }
  });
}

}  // namespace

std::vector<ReportMetric> gpu_metrics(const ReportGpu& gpu) {
  const std::string prefix = "device__attribute_";
  return {{prefix + "device_index", gpu.id},
          {prefix + "display_name", gpu.name},
          {prefix + "compute_capability_major", gpu.cc_major},
          {prefix + "compute_capability_minor", gpu.cc_minor},
          {prefix + "multiprocessor_count", gpu.sm_count},
          {prefix + "max_gpu_frequency_khz", gpu.sm_khz},
          {prefix + "clock_rate", gpu.sm_khz},
          {prefix + "max_mem_frequency_khz", gpu.memory_khz},
          {prefix + "memory_clock_rate", gpu.memory_khz},
          {prefix + "fb_bus_width", gpu.bus_bits},
          {prefix + "global_memory_bus_width", gpu.bus_bits},
          {prefix + "l2_cache_size", gpu.l2_bytes}};
}

ReportDevice report_device(const ReportGpu& gpu) { return {gpu.id, gpu.name, gpu_metrics(gpu)}; }

NcuRepWriter::NcuRepWriter(std::uint64_t version, std::uint64_t process)
    : bytes_(std::string_view("NVR\0", 4)), process_(process) {
  const auto header = message([&](pbf_writer& w) { w.add_uint64(1, version); });
  append_u32(bytes_, header.size());
  bytes_ += header;
}

NcuRepWriter& NcuRepWriter::process(std::uint64_t pid) {
  process_ = pid;
  return *this;
}

NcuRepWriter& NcuRepWriter::block(std::uint64_t sources, std::uint64_t results, const std::vector<std::string>& entries,
                                  const std::vector<std::string>& names, std::string_view session) {
  std::string payload;
  for (const auto& entry : entries) {
    append_u32(payload, entry.size());
    payload += entry;
  }
  const auto table = message([&](pbf_writer& w) {
    for (const auto& name : names) w.add_string(1, name);
  });
  const auto header = message([&](pbf_writer& w) {
    w.add_uint64(1, sources);
    w.add_uint64(2, results);
    if (!session.empty()) w.add_message(3, session.data(), session.size());
    w.add_message(4, table);
    w.add_uint64(5, payload.size());
    w.add_message(6, message([&](pbf_writer& p) {
                    p.add_uint64(1, process_);
                    p.add_string(2, "127.0.0.1");
                    p.add_string(3, "a.out");
                  }));
  });
  block_starts_.push_back(bytes_.size());
  append_u32(bytes_, header.size());
  bytes_ += header;
  bytes_ += payload;
  return *this;
}

NcuRepWriter& NcuRepWriter::session(const ReportSession& session) {
  block(0, 0, {}, {}, message([&](pbf_writer& w) { w.add_uint64(2, session.creation_time); }));
  for (const auto& device : session.devices) {
    block(0, 0, {}, {}, message([&](pbf_writer& w) { w.add_message(6, encode_device(device)); }));
  }
  for (const auto& version : session.versions) {
    block(0, 0, {}, {}, message([&](pbf_writer& w) { w.add_message(8, encode_pair(version)); }));
  }
  if (session.command_line.empty()) return *this;
  return block(0, 0, {}, {}, message([&](pbf_writer& w) { w.add_string(11, session.command_line); }));
}

NcuRepWriter& NcuRepWriter::source(std::uint64_t reference, std::string_view cubin) {
  return block(1, 0, {message([&](pbf_writer& w) {
                 w.add_uint64(1, reference);
                 w.add_bytes(4, cubin.data(), cubin.size());
                 w.add_uint64(5, 9);
                 w.add_uint64(6, 9U << 16U);
                 w.add_uint64(7, 0);
               })});
}

std::uint64_t NcuRepWriter::id_of(const std::string& name, std::vector<std::string>& new_names) {
  const auto [it, fresh] = ids_.try_emplace(name, ids_.size());
  if (fresh) new_names.push_back(name);
  return it->second;
}

std::string NcuRepWriter::encode(const ReportResult& result, std::vector<std::string>& new_names) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, result.thread);
    w.add_uint64(2, 100);
    w.add_uint64(3, 0);
    w.add_uint64(4, 0);
    w.add_string(5, result.mangled);
    w.add_string(6, result.function);
    w.add_string(7, result.demangled);
    w.add_uint64(8, 3);
    w.add_message(9, encode_dim3({}));
    w.add_message(10, encode_dim3(result.grid));
    w.add_message(11, encode_dim3(result.block));
    for (const auto& metric : result.metrics) w.add_message(13, encode_metric(metric, id_of(metric.name, new_names)));
    encode_tail(w, result);
  });
}

NcuRepWriter& NcuRepWriter::result(const ReportResult& result, Names names) {
  std::vector<std::string> fresh;
  const auto entry = encode(result, fresh);
  if (names == Names::with_result) return block(0, 1, {entry}, fresh);
  if (names == Names::never) return block(0, 1, {entry});
  const auto half = static_cast<std::ptrdiff_t>(names == Names::two_pieces ? fresh.size() / 2 : 0);
  block(0, 1, {entry}, {fresh.begin(), fresh.begin() + half});
  return block(0, 0, {}, {fresh.begin() + half, fresh.end()});
}

NcuRepWriter& NcuRepWriter::strings(const std::vector<std::string>& names) {
  for (const auto& name : names) ids_.try_emplace(name, ids_.size());
  return block(0, 0, {}, names);
}

NcuRepWriter& NcuRepWriter::extra_entry(std::string_view entry) { return block(0, 0, {std::string(entry)}); }

void NcuRepWriter::save(const std::filesystem::path& path) const {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace roofline::testing
