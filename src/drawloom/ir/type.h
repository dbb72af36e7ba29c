#pragma once
/// Value types of the IR.

#include <cstdint>
#include <string>
#include <string_view>

namespace drawloom {

/// index is the type of Var, RVar and every subscript: 64-bit in meaning and never overflowing (sizes are checked
/// at the call). It is apart from int64 so that data arithmetic wraps and index arithmetic need not.
enum class TypeCode : uint8_t { Int, UInt, Float, BFloat, Index };

/// Lanes of one vector. LLVM splits wide ones; this only bounds the code of a single operation.
inline constexpr int kMaxLanes = 256;

/// Code, bits of one lane, and lanes. bool is uint of 1 bit. An index has 64 bits.
struct Type {
  TypeCode code = TypeCode::Int;
  uint8_t bits = 32;
  uint16_t lanes = 1;

  constexpr auto with_lanes(int n) const -> Type { return {code, bits, static_cast<uint16_t>(n)}; }
  constexpr auto element() const -> Type { return with_lanes(1); }
  constexpr auto bytes() const -> int { return (bits + 7) / 8; }  ///< of one lane in memory
  constexpr auto is_bool() const -> bool { return code == TypeCode::UInt && bits == 1; }
  constexpr auto is_float() const -> bool { return code == TypeCode::Float || code == TypeCode::BFloat; }
  constexpr auto is_int() const -> bool { return code == TypeCode::Int; }
  constexpr auto is_uint() const -> bool { return code == TypeCode::UInt; }
  constexpr auto is_index() const -> bool { return code == TypeCode::Index; }
  constexpr auto is_scalar() const -> bool { return lanes == 1; }
  /// Data integers: they wrap at their width. Excludes index.
  constexpr auto is_data_int() const -> bool { return is_int() || is_uint(); }
  friend constexpr auto operator==(const Type&, const Type&) -> bool = default;

  /// `i8 u16 f32 bool index f32x8`.
  auto text() const -> std::string;
};

constexpr auto int_type(int bits) -> Type { return {TypeCode::Int, static_cast<uint8_t>(bits), 1}; }
constexpr auto uint_type(int bits) -> Type { return {TypeCode::UInt, static_cast<uint8_t>(bits), 1}; }
constexpr auto float_type(int bits) -> Type { return {TypeCode::Float, static_cast<uint8_t>(bits), 1}; }
inline constexpr Type kBool{TypeCode::UInt, 1, 1};
inline constexpr Type kIndex{TypeCode::Index, 64, 1};

/// Reads the text form; false when `text` is no type.
auto parse_type(std::string_view text, Type& out) -> bool;

}  // namespace drawloom
