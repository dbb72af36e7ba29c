#pragma once
/// Var, RVar and RDom: the coordinates of definitions and the boxes of reductions.

#include <string>
#include <vector>

#include "drawloom/lang/arg.h"
#include "drawloom/lang/function.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// A pure coordinate. Two Vars of one name mean the same on either side of a definition and in schedules. Type: index.
class Var {
 public:
  /// Named `v0`, `v1`, ... in order of creation.
  explicit Var(const std::source_location& at = std::source_location::current());
  /// Errors: name_malformed.
  explicit Var(const std::string& name, const std::source_location& at = std::source_location::current());

  auto name() const -> const std::string& { return symbol_->name; }
  auto symbol() const -> const SymbolRef& { return symbol_; }
  auto to_expr(const Loc& loc) const -> Expr;
  operator Expr() const { return to_expr({}); }

 private:
  SymbolRef symbol_;
};

/// What the symbol of an RVar is attached to: the box, without its symbols, so nothing owns itself.
struct DomainBox : Attachment {
  struct Dim {
    std::string name;
    Expr min, extent;
  };
  std::vector<Dim> dims;
  Loc loc;
};

/// A coordinate of a reduction domain. Type: index.
class RVar {
 public:
  explicit RVar(SymbolRef symbol) : symbol_(std::move(symbol)) {}
  auto name() const -> const std::string& { return symbol_->name; }
  auto symbol() const -> const SymbolRef& { return symbol_; }
  auto to_expr(const Loc& loc) const -> Expr;
  operator Expr() const { return to_expr({}); }

 private:
  SymbolRef symbol_;
};

/// A box that an update runs over, first dimension fastest: `RDom r(0, 3, -1, 5)` has r.x in 0..2 and r.y in -1..3.
class RDom {
 public:
  /// Pairs of min and extent, of literals, Params and buffer fields. Named `r`: its loops are rx, ry, rz, rw, r4, ...
  /// Errors: rdom_bounds, subscript_type.
  RDom(Arg min0, Arg extent0, Arg min1 = {}, Arg extent1 = {}, Arg min2 = {}, Arg extent2 = {}, Arg min3 = {},
       Arg extent3 = {});
  RDom(Arg min0, Arg extent0, const std::string& name);
  RDom(Arg min0, Arg extent0, Arg min1, Arg extent1, const std::string& name);
  explicit RDom(const std::vector<std::pair<Expr, Expr>>& ranges, const std::string& name = "r",
                const std::source_location& at = std::source_location::current());

  auto dimensions() const -> int { return static_cast<int>(vars_.size()); }
  auto operator[](int i) const -> const RVar& { return vars_.at(static_cast<size_t>(i)); }
  /// Of a one-dimensional domain.
  operator RVar() const { return vars_.at(0); }
  operator Expr() const { return vars_.at(0); }
  auto to_expr(const Loc& loc) const -> Expr { return vars_.at(0).to_expr(loc); }
  auto box() const -> const Ref<const DomainBox>& { return box_; }

 private:
  void build(const std::vector<std::pair<Expr, Expr>>& ranges, const std::string& name, const Loc& loc);
  Ref<const DomainBox> box_;
  std::vector<RVar> vars_;

 public:
  /// The first four; a coordinate that the domain lacks cannot be used.
  RVar x{SymbolRef()}, y{SymbolRef()}, z{SymbolRef()}, w{SymbolRef()};
};

/// The name of a loop, from either.
class VarOrRVar {
 public:
  VarOrRVar() = default;
  VarOrRVar(const Var& v) : name_(v.name()) {}
  VarOrRVar(const RVar& v) : name_(v.name()) {}
  VarOrRVar(const RDom& r) : name_(r[0].name()) {}
  auto name() const -> const std::string& { return name_; }
  auto given() const -> bool { return !name_.empty(); }

 private:
  std::string name_;
};

/// The box behind an RVar's symbol.
auto domain_of(const Symbol& rvar) -> const DomainBox&;
/// `e` as min or extent of a domain's dimension: index, over literals, Params and buffer fields. `which`: "the min".
/// Errors: subscript_type, rdom_bounds.
auto domain_bound(const Expr& e, std::string_view which, const std::string& name, const Loc& loc) -> Result<Expr>;
/// A word that text forms read as an operation, as in `min(x, 3)`: no Func or image keeps it as its name.
auto is_language_word(std::string_view word) -> bool;
/// Checks a name that a user gives to anything. Errors: name_malformed, thrown.
auto checked_name(const std::string& name, const Loc& loc) -> const std::string&;

}  // namespace drawloom
