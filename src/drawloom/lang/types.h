#pragma once
/// Types as users write them.

#include "drawloom/ir/type.h"

namespace drawloom {

constexpr auto Int(int bits) -> Type { return int_type(bits); }
constexpr auto UInt(int bits) -> Type { return uint_type(bits); }
constexpr auto Float(int bits) -> Type { return float_type(bits); }
constexpr auto Bool() -> Type { return kBool; }

/// The type of a C++ scalar: `type_of<uint16_t>()` is `UInt(16)`.
template <typename T>
constexpr auto type_of() -> Type {
  constexpr int bits = static_cast<int>(sizeof(T)) * 8;
  if constexpr (__is_same(T, bool)) {
    return kBool;
  } else if constexpr (__is_same(T, float) || __is_same(T, double)) {
    return float_type(bits);
  } else if constexpr (static_cast<T>(-1) < static_cast<T>(0)) {
    return int_type(bits);
  } else {
    return uint_type(bits);
  }
}

}  // namespace drawloom
