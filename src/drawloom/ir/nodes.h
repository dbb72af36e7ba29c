#pragma once
/// One struct per row of nodes.def: meaning, types, units, what is undefined. `each_field` is the single source for
/// equality, hashing, children, rebuilding, printing and parsing (node_ops.h).

#include <string>
#include <vector>

#include "drawloom/ir/device_nodes.h"
#include "drawloom/ir/node.h"
#include "drawloom/ir/symbol.h"

namespace drawloom {

enum class UnaryOp : uint8_t {
#define UNARY_OP(name, text) name,
#include "drawloom/ir/ops.def"
};
enum class BinaryOp : uint8_t {
#define BINARY_OP(name, text, kind) name,
#include "drawloom/ir/ops.def"
};
enum class Intrinsic : uint8_t {
#define INTRINSIC(name, text, arity) name,
#include "drawloom/ir/ops.def"
};

/// Serial: in order. Parallel: any order, at once, one task per iteration. Vectorized: all iterations as lanes of one
/// vector; constant extent. Unrolled: as Serial, written out; constant extent. Block: one block of a grid per iteration.
/// Thread: one thread of a block per iteration; constant extent (both only in a Launch, with min 0).
enum class ForKind : uint8_t { Serial, Parallel, Vectorized, Unrolled, Block, Thread };

/// An integer, bool or index constant; a vector type means all lanes. The bits below the width count: unsigned values are kept
/// zero-extended, signed ones sign-extended (u64 by its bit pattern).
struct IntImm : ExprNode {
  static constexpr Kind kKind = Kind::IntImm;
  int64_t value;
  IntImm(Type t, int64_t v, Loc l) : ExprNode(kKind, t, std::move(l)), value(v) {}
  void each_field(auto&& f) const { f("value", value); }
};

/// A floating constant, already rounded to its type.
struct FloatImm : ExprNode {
  static constexpr Kind kKind = Kind::FloatImm;
  double value;
  FloatImm(Type t, double v, Loc l) : ExprNode(kKind, t, std::move(l)), value(v) {}
  void each_field(auto&& f) const { f("value", value); }
};

/// The value of a symbol. Type: that of the symbol; inside a vectorised body a let-bound symbol may be a vector.
struct VarRef : ExprNode {
  static constexpr Kind kKind = Kind::VarRef;
  SymbolRef symbol;
  VarRef(SymbolRef s, Loc l) : ExprNode(kKind, s->type, std::move(l)), symbol(std::move(s)) {}
  void each_field(auto&& f) const { f("symbol", symbol); }
};

/// Conversion lane by lane. int to int wraps; int to float rounds to nearest even; float to int truncates and saturates
/// (NaN: any value); to bool: != 0. index converts from and to 64 bits.
struct Cast : ExprNode {
  static constexpr Kind kKind = Kind::Cast;
  Expr value;
  Cast(Type t, Expr v, Loc l) : ExprNode(kKind, t, std::move(l)), value(std::move(v)) {}
  void each_field(auto&& f) const { f("value", value); }
};

/// See ops.def for the meaning of each operator.
struct Unary : ExprNode {
  static constexpr Kind kKind = Kind::Unary;
  UnaryOp op;
  Expr a;
  Unary(Type t, UnaryOp o, Expr x, Loc l) : ExprNode(kKind, t, std::move(l)), op(o), a(std::move(x)) {}
  void each_field(auto&& f) const { f("op", op), f("a", a); }
};

/// Both operands have one type. See ops.def for the meaning of each operator. Both sides are always evaluated.
struct Binary : ExprNode {
  static constexpr Kind kKind = Kind::Binary;
  BinaryOp op;
  Expr a, b;
  Binary(Type t, BinaryOp o, Expr x, Expr y, Loc l)
      : ExprNode(kKind, t, std::move(l)), op(o), a(std::move(x)), b(std::move(y)) {}
  void each_field(auto&& f) const { f("op", op), f("a", a), f("b", b); }
};

/// Lane-wise choice. Both sides are evaluated; since everything is defined, this is harmless, but a Load in the side
/// not taken must be in bounds.
struct Select : ExprNode {
  static constexpr Kind kKind = Kind::Select;
  Expr condition, yes, no;
  Select(Expr c, Expr y, Expr n, Loc l)
      : ExprNode(kKind, y.type(), std::move(l)), condition(std::move(c)), yes(std::move(y)), no(std::move(n)) {}
  void each_field(auto&& f) const { f("condition", condition), f("yes", yes), f("no", no); }
};

/// A pure function of ops.def, lane by lane.
struct Call : ExprNode {
  static constexpr Kind kKind = Kind::Call;
  Intrinsic function;
  ExprList args;
  Call(Type t, Intrinsic i, ExprList a, Loc l) : ExprNode(kKind, t, std::move(l)), function(i), args(std::move(a)) {}
  void each_field(auto&& f) const { f("function", function), f("args", args); }
};

/// The value of component `component` of a Func at index coordinates `args`. Only in definitions, never in lowered code.
/// `func` is not owned when it is the Func being defined (a recurrence or an update), else `owner` keeps it alive.
struct Access : ExprNode {
  static constexpr Kind kKind = Kind::Access;
  const FuncDecl* func;
  Ref<const FuncDecl> owner;
  int component;
  ExprList args;
  Access(Type t, const FuncDecl* fn, Ref<const FuncDecl> own, int c, ExprList a, Loc l)
      : ExprNode(kKind, t, std::move(l)), func(fn), owner(std::move(own)), component(c), args(std::move(a)) {}
  void each_field(auto&& f) const { f("func", func), f("component", component), f("args", args); }
};

/// One element, or one vector of lanes, of `buffer`. A dense vector is a ramp of stride 1 in one subscript.
/// Type: element type of `buffer` with the lanes of the subscripts (all scalar, or all vectors of these lanes).
/// Units: elements, not bytes. One subscript per dimension, or a single flat one after flatten_storage.
/// mask: undefined handle, or bool of the same lanes: lanes that are read; the others hold garbage that must not be used.
/// Out of range under the mask is undefined here.
/// origin: empty, or the logical coordinates that the element is expected to hold. Passes rewrite it like any operand;
/// only the machine reads it; code generation drops it.
/// In definitions, a Load of an Argument buffer is the access to an input image.
struct Load : ExprNode {
  static constexpr Kind kKind = Kind::Load;
  BufferRef buffer;
  ExprList index;
  Expr mask;
  ExprList origin;
  Load(Type t, BufferRef b, ExprList i, Expr m, ExprList o, Loc l)
      : ExprNode(kKind, t, std::move(l)), buffer(std::move(b)), index(std::move(i)), mask(std::move(m)),
        origin(std::move(o)) {}
  void each_field(auto&& f) const { f("buffer", buffer), f("index", index), f("mask", mask), f("origin", origin); }
};

/// base, base + stride, ... lanes of them; base and stride are scalars of one type.
struct Ramp : ExprNode {
  static constexpr Kind kKind = Kind::Ramp;
  Expr base, stride;
  Ramp(Expr b, Expr s, int lanes, Loc l)
      : ExprNode(kKind, b.type().with_lanes(lanes), std::move(l)), base(std::move(b)), stride(std::move(s)) {}
  void each_field(auto&& f) const { f("base", base), f("stride", stride), f("lanes", static_cast<int>(type.lanes)); }
};

/// A scalar in every lane.
struct Broadcast : ExprNode {
  static constexpr Kind kKind = Kind::Broadcast;
  Expr value;
  Broadcast(Expr v, int lanes, Loc l)
      : ExprNode(kKind, v.type().with_lanes(lanes), std::move(l)), value(std::move(v)) {}
  void each_field(auto&& f) const { f("value", value), f("lanes", static_cast<int>(type.lanes)); }
};

/// `value` is evaluated once; `symbol` names it in `body`. The symbol has the type of the value.
struct Let : ExprNode {
  static constexpr Kind kKind = Kind::Let;
  SymbolRef symbol;
  Expr value, body;
  Let(SymbolRef s, Expr v, Expr b, Loc l)
      : ExprNode(kKind, b.type(), std::move(l)), symbol(std::move(s)), value(std::move(v)), body(std::move(b)) {}
  void each_field(auto&& f) const { f("symbol", symbol), f("value", value), f("body", body); }
};

/// In order. Never nested directly in a Block, never of length 1 (make_block sees to it); empty is "do nothing".
struct Block : StmtNode {
  static constexpr Kind kKind = Kind::Block;
  StmtList stmts;
  Block(StmtList s, Loc l) : StmtNode(kKind, std::move(l)), stmts(std::move(s)) {}
  void each_field(auto&& f) const { f("stmts", stmts); }
};

/// symbol = min .. min + extent - 1. min and extent are scalar index; an extent of 0 or below means no iteration.
struct For : StmtNode {
  static constexpr Kind kKind = Kind::For;
  SymbolRef symbol;
  Expr min, extent;
  ForKind how;
  Stmt body;
  For(SymbolRef s, Expr m, Expr e, ForKind h, Stmt b, Loc l)
      : StmtNode(kKind, std::move(l)), symbol(std::move(s)), min(std::move(m)), extent(std::move(e)), how(h),
        body(std::move(b)) {}
  void each_field(auto&& f) const {
    f("symbol", symbol), f("min", min), f("extent", extent), f("how", how), f("body", body);
  }
};

/// condition: scalar bool (inside a Vectorized loop it may depend on the loop: vectorize_loops makes masks of it).
/// `otherwise` may be undefined.
struct If : StmtNode {
  static constexpr Kind kKind = Kind::If;
  Expr condition;
  Stmt then, otherwise;
  If(Expr c, Stmt t, Stmt o, Loc l)
      : StmtNode(kKind, std::move(l)), condition(std::move(c)), then(std::move(t)), otherwise(std::move(o)) {}
  void each_field(auto&& f) const { f("condition", condition), f("then", then), f("otherwise", otherwise); }
};

/// As Let, for statements.
struct LetStmt : StmtNode {
  static constexpr Kind kKind = Kind::LetStmt;
  SymbolRef symbol;
  Expr value;
  Stmt body;
  LetStmt(SymbolRef s, Expr v, Stmt b, Loc l)
      : StmtNode(kKind, std::move(l)), symbol(std::move(s)), value(std::move(v)), body(std::move(b)) {}
  void each_field(auto&& f) const { f("symbol", symbol), f("value", value), f("body", body); }
};

/// Storage of `buffer` (not Argument) for the time of `body`, uninitialised. extents: scalar index, one per dimension,
/// dimension 0 innermost and dense (an entry below 0 counts as 0); one entry, in elements, after flatten_storage.
/// Stack and Register need constant extents.
struct Allocate : StmtNode {
  static constexpr Kind kKind = Kind::Allocate;
  BufferRef buffer;
  ExprList extents;
  Stmt body;
  Allocate(BufferRef b, ExprList e, Stmt s, Loc l)
      : StmtNode(kKind, std::move(l)), buffer(std::move(b)), extents(std::move(e)), body(std::move(s)) {}
  void each_field(auto&& f) const { f("buffer", buffer), f("extents", extents), f("body", body); }
};

/// Writes `value` to `buffer`; subscripts, mask and origin as in Load. Two active lanes on one element: the higher lane
/// wins (a scatter is sequential in lane order). nontemporal: the line bypasses the caches where the target can.
struct Store : StmtNode {
  static constexpr Kind kKind = Kind::Store;
  BufferRef buffer;
  ExprList index;
  Expr value, mask;
  ExprList origin;
  bool nontemporal;
  Store(BufferRef b, ExprList i, Expr v, Expr m, ExprList o, bool nt, Loc l)
      : StmtNode(kKind, std::move(l)), buffer(std::move(b)), index(std::move(i)), value(std::move(v)),
        mask(std::move(m)), origin(std::move(o)), nontemporal(nt) {}
  void each_field(auto&& f) const {
    f("buffer", buffer), f("index", index), f("value", value), f("mask", mask), f("origin", origin),
        f("nontemporal", nontemporal);
  }
};

/// Marks the statements that compute one stage (`blur.update(0)`), for reading, for messages and for the machine's work
/// counts; means nothing else.
struct Stage : StmtNode {
  static constexpr Kind kKind = Kind::Stage;
  std::string name;
  Stmt body;
  Stage(std::string n, Stmt b, Loc l) : StmtNode(kKind, std::move(l)), name(std::move(n)), body(std::move(b)) {}
  void each_field(auto&& f) const { f("name", name), f("body", body); }
};

/// If `condition` (scalar bool) is false, reports `message` with the run-time code `code` (name as in the runtime's
/// error_codes.def) and leaves the program with that code. Each `{}` in message takes an arg (scalar, integer or float).
struct Check : StmtNode {
  static constexpr Kind kKind = Kind::Check;
  Expr condition;
  std::string code, message;
  ExprList args;
  Check(Expr c, std::string k, std::string m, ExprList a, Loc l)
      : StmtNode(kKind, std::move(l)), condition(std::move(c)), code(std::move(k)), message(std::move(m)),
        args(std::move(a)) {}
  void each_field(auto&& f) const {
    f("condition", condition), f("code", code), f("message", message), f("args", args);
  }
};

/// Orders earlier nontemporal stores before everything that follows (x86: sfence).
struct StoreFence : StmtNode {
  static constexpr Kind kKind = Kind::StoreFence;
  explicit StoreFence(Loc l) : StmtNode(kKind, std::move(l)) {}
  void each_field(auto&&) const {}
};

}  // namespace drawloom
