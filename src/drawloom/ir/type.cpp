#include "drawloom/ir/type.h"

#include <charconv>

#include "drawloom/support/text.h"

namespace drawloom {
namespace {

auto element_text(Type t) -> std::string {
  switch (t.code) {
    case TypeCode::Int: return str("i{}", t.bits);
    case TypeCode::UInt: return t.is_bool() ? "bool" : str("u{}", t.bits);
    case TypeCode::Float: return str("f{}", t.bits);
    case TypeCode::BFloat: return str("bf{}", t.bits);
    case TypeCode::Index: return "index";
  }
  return "?";
}

constexpr std::pair<std::string_view, Type> kElements[] = {
    {"i8", int_type(8)},     {"i16", int_type(16)},   {"i32", int_type(32)},   {"i64", int_type(64)},
    {"u8", uint_type(8)},    {"u16", uint_type(16)},  {"u32", uint_type(32)},  {"u64", uint_type(64)},
    {"f16", float_type(16)}, {"f32", float_type(32)}, {"f64", float_type(64)}, {"bf16", {TypeCode::BFloat, 16, 1}},
    {"bool", kBool},         {"index", kIndex},
};

}  // namespace

auto Type::text() const -> std::string {
  return lanes == 1 ? element_text(*this) : str("{}x{}", element_text(*this), lanes);
}

auto parse_type(std::string_view text, Type& out) -> bool {
  for (const auto& [name, type] : kElements) {
    if (!text.starts_with(name)) continue;
    const auto rest = text.substr(name.size());
    if (rest.empty()) return out = type, true;
    // "index" ends in x: the lanes start after the next one.
    if (rest[0] != 'x' || rest.size() < 2 || rest[1] == '0') continue;
    uint16_t lanes = 0;
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), lanes);
    if (error != std::errc() || end != rest.data() + rest.size() || lanes < 2) return false;
    return out = type.with_lanes(lanes), true;
  }
  return false;
}

}  // namespace drawloom
