#include "report/text.h"

#include <algorithm>
#include <array>

#include "report/unicode_width.h"
#include "roofline/document.h"

namespace roofline {
namespace text {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Lead {
  std::size_t size;  // of the whole sequence
  unsigned char second_low, second_high;
};

// Well-formed byte sequences: The Unicode Standard, table 3-7.
Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

template <std::size_t N>
bool contains(const std::array<CodeRange, N>& ranges, char32_t c) {
  const auto it =
      std::upper_bound(ranges.begin(), ranges.end(), c, [](char32_t v, const CodeRange& r) { return v < r.first; });
  return it != ranges.begin() && c <= std::prev(it)->last;
}

bool within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

// Characters that reorder what stands around them.
bool is_direction(char32_t c) {
  return c == 0x61C || within(c, 0x200E, 0x200F) || within(c, 0x202A, 0x202E) || within(c, 0x2066, 0x2069);
}

bool is_space(char32_t c) { return within(c, '\t', '\r') || c == 0x85 || within(c, 0x2028, 0x2029); }

// Joiners, variation selectors, tags: terminals disagree on their effect on width.
bool is_invisible(char32_t c) {
  return within(c, 0x200B, 0x200D) || within(c, 0x2060, 0x206F) || c == 0xFEFF || within(c, 0xFE00, 0xFE0F) ||
         within(c, 0xE0000, 0xE0FFF);
}

struct Spelling {
  char32_t sign;
  std::string_view ascii;
};
constexpr std::array<Spelling, 12> kSpellings = {{{U'≥', ">="},
                                                  {U'≤', "<="},
                                                  {U'—', "-"},
                                                  {U'–', "-"},
                                                  {U'…', "..."},
                                                  {U'←', "<-"},
                                                  {U'µ', "u"},
                                                  {U'·', "|"},
                                                  {U'×', "x"},
                                                  {U'─', "-"},
                                                  {U'“', "\""},
                                                  {U'”', "\""}}};

void append_ascii(char32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const auto* it = std::find_if(kSpellings.begin(), kSpellings.end(), [&](const auto& s) { return s.sign == c; });
  if (it != kSpellings.end())
    out += it->ascii;
  else if (width(c) > 0)
    out += '?';
}

// Bytes of `s` from `at` on that fit into `columns`, at least one code point.
std::size_t fitting_prefix(std::string_view s, std::size_t columns) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < s.size()) {
    const auto c = decode(s, at);
    used += width(c.value);
    if (used > columns && at > 0) break;
    at += c.size;
  }
  return at;
}

}  // namespace

CodePoint decode(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const auto first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const auto lead = lead_of(first);
  if (lead.size == 0) return {kReplacement, 1, false};
  char32_t value = first & (0xFFU >> (lead.size + 1));
  for (std::size_t i = 1; i < lead.size; ++i) {
    const auto low = i == 1 ? lead.second_low : 0x80;
    const auto high = i == 1 ? lead.second_high : 0xBF;
    if (at + i >= s.size() || byte(at + i) < low || byte(at + i) > high) return {kReplacement, i, false};
    value = (value << 6) | (byte(at + i) & 0x3FU);
  }
  return {value, lead.size, true};
}

void encode(char32_t c, std::string& out) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_control(char32_t c) { return c < 0x20 || within(c, 0x7F, 0x9F); }

std::size_t width(char32_t c) {
  if (c < 0x300) return 1;
  if (contains(kZeroWidth, c)) return 0;
  return contains(kDoubleWidth, c) ? 2 : 1;
}

std::string valid_utf8(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t at = 0; at < s.size();) {
    const auto c = decode(s, at);
    if (c.valid)
      out += s.substr(at, c.size);
    else
      encode(kReplacement, out);
    at += c.size;
  }
  return out;
}

std::string printable(std::string_view s, bool unicode) {
  constexpr std::size_t kMostMarks = 3;  // on one character: more would cover the lines around it
  std::string out;
  out.reserve(s.size());
  std::size_t marks = 0;
  for (std::size_t at = 0; at < s.size();) {
    const auto c = decode(s, at);
    at += c.size;
    if (is_invisible(c.value) && !is_direction(c.value)) continue;
    marks = width(c.value) == 0 ? marks + 1 : 0;
    if (marks > kMostMarks) continue;
    char32_t shown = c.value;
    if (is_space(shown))
      shown = ' ';
    else if (is_control(shown) || is_direction(shown))
      shown = kReplacement;
    if (unicode)
      encode(shown, out);
    else
      append_ascii(shown, out);
  }
  return out;
}

std::vector<std::string> wrap(std::string_view s, std::size_t columns) {
  if (columns == 0) return {std::string(s)};
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  while (!s.empty()) {
    const auto end = s.find(' ');
    auto word = s.substr(0, end);
    s = end == std::string_view::npos ? std::string_view() : s.substr(end + 1);
    if (word.empty()) continue;
    if (used > 0 && used + 1 + display_width(word) > columns) {
      lines.emplace_back();
      used = 0;
    }
    while (used == 0 && display_width(word) > columns) {
      const auto cut = fitting_prefix(word, columns);
      lines.back() = word.substr(0, cut);
      word.remove_prefix(cut);
      lines.emplace_back();
    }
    if (used > 0) lines.back() += ' ';
    lines.back() += word;
    used = display_width(lines.back());
  }
  if (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace text

std::size_t display_width(std::string_view s) {
  std::size_t total = 0;
  for (std::size_t at = 0; at < s.size();) {
    const auto c = text::decode(s, at);
    total += text::width(c.value);
    at += c.size;
  }
  return total;
}

namespace {

struct Glyph {
  std::size_t begin, end, width;
};

// Code points with the marks that combine with them, so that a cut never parts them.
std::vector<Glyph> glyphs_of(std::string_view s) {
  std::vector<Glyph> glyphs;
  for (std::size_t at = 0; at < s.size();) {
    const auto c = text::decode(s, at);
    const auto w = text::width(c.value);
    if (w == 0 && !glyphs.empty())
      glyphs.back().end = at + c.size;
    else
      glyphs.push_back({at, at + c.size, w});
    at += c.size;
  }
  return glyphs;
}

}  // namespace

std::string text::cut_end(std::string_view s, std::size_t width, bool unicode) {
  if (display_width(s) <= width) return std::string(s);
  const std::string_view mark = unicode ? "…" : "...";
  const std::size_t room = width - std::min(width, display_width(mark));
  const auto first = s.substr(0, s.find(", "));
  if (const auto wide = display_width(first); wide > room && wide <= width) return std::string(first);
  std::size_t used = 0;
  std::size_t end = 0;
  for (const auto& glyph : glyphs_of(s)) {
    if (used + glyph.width > room) break;
    used += glyph.width;
    end = glyph.end;
  }
  auto head = s.substr(0, end);
  const auto blank = s[end] == ' ' ? end : head.rfind(' ');
  if (blank != std::string_view::npos && 2 * blank >= end) head = head.substr(0, blank);
  while (!head.empty() && (head.back() == ' ' || head.back() == ',')) head.remove_suffix(1);
  return head.empty() && room == 0 ? std::string(width, '.') : std::string(head) + std::string(mark);
}

std::string cut_middle(std::string_view s, std::size_t width, bool unicode) {
  if (display_width(s) <= width) return std::string(s);
  const std::string_view mark = unicode ? "…" : "...";
  const std::size_t mark_width = unicode ? 1 : 3;
  if (width < mark_width) return std::string(width, '.');
  const auto glyphs = glyphs_of(s);
  std::size_t head = 0;
  std::size_t used = mark_width;
  const std::size_t head_goal = mark_width + (width - mark_width + 1) / 2;
  while (head < glyphs.size() && used + glyphs[head].width <= head_goal) used += glyphs[head++].width;
  std::size_t tail = glyphs.size();
  while (tail > head && used + glyphs[tail - 1].width <= width) used += glyphs[--tail].width;
  std::string out(s.substr(0, head == 0 ? 0 : glyphs[head - 1].end));
  out += mark;
  if (tail < glyphs.size()) out += s.substr(glyphs[tail].begin);
  return out;
}

}  // namespace roofline
