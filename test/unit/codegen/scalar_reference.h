#pragma once
/// What ir/ops.def says, written once more in plain C++: numbers of 128 bits for integers, the host's libm and
/// round-to-nearest arithmetic for floats. Knows nothing of the compiler.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace drawloom::reference {

using Wide = __int128;

template <typename T>
inline constexpr int kBits = sizeof(T) * 8;
template <typename T>
inline constexpr bool kFloat = std::is_floating_point_v<T>;

template <typename T>
auto wrap(Wide v) -> T {
  return static_cast<T>(static_cast<unsigned __int128>(v));
}

template <typename T>
auto add(T a, T b) -> T {
  if constexpr (kFloat<T>)
    return a + b;
  else
    return wrap<T>(Wide(a) + b);
}
template <typename T>
auto sub(T a, T b) -> T {
  if constexpr (kFloat<T>)
    return a - b;
  else
    return wrap<T>(Wide(a) - b);
}
template <typename T>
auto mul(T a, T b) -> T {
  if constexpr (kFloat<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
}

/// The remainder is in [0, |b|).
template <typename T>
auto mod(T a, T b) -> T {
  if constexpr (kFloat<T>) {
    return a - b * std::floor(a / b);
  } else {
    if (b == 0) return 0;
    Wide r = Wide(a) % Wide(b);
    if (r < 0) r += b < 0 ? -Wide(b) : Wide(b);
    return wrap<T>(r);
  }
}
template <typename T>
auto div(T a, T b) -> T {
  if constexpr (kFloat<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    Wide r = Wide(a) % Wide(b);
    if (r < 0) r += b < 0 ? -Wide(b) : Wide(b);
    return wrap<T>((Wide(a) - r) / Wide(b));
  }
}

template <typename T>
auto min(T a, T b) -> T {
  return a < b ? a : b;
}
template <typename T>
auto max(T a, T b) -> T {
  return a > b ? a : b;
}

template <typename T>
auto shift_left(Wide a, Wide n) -> T;
template <typename T>
auto shift_right(Wide a, Wide n) -> T {
  if (n < 0) return shift_left<T>(a, -n);
  if (n >= kBits<T>) return a < 0 ? wrap<T>(-1) : T(0);
  return wrap<T>(a >> int(n));
}
template <typename T>
auto shift_left(Wide a, Wide n) -> T {
  if (n < 0) return shift_right<T>(a, -n);
  if (n >= kBits<T>) return 0;
  return wrap<T>(a * (Wide(1) << int(n)));
}
template <typename T>
auto shl(T a, T n) -> T {
  return shift_left<T>(a, n);
}
template <typename T>
auto shr(T a, T n) -> T {
  return shift_right<T>(a, n);
}

template <typename T>
auto bit_and(T a, T b) -> T {
  return static_cast<T>(a & b);
}
template <typename T>
auto bit_or(T a, T b) -> T {
  return static_cast<T>(a | b);
}
template <typename T>
auto bit_xor(T a, T b) -> T {
  return static_cast<T>(a ^ b);
}

template <typename T>
auto neg(T a) -> T {
  if constexpr (kFloat<T>)
    return -a;
  else
    return wrap<T>(-Wide(a));
}

/// The type of |a|.
template <typename T, bool = std::is_integral_v<T>>
struct Magnitude {
  using type = T;
};
template <typename T>
struct Magnitude<T, true> {
  using type = std::make_unsigned_t<T>;
};

template <typename T>
auto abs(T a) -> typename Magnitude<T>::type {
  if constexpr (kFloat<T>)
    return std::fabs(a);
  else
    return wrap<typename Magnitude<T>::type>(a < 0 ? -Wide(a) : Wide(a));
}
template <typename T>
auto absd(T a, T b) -> typename Magnitude<T>::type {
  if constexpr (kFloat<T>)
    return std::fabs(a - b);
  else
    return wrap<typename Magnitude<T>::type>(a < b ? Wide(b) - a : Wide(a) - b);
}

/// From T to R. A NaN to an integer may give anything: the caller leaves it out.
template <typename R, typename T>
auto convert(T v) -> R {
  if constexpr (std::is_same_v<R, bool>) {
    return v != 0;
  } else if constexpr (kFloat<T> && !kFloat<R>) {
    // The bounds as long double are exact for every type here.
    const long double t = std::trunc(static_cast<long double>(v));
    if (t <= static_cast<long double>(std::numeric_limits<R>::min())) return std::numeric_limits<R>::min();
    if (t >= static_cast<long double>(std::numeric_limits<R>::max())) return std::numeric_limits<R>::max();
    return static_cast<R>(t);
  } else {
    return static_cast<R>(v);
  }
}

}  // namespace drawloom::reference
