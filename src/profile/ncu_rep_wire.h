// Protobuf messages of a report, read in place.
#pragma once

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "profile/reader.h"

namespace roofline::ncu_rep {

// One message. A thin layer over protozero that checks wire types (protozero only asserts them) and turns every fault
// into an InputError with the offset in the file. Accessors may be called once per field; a field nobody reads is
// skipped without touching its bytes.
class Message {
 public:
  // `bytes` must lie inside the input.
  Message(std::string_view bytes, const Input& input) : reader_(bytes.data(), bytes.size()), input_(&input) {}

  bool next() {
    if (pending_) skip();
    try {
      pending_ = reader_.next();
    } catch (const protozero::exception& fault) {
      fail(fault);
    }
    return pending_;
  }

  std::uint32_t field() const { return reader_.tag(); }
  bool is_bytes() const { return reader_.wire_type() == protozero::pbf_wire_type::length_delimited; }
  bool is_varint() const { return reader_.wire_type() == protozero::pbf_wire_type::varint; }

  std::uint64_t varint() {
    expect(protozero::pbf_wire_type::varint);
    try {
      return reader_.get_uint64();
    } catch (const protozero::exception& fault) {
      fail(fault);
    }
  }
  std::string_view bytes() {
    expect(protozero::pbf_wire_type::length_delimited);
    try {
      const auto view = reader_.get_view();
      return {view.data(), view.size()};
    } catch (const protozero::exception& fault) {
      fail(fault);
    }
  }
  double fixed64() {
    expect(protozero::pbf_wire_type::fixed64);
    try {
      return reader_.get_double();
    } catch (const protozero::exception& fault) {
      fail(fault);
    }
  }
  float fixed32() {
    expect(protozero::pbf_wire_type::fixed32);
    try {
      return reader_.get_float();
    } catch (const protozero::exception& fault) {
      fail(fault);
    }
  }
  Message message() {
    const auto inner = bytes();
    return {inner, *input_};
  }

  // Where the next unread byte lies in the file.
  std::uint64_t offset() const { return static_cast<std::uint64_t>(reader_.data().data() - input_->text().data()); }
  std::string_view rest() const { return {reader_.data().data(), reader_.data().size()}; }
  const Input& input() const { return *input_; }

 private:
  void skip() {
    pending_ = false;
    try {
      reader_.skip();
    } catch (const protozero::exception& fault) {
      fail(fault);
    }
  }
  void expect(protozero::pbf_wire_type wanted) {
    if (reader_.wire_type() != wanted) fail_type(wanted);
    pending_ = false;
  }
  [[noreturn]] void fail(const protozero::exception& fault) const;
  [[noreturn]] void fail_type(protozero::pbf_wire_type wanted) const;

  protozero::pbf_reader reader_;
  const Input* input_;
  bool pending_ = false;  // a field was announced and not yet read
};

// Text from a report as valid UTF-8: bytes that are not become U+FFFD. `scratch` holds the repaired copy, if any.
std::string_view valid_utf8(std::string_view text, std::string& scratch);

}  // namespace roofline::ncu_rep
