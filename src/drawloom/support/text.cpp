#include "drawloom/support/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "drawloom/support/loc.h"

namespace drawloom {

auto to_text(double v) -> std::string {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buf[40];
  const auto end = std::to_chars(buf, buf + sizeof buf, v).ptr;
  std::string s(buf, end);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

auto format_pieces(std::string_view pattern, const std::string* args, size_t n) -> std::string {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char after = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if ((c == '{' || c == '}') && after == c) {
      out += c, ++i;
    } else if (c == '{' && after == '}') {
      out += next < n ? args[next] : "{?}";
      ++next, ++i;
    } else if (c == '{' && after >= '0' && after <= '9' && i + 2 < pattern.size() && pattern[i + 2] == '}') {
      const size_t k = static_cast<size_t>(after - '0');
      out += k < n ? args[k] : "{?}";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

auto join(const std::vector<std::string>& parts, std::string_view separator) -> std::string {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) out += separator;
    out += parts[i];
  }
  return out;
}

auto split_text(std::string_view text, char separator) -> std::vector<std::string> {
  std::vector<std::string> out;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    out.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return out;
    start = end + 1;
  }
}

auto trim(std::string_view text) -> std::string_view {
  const auto blank = " \t\r\n";
  const size_t a = text.find_first_not_of(blank);
  if (a == std::string_view::npos) return {};
  return text.substr(a, text.find_last_not_of(blank) - a + 1);
}

auto edit_distance(std::string_view a, std::string_view b) -> int {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

auto nearest(std::string_view word, const std::vector<std::string>& candidates) -> std::string {
  std::string best;
  // A word that shares no letter is no suggestion.
  int best_distance = static_cast<int>(std::min(std::max<size_t>(word.size() / 3, 1) + 1, word.size()));
  for (const auto& c : candidates) {
    const int d = edit_distance(word, c);
    if (d < best_distance) best = c, best_distance = d;
  }
  return best;
}

auto Loc::text() const -> std::string {
  return known() ? str("{}:{}:{}", file(), line_, column_) : std::string("<unknown>");
}

}  // namespace drawloom
