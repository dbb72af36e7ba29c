#pragma once
/// The rewrite rules of the simplifier, as data.
///
/// A row says: where the left side matches (and the guard agrees), the right side has the same value. Both are ordinary expressions whose leaves are
/// wildcards: x y z stand for any expression, p q for any bool, c0 c1 c2 for any constant; a wildcard that occurs twice stands for equal expressions.
/// Element type i32 (f32 in rows for floats) means "the type T of the rule", one of `types`; bool is bool. In a row without vectors scalars mean "any number of lanes";
/// in a row with vectors, vectors mean the lanes of the root and scalars are scalars. On the right, operations on constants are folded; a fold that is
/// not possible (an index that would overflow) means that the rule does not apply.

#include <span>
#include <vector>

#include "drawloom/ir/build.h"

namespace drawloom {

/// Which element types a rule holds for.
enum TypeSet : uint8_t {
  kIndices = 1,
  kSigned = 2,
  kUnsigned = 4,
  kBools = 8,
  kFloats = 16,
  kData = kSigned | kUnsigned,
  kIntegers = kData | kIndices
};
auto in_set(TypeSet set, Type t) -> bool;

/// What the wildcards of a row stand for.
struct Bindings {
  static constexpr int kWildcards = 8;
  Expr bound[kWildcards];  ///< by Wildcard
  Type type;               ///< T, scalar
  int lanes = 0;           ///< of the root
  Loc loc;                 ///< of the root, for what replaces it
};
enum class Wildcard : uint8_t { x, y, z, p, q, c0, c1, c2 };

/// The constants of a match, for guards.
struct Constants {
  Type type;
  int64_t c0 = 0, c1 = 0, c2 = 0;  ///< integers
  double f0 = 0, f1 = 0, f2 = 0;   ///< floats
  /// c > 0 and `a` is a multiple of it.
  auto divides(int64_t c, int64_t a) const -> bool;
  static auto is_power_of_two(int64_t c) -> bool { return c > 0 && (c & (c - 1)) == 0; }
  /// a * b, both positive, is a value of the type.
  auto product_fits(int64_t a, int64_t b) const -> bool;
  auto least() const -> int64_t;  ///< of the type (data integers)
  auto greatest() const -> int64_t;
  auto is_least(int64_t c) const -> bool { return !type.is_index() && c == least(); }
  auto is_greatest(int64_t c) const -> bool { return !type.is_index() && c == greatest(); }
  auto below(int64_t a, int64_t b) const -> bool;  ///< a < b in the order of the type
  auto positive(int64_t c) const -> bool { return below(0, c); }
};
using Guard = bool (*)(const Constants&);

struct Rule {
  const char* name;
  TypeSet types;
  Expr left, right;
  Guard guard = nullptr;
};

/// One table per file rules_*.cpp.
auto int_rules() -> std::span<const Rule>;
auto divide_rules() -> std::span<const Rule>;
auto compare_rules() -> std::span<const Rule>;
auto bool_rules() -> std::span<const Rule>;
auto float_rules() -> std::span<const Rule>;
auto select_rules() -> std::span<const Rule>;
auto vector_rules() -> std::span<const Rule>;
/// All of them, in the order in which they are tried.
auto all_rules() -> std::vector<const Rule*>;

/// Lanes that vectors have in rows.
inline constexpr int kRowLanes = 4;
/// The wildcard that a variable of a row is.
inline auto wildcard_of(const Symbol& s) -> Wildcard { return static_cast<Wildcard>(*s.min); }
inline auto is_constant_wildcard(Wildcard w) -> bool { return w >= Wildcard::c0; }

/// Matches `e` against the left side; operands of commutative operators in either order.
auto match(const Rule& rule, const Expr& e, Bindings& out) -> bool;
/// The constants that were bound.
auto constants_of(const Bindings& b) -> Constants;
/// The left or right side with everything filled in; `finish` is called on each node made, operands before users. Undefined when a constant operation
/// does not fold.
template <typename Finish>
auto instantiate(const Rule& rule, const Expr& side, const Bindings& b, const Finish& finish) -> Expr;

}  // namespace drawloom

#include "drawloom/analysis/rules_inl.h"
