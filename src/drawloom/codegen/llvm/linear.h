#pragma once
/// Index arithmetic as sums, ordered by how often their parts change. Internal to codegen/llvm.
///
/// `base + 32 * x + (y + 1 - min) * stride` is written as ((base + (1 - min) * stride) + y * stride) + 32 * x, so that
/// all but the last sum leaves the loop over x, neighbours in y share the last sum as an offset, and neighbours in x
/// differ by a constant that fits into the instruction. Index arithmetic never overflows, so any order will do. LLVM's
/// own pass for this (loop strength reduction) searches for half of the compile time and finds less: it does not know
/// the loops of strides.

#include <cstdint>
#include <vector>

namespace llvm {
class Value;
}

namespace drawloom::codegen {

/// value * times. `depth`: how many of the function's loops enclose what the value depends on.
struct Term {
  llvm::Value* value = nullptr;
  int64_t times = 1;
  int depth = 0;
};

/// constant + the sum of terms, which have values and non-zero factors of their own, by rising depth.
class Linear {
 public:
  Linear() = default;
  explicit Linear(int64_t constant) : constant_(constant) {}
  explicit Linear(Term t) { add(t); }

  auto constant() const -> int64_t { return constant_; }
  auto terms() const -> const std::vector<Term>& { return terms_; }
  auto is_constant() const -> bool { return terms_.empty(); }

  auto plus(const Linear& other, int64_t times = 1) const -> Linear;
  auto plus(int64_t constant) const -> Linear { return plus(Linear(constant)); }
  auto scaled(int64_t times) const -> Linear { return Linear().plus(*this, times); }

  /// Its parts of one depth each, by rising depth; the constant belongs to depth 0.
  auto by_depth() const -> std::vector<Linear>;
  /// The depth of the last term, 0 if there is none.
  auto depth() const -> int { return terms_.empty() ? 0 : terms_.back().depth; }

 private:
  void add(Term t);

  int64_t constant_ = 0;
  std::vector<Term> terms_;
};

}  // namespace drawloom::codegen
