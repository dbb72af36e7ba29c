#pragma once
/// One operation as a program over arrays, its inputs, and the comparison of its results.

#include <cstring>

#include "drawloom/ir/build.h"
#include "drawloom/support/hash.h"
#include "jit_text.h"
#include "scalar_reference.h"

namespace drawloom {

inline constexpr int kCount = 672;  ///< elements: a multiple of 1, 4, 7, 8, 16 and 32
inline constexpr int kLanes[] = {1, 4, 7, 8, 16, 32};

template <typename T>
auto ir_type() -> Type {
  if (std::is_same_v<T, bool>) return kBool;
  if (std::is_floating_point_v<T>) return float_type(sizeof(T) * 8);
  return std::is_signed_v<T> ? int_type(sizeof(T) * 8) : uint_type(sizeof(T) * 8);
}

/// Builds one operation from its operands.
using Maker = Expr (*)(int op, const ExprList& operands);
struct Build {
  Maker make;
  int op = 0;  ///< the operator, as its number
};

/// Element k * kCount + i of the output is operation k of element i of each input, in vectors of `lanes`.
inline auto map_program(const std::string& name, const std::vector<Type>& inputs, Type result, int lanes,
                        const std::vector<Build>& operations) -> Program {
  Program p;
  p.flat_storage = true;
  p.name = name;
  const SymbolRef i = make_symbol(SymbolKind::Loop, "i");
  auto at = [&](int64_t offset) {
    const Expr first = binary(BinaryOp::Add, binary(BinaryOp::Mul, var_ref(i), index_imm(lanes)), index_imm(offset));
    return lanes == 1 ? first : ramp(first, index_imm(1), lanes);
  };
  ExprList values;
  for (size_t k = 0; k < inputs.size(); k++) {
    const BufferRef b = make_buffer(str("in{}", k), inputs[k], 1, MemoryKind::Argument);
    p.arguments.push_back(BufferArgument{b, ArgumentRole::Input});
    values.push_back(load(b, {at(0)}));
  }
  const BufferRef out = make_buffer("out", result, 1, MemoryKind::Argument);
  p.arguments.push_back(BufferArgument{out, ArgumentRole::Output});
  StmtList stores;
  for (size_t k = 0; k < operations.size(); k++) {
    stores.push_back(store(out, {at(static_cast<int64_t>(k) * kCount)}, operations[k].make(operations[k].op, values)));
  }
  p.body = make_for(i, index_imm(0), index_imm(kCount / lanes), ForKind::Serial, make_block(stores));
  return p;
}

/// Edge values first, then random ones of every magnitude.
template <typename T>
auto edge_values() -> std::vector<T> {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {T(0),
            T(-0.0),
            T(1),
            T(-1),
            T(0.5),
            T(-0.5),
            T(1.5),
            T(2.5),
            T(-2.5),
            T(3.25),
            T(1e-3),
            T(127.5),
            T(-128.9),
            T(255.9),
            T(65535.5),
            T(-32768.5),
            T(2147483520),
            T(2147483648),
            T(-2147483648.0),
            T(4294967040),
            T(4294967296),
            T(9.2233720e18),
            T(-9.3e18),
            T(1.8446744e19),
            T(1e30),
            L::max(),
            L::lowest(),
            L::min(),
            L::denorm_min(),
            L::infinity(),
            -L::infinity(),
            L::quiet_NaN()};
  } else {
    return {T(0),
            T(1),
            T(2),
            T(3),
            T(7),
            T(8),
            T(10),
            T(15),
            T(16),
            T(31),
            T(33),
            T(64),
            T(100),
            T(-1),
            T(-2),
            T(-3),
            T(-7),
            T(-8),
            T(-33),
            T(-64),
            L::min(),
            T(L::min() + 1),
            L::max(),
            T(L::max() - 1),
            T(L::max() / 2 + 1)};
  }
}

template <typename T>
auto random_value(CounterRandom& random) -> T {
  const uint64_t bits = random.next();
  if constexpr (std::is_same_v<T, bool>) {
    return bits & 1;
  } else if constexpr (std::is_floating_point_v<T>) {
    const T mantissa = T(bits >> 11) / T(uint64_t(1) << 53) + T(0.5);
    return std::ldexp(bits & 1 ? -mantissa : mantissa, int(random.uniform(-20, 70)));
  } else {
    return T(bits >> random.uniform(0, kCount) % (sizeof(T) * 8));
  }
}

/// Fills `a` and `b` with all pairs of edges (as many as fit into two thirds), then random values.
template <typename T>
void fill_pairs(Array<T>& a, Array<T>& b, uint64_t seed) {
  CounterRandom random(seed);
  const std::vector<T> edges = edge_values<T>();
  const size_t pairs = edges.size() * edges.size(), room = kCount * 2 / 3;
  for (size_t i = 0; i < kCount; i++) {
    const size_t pair = pairs <= room ? i : random.next() % pairs;
    const bool edge = i < std::min(pairs, room);
    a[i] = edge ? edges[pair / edges.size()] : random_value<T>(random);
    b[i] = edge ? edges[pair % edges.size()] : random_value<T>(random);
  }
}

/// Equal bits; any NaN equals any NaN.
template <typename T>
auto same(T a, T b) -> bool {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a && b != b) return true;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace drawloom
