#pragma once
/// Func: a named function over an integer grid, with one pure definition and ordered updates; and its schedule.

#include <string>
#include <vector>

#include "drawloom/lang/directives.h"
#include "drawloom/lang/operators.h"
#include "drawloom/lang/var.h"

namespace drawloom {

class AnyBuffer;
class ImageParam;
class Realization;

/// Several values at one point: the definition of a Func with as many components.
class Tuple {
 public:
  Tuple(Arg a, Arg b, Arg c = {}, Arg d = {}, Arg e = {}, Arg f = {});
  explicit Tuple(ExprList values) : values_(std::move(values)) {}
  auto size() const -> size_t { return values_.size(); }
  auto operator[](size_t i) const -> const Expr& { return values_.at(i); }
  auto values() const -> const ExprList& { return values_; }

 private:
  ExprList values_;
};

/// One component of a call, `f(x, y)[1]`.
class FuncComponent {
 public:
  FuncComponent(Ref<FunctionDef> def, ExprList args, int component, Loc loc)
      : def_(std::move(def)), args_(std::move(args)), component_(component), loc_(std::move(loc)) {}
  auto to_expr(const Loc&) const -> Expr;
  operator Expr() const { return to_expr(loc_); }

 private:
  Ref<FunctionDef> def_;
  ExprList args_;
  int component_;
  Loc loc_;
};

/// `f(x, y)`: a value where it is read, a definition where it is assigned to. All throw Error; the kinds are those of
/// define.h.
class FuncRef {
 public:
  FuncRef(Ref<FunctionDef> def, ExprList args, Loc loc)
      : def_(std::move(def)), args_(std::move(args)), loc_(std::move(loc)) {}
  FuncRef(const FuncRef&) = default;

  /// The pure definition, or one more update.
  auto operator=(Arg value) -> FuncRef&;
  auto operator=(const FuncRef& value) -> FuncRef&;
  auto operator=(const Tuple& values) -> FuncRef&;
  /// Updates. On a Func without definition they first define it as 0 (1 for *= and /=) with the type of the value.
  auto operator+=(Arg value) -> FuncRef&;
  auto operator-=(Arg value) -> FuncRef&;
  auto operator*=(Arg value) -> FuncRef&;
  auto operator/=(Arg value) -> FuncRef&;

  auto operator[](int component) const -> FuncComponent { return {def_, args_, component, loc_}; }
  auto to_expr(const Loc&) const -> Expr;
  operator Expr() const { return to_expr(loc_); }

 private:
  auto update(BinaryOp op, int identity, const Arg& value) -> FuncRef&;
  Ref<FunctionDef> def_;
  ExprList args_;
  Loc loc_;
};

/// A handle: copies are the same Func. Halide's spelling; what differs is in docs/language.md.
class Func : public FuncDirectives<Func> {
 public:
  /// Without a name it is `f`, made unique in its pipeline (f, f_1, ...).
  explicit Func(const std::source_location& at = std::source_location::current());
  explicit Func(const std::string& name, const std::source_location& at = std::source_location::current());
  /// Declares the type, for a recurrence. `dimensions` -1: any number.
  Func(Type type, int dimensions, const std::string& name,
       const std::source_location& at = std::source_location::current());
  Func(std::vector<Type> types, int dimensions, const std::string& name,
       const std::source_location& at = std::source_location::current());
  /// Of no dimension.
  explicit Func(const Expr& value, const std::source_location& at = std::source_location::current());
  /// The elements of a buffer or an image `in` at the same coordinates; named `in_im`.
  explicit Func(const AnyBuffer& buffer, const std::source_location& at = std::source_location::current());
  explicit Func(const ImageParam& image, const std::source_location& at = std::source_location::current());
  explicit Func(Ref<FunctionDef> def) : def_(std::move(def)) {}

  auto operator()(const std::source_location& at = std::source_location::current()) const -> FuncRef;
  auto operator()(Arg a, Arg b = {}, Arg c = {}, Arg d = {}, Arg e = {}, Arg f = {}, Arg g = {}, Arg h = {}) const
      -> FuncRef;
  auto operator()(const std::vector<Var>& args, const std::source_location& at = std::source_location::current()) const
      -> FuncRef;
  auto operator()(ExprList args, const std::source_location& at = std::source_location::current()) const -> FuncRef;

  auto name() const -> const std::string& { return def_->name; }
  auto defined() const -> bool { return def_->defined(); }
  auto dimensions() const -> int { return def_->rank(); }
  auto args() const -> std::vector<std::string>;
  auto type(int component = 0) const -> Type { return def_->types.at(static_cast<size_t>(component)); }
  auto num_update_definitions() const -> int { return static_cast<int>(def_->updates.size()); }
  auto has_update_definition() const -> bool { return !def_->updates.empty(); }
  auto definition() const -> const Ref<FunctionDef>& { return def_; }

  // Defined in driver: as Pipeline(*this) does.
  auto realize(const std::vector<int64_t>& extents) const -> Realization;
  void realize(const AnyBuffer& output) const;
  void infer_input_bounds(const std::vector<int64_t>& extents) const;
  void print_loop_nest() const;
  void compile_jit() const;

  /// The i-th update, to schedule it. Errors: name_missing.
  auto update(int i = 0, const std::source_location& at = std::source_location::current()) -> FuncStage;

 private:
  friend class LoopDirectives<Func>;
  friend class FuncDirectives<Func>;
  auto recorder() const -> StageRecorder { return {def_, -1}; }
  Ref<FunctionDef> def_;
};

}  // namespace drawloom
