#pragma once
/// One scalar and the operators of ops.def on it, each written once from its comment there. Oracle and machine share
/// this and nothing else. Built with contraction off: the host forms no fma that was not asked for.

#include <cstdint>
#include <string>

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// A scalar of any type but bfloat. Integers, bool and index are in `i` as IntImm keeps them (below their width
/// unsigned values zero-extended, signed ones sign-extended, u64 by its bits); floats are in `f`, f32 already rounded.
struct Value {
  Type type;
  union {
    int64_t i = 0;
    double f;
  };
  auto text() const -> std::string;
};

auto int_value(Type type, int64_t value) -> Value;   ///< wraps to the width
auto float_value(Type type, double value) -> Value;  ///< rounds to the type
/// An integer in any type, floats included.
auto number_value(Type type, int64_t value) -> Value;
/// Of one type and one value; any NaN is any NaN, 0.0 is not -0.0.
auto same_value(const Value& a, const Value& b) -> bool;

/// `ambiguous` is set, never cleared, when the definition leaves the result open (design section 3): min or max of a
/// NaN or of zeros of different sign, a NaN converted to an integer. The result is then one of those allowed.
auto eval_unary(UnaryOp op, Value a) -> Value;
auto eval_binary(BinaryOp op, Value a, Value b, bool& ambiguous) -> Value;
/// `args`: as many as the intrinsic takes.
auto eval_call(Intrinsic function, const Value* args) -> Value;
auto eval_cast(Type to, Value a, bool& ambiguous) -> Value;

/// The bits of a value as they lie in memory, below its width; of any type, bfloat included.
auto bits_of(const Value& v) -> uint64_t;
/// The inverse; bits above the width are ignored.
auto value_of_bits(Type type, uint64_t bits) -> Value;

}  // namespace drawloom
