#pragma once
/// Printing of expressions for every text form. The IR and the pipelines (`*.dl`) spell names in their own way; the rest
/// of the grammar is one.

#include <string>
#include <vector>

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// How the names of a text form are spelled: plain functions over a context of the caller's. The printer writes what
/// they give.
struct NameHooks {
  void* context = nullptr;
  /// A symbol where it is used or bound; a buffer field as `min(%in, 0)` (see field_text).
  std::string (*symbol)(void* context, const Symbol& symbol) = nullptr;
  std::string (*buffer)(void* context, const BufferDecl& buffer) = nullptr;
  /// The name of an accessed Func, before `(`.
  std::string (*func)(void* context, const FuncDecl& func) = nullptr;
  /// Around the body of a Let: its symbol is in scope, and its name is free again afterwards. May be null.
  void (*enter)(void* context, const Symbol& bound) = nullptr;
  void (*leave)(void* context) = nullptr;
  /// Plain loads as `in(x, y)`, the way definitions write them, rather than `%in[%x, %y]`.
  bool loads_as_calls = false;
};

/// The texts of some expressions that stand together, and lines `#1 = ...` for what has two parents among them. These
/// lines come first; each may use the ones before it. Parsing the lines and texts gives the same DAG again.
struct PrintedExprs {
  std::vector<std::string> shared;
  std::vector<std::string> texts;  ///< one for each root, empty for an undefined one
};
auto print_exprs(const ExprList& roots, const NameHooks& names) -> PrintedExprs;

/// How tightly an infix operator binds: 1 for `||` up to 9 for `*`; 0 for min and max, which are written as calls.
/// Operators of one strength group to the left; around a comparison in a comparison the printer puts brackets even so.
auto binding_strength(BinaryOp op) -> int;
inline constexpr int kUnaryStrength = 10;

/// Expressions whose texts would nest deeper than this are cut by `#n` lines.
inline constexpr int kMaxPrintedDepth = 100;

/// A buffer field from its hint, for forms where the buffer's own name is what it is called: `extent(in, 0)`, with `sigil`
/// before the name.
auto field_text(const Symbol& field, std::string_view sigil) -> std::string;

/// `text` as a name the lexer reads: other characters become `_`.
auto name_text(std::string_view text) -> std::string;

}  // namespace drawloom
