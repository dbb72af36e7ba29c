#pragma once
/// The drawing of a random pipeline, for the files that do it: random_pipeline.cpp Funcs and their stages, random_values.cpp expressions,
/// random_accesses.cpp subscripts.

#include "drawloom/ir/build.h"
#include "random_pipeline.h"

namespace drawloom::fuzz {

/// from: never below a first coordinate, where a recurrence starts.
enum class AccessStyle : uint8_t { same, down, up, clamped, modulo, fixed, data, mirrored, from };

struct DimStyle {
  AccessStyle style = AccessStyle::same;
  SymbolRef var;   ///< null: fixed
  SymbolRef more;  ///< an RVar added to it, or null
  int64_t lo = 0, hi = 0;
};

struct Producer {
  int func = -1;  ///< index of a draft, else an input
  int input = -1;
};

/// Element types, more of those people use.
auto random_type(CounterRandom& r) -> Type;

inline auto plus(const Expr& e, int64_t k) -> Expr { return k == 0 ? e : binary(BinaryOp::Add, e, index_imm(k)); }
inline auto clamp_index(const Expr& e, const Expr& lo, const Expr& hi) -> Expr {
  return binary(BinaryOp::Max, binary(BinaryOp::Min, e, hi), lo);
}

class PipelineMaker {
 public:
  PipelineMaker(CounterRandom random, const PipelineShape& shape) : r_(random), shape_(shape) {}
  auto make() -> PipelineRef;

 private:
  struct Input {
    BufferRef buffer;
    bool own_bounds;  ///< every access is clamped to the buffer's own fields
  };

  // random_pipeline.cpp
  void add_input(int i);
  void add_param(std::string name, Type type, int64_t min, int64_t max);
  void add_func(int i, bool last);
  void choose_producers();
  auto unread(int k) const -> bool;
  auto pure_stage(const DraftFunc& f) -> Definition;
  /// f(x, t) = select(t == c, .., .. f(x + 1, t - 1) ..): along t each step is made of earlier ones.
  auto recurrence_stage(DraftFunc& f) -> Definition;
  auto earlier(const DraftFunc& f, const Definition& d, size_t component, int64_t distance) -> Expr;
  auto update_stage(const DraftFunc& f, int stage) -> Definition;
  /// A variable that is not on the left stands nowhere on the right.
  void drop(const SymbolRef& v);
  auto random_domain(int stage, int kind) -> ReductionDomainRef;
  auto domain_extent() -> Expr;
  auto update_value(const DraftFunc& f, const Definition& d, size_t c, int kind, size_t moved) -> Expr;
  auto reduction_op(Type t) -> BinaryOp;
  /// Stands for the Func that is being drawn; close_pipeline finds it by its name.
  auto self_decl(const DraftFunc& f) -> const FuncDecl*;

  // random_values.cpp
  /// Every producer is read at least once.
  auto stage_value(Type t) -> Expr;
  auto value(Type t, int depth) -> Expr;
  auto function(Type t, int depth) -> Expr;
  auto condition(int depth) -> Expr;
  auto data_type() -> Type;
  auto leaf(Type t) -> Expr;
  static auto convert(Type t, const Expr& e) -> Expr;
  auto combine(Type t, const Expr& a, const Expr& b) -> Expr;

  // random_accesses.cpp
  auto read(size_t p) -> Expr;
  auto random_style(size_t d) -> DimStyle;
  /// Of a recurrence: it has no values before its first step.
  auto style_from(size_t d, int64_t first) -> DimStyle;
  auto subscript(const DimStyle& s) -> Expr;
  /// A value of the pipeline as a subscript, clamped into a range.
  auto data_subscript(int64_t lo, int64_t hi) -> Expr;

  CounterRandom r_;
  PipelineShape shape_;
  int rank_ = 2;
  std::vector<Input> inputs_;
  std::vector<SymbolRef> params_;
  std::vector<DraftFunc> funcs_;
  std::vector<Ref<FunctionDef>> decls_;
  std::vector<int> read_;
  // of the stage being drawn
  const DraftFunc* self_ = nullptr;
  std::vector<Producer> producers_;
  std::vector<std::vector<DimStyle>> styles_;
  std::vector<SymbolRef> frame_;  ///< variables that may stand on the right
  bool in_subscript_ = false;
};

}  // namespace drawloom::fuzz
