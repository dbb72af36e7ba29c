#pragma once
/// Text building. `str("{} of {}", a, b)` replaces each `{}` in turn; `{{` and `}}` are literal braces.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drawloom {

inline auto to_text(std::string_view s) -> std::string { return std::string(s); }
inline auto to_text(const std::string& s) -> std::string { return s; }
inline auto to_text(const char* s) -> std::string { return s; }
inline auto to_text(bool b) -> std::string { return b ? "true" : "false"; }
inline auto to_text(char c) -> std::string { return std::string(1, c); }
template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>)
auto to_text(T v) -> std::string {
  return std::to_string(v);
}
/// Shortest decimal text that reads back to the same double (`0.1`, `1e+30`, `inf`, `nan`); always marked as
/// floating: `2` prints as `2.0`.
auto to_text(double v) -> std::string;
template <typename T>
  requires requires(const T& t) {
    { t.text() } -> std::convertible_to<std::string>;
  }
auto to_text(const T& v) -> std::string {
  return v.text();
}

auto format_pieces(std::string_view pattern, const std::string* args, size_t n) -> std::string;

template <typename... Args>
auto str(std::string_view pattern, const Args&... args) -> std::string {
  const std::string texts[sizeof...(Args) + 1] = {to_text(args)..., std::string()};
  return format_pieces(pattern, texts, sizeof...(Args));
}

auto join(const std::vector<std::string>& parts, std::string_view separator) -> std::string;
auto split_text(std::string_view text, char separator) -> std::vector<std::string>;
auto trim(std::string_view text) -> std::string_view;
/// Number of single-character edits between two words, for "did you mean".
auto edit_distance(std::string_view a, std::string_view b) -> int;
/// The candidate nearest to `word`, or empty when none is within a third of its length.
auto nearest(std::string_view word, const std::vector<std::string>& candidates) -> std::string;

}  // namespace drawloom
