// Expressions as text, which must give the same DAG again: not only the same value, but the same sharing.
//
// Example: with one node for the load, its square prints as
//     #1 = %in[%x]
//     #1 * #1
// while two equal loads print as %in[%x] * %in[%x]. A tree print would be exponential in the depth of a DAG.
//
// So before anything is printed all nodes are visited once, in post-order: how often each is used, how deep its text
// is, and which Lets it must stay inside (a node that mentions %t cannot be named before `let(%t = ..`). What has two
// uses gets a line where it is legal and as far out as possible; what is too deep gets one as well, since the parser's
// stack is finite. Numbers are given when lines are printed, so the same DAG prints alike in every run.
#include "drawloom/ir/print_expr.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/text.h"

namespace drawloom {
namespace {

auto is_leaf(const ExprNode& n) -> bool {
  return n.kind == Kind::IntImm || n.kind == Kind::FloatImm || n.kind == Kind::VarRef;
}

/// What the printer must know of a node before it prints: how often it is used, how deep its text would be, and which
/// Lets must stand around it.
struct NodeFacts {
  int uses = 0;
  int depth = 0;
  std::vector<const Let*> inside;  ///< Lets whose symbols occur free in it, outermost first
  bool named = false;
  int number = 0;
};

/// Decides which nodes get a `#n`, and where its line stands: before everything, or in the innermost Let that it needs.
class Sharing {
 public:
  explicit Sharing(const ExprList& roots) {
    for (const auto& root : roots) {
      if (root) visit(*root.get()), use(*root.get());
    }
    for (const ExprNode* node : order_) {
      NodeFacts& facts = facts_.at(node);
      facts.named = !is_leaf(*node) && (facts.uses > 1 || facts.named);
      if (facts.named) lines_[facts.inside.empty() ? nullptr : facts.inside.back()].push_back(node);
    }
  }

  auto facts(const ExprNode& node) -> NodeFacts& { return facts_.at(&node); }
  /// The named nodes whose lines stand in `let` (null: before everything), each after those it uses.
  auto lines(const Let* let) const -> std::vector<const ExprNode*> {
    const auto hit = lines_.find(let);
    return hit == lines_.end() ? std::vector<const ExprNode*>() : hit->second;
  }

 private:
  struct Frame {
    const ExprNode* node;
    std::vector<const ExprNode*> children;
    size_t next = 0;
  };

  /// Post-order without recursion: each node once, after its children.
  void visit(const ExprNode& root) {
    if (facts_.contains(&root)) return;
    std::vector<Frame> stack;
    push(stack, root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == top.children.size()) {
        finish(*top.node, top.children);
        stack.pop_back();
        continue;
      }
      const ExprNode* child = top.children[top.next++];
      if (!facts_.contains(child)) push(stack, *child);
    }
  }

  void push(std::vector<Frame>& stack, const ExprNode& node) {
    facts_[&node];
    if (node.kind == Kind::Let) {
      const auto& let = static_cast<const Let&>(node);
      let_of_[let.symbol.get()] = &let;
      let_level_.try_emplace(&let, let_level_.size());
    }
    stack.push_back({&node, children(node)});
  }

  static auto children(const ExprNode& node) -> std::vector<const ExprNode*> {
    struct Collect {
      std::vector<const ExprNode*>& list;
      void operator()(const Expr& e) { list.push_back(e.get()); }
      void operator()(const Stmt&) {}
    };
    std::vector<const ExprNode*> list;
    each_child(node, Collect{list});
    return list;
  }

  void finish(const ExprNode& node, const std::vector<const ExprNode*>& children) {
    NodeFacts facts;
    for (const ExprNode* child : children) {
      NodeFacts& below = facts_.at(child);
      ++below.uses;
      facts.depth = std::max(facts.depth, below.uses > 1 || below.named ? 1 : below.depth + 1);
      for (const Let* let : below.inside) add(facts.inside, let);
    }
    if (node.kind == Kind::VarRef) {
      const auto hit = let_of_.find(static_cast<const VarRef&>(node).symbol.get());
      if (hit != let_of_.end()) facts.inside.push_back(hit->second);
    }
    if (node.kind == Kind::Let) std::erase(facts.inside, &static_cast<const Let&>(node));
    // The Lets that one node needs stand inside each other, and an outer one was met before an inner one.
    std::sort(facts.inside.begin(), facts.inside.end(),
              [&](const Let* a, const Let* b) { return let_level_.at(a) < let_level_.at(b); });
    if (facts.depth >= kMaxPrintedDepth) facts.named = true;
    facts_[&node] = std::move(facts);
    order_.push_back(&node);
  }

  static void add(std::vector<const Let*>& list, const Let* let) {
    if (std::find(list.begin(), list.end(), let) == list.end()) list.push_back(let);
  }
  void use(const ExprNode& node) { ++facts_.at(&node).uses; }

  std::unordered_map<const ExprNode*, NodeFacts> facts_;
  std::unordered_map<const Symbol*, const Let*> let_of_;
  std::unordered_map<const Let*, size_t> let_level_;
  std::unordered_map<const Let*, std::vector<const ExprNode*>> lines_;
  std::vector<const ExprNode*> order_;
};

auto float_text(const FloatImm& n) -> std::string {
  if (n.type.element() != float_type(32) || !std::isfinite(n.value)) return to_text(n.value);
  // The shortest digits that give the same float back, not the same double.
  char buf[40];
  const auto end = std::to_chars(buf, buf + sizeof buf, static_cast<float>(n.value)).ptr;
  std::string s(buf, end);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

class ExprPrinter {
 public:
  ExprPrinter(const ExprList& roots, const NameHooks& names) : sharing_(roots), names_(names) {}

  /// `#1 = ...` for what `let` (null: the top) has to define first.
  auto shared_lines(const Let* let) -> std::vector<std::string> {
    std::vector<std::string> out;
    for (const ExprNode* node : sharing_.lines(let)) {
      // Its own number is set after its text: the line that defines it must not refer to it.
      const int number = ++last_number_;
      const auto text = definition(*node);
      sharing_.facts(*node).number = number;
      out.push_back(str("#{} = {}", number, text));
    }
    return out;
  }

  /// The text of `e` where an operator of `strength` would take it as an operand.
  auto text(const Expr& e, int strength = 0) -> std::string {
    const NodeFacts& facts = sharing_.facts(*e.get());
    if (facts.named) return str("#{}", facts.number);
    auto out = definition(*e.get());
    return own_strength(e) < strength ? "(" + out + ")" : out;
  }

 private:
  static auto own_strength(const Expr& e) -> int {
    if (const auto* b = e.as<Binary>(); b && binding_strength(b->op) > 0) return binding_strength(b->op);
    return e.kind() == Kind::Unary ? kUnaryStrength : kUnaryStrength + 1;
  }

  auto definition(const ExprNode& node) -> std::string {
    return dispatch(node, [&](const auto& n) -> std::string {
      if constexpr (std::is_base_of_v<ExprNode, std::decay_t<decltype(n)>>) return node_text(n);
      return {};
    });
  }

  auto node_text(const IntImm& n) -> std::string {
    if (n.type == kIndex) return str("{}", n.value);
    const std::string suffix = n.type == kBool ? "" : str(":{}", n.type);
    if (n.type.is_bool()) return str("{}{}", n.value != 0, suffix);
    return (n.type.is_uint() ? str("{}", static_cast<uint64_t>(n.value)) : str("{}", n.value)) + suffix;
  }
  auto node_text(const FloatImm& n) -> std::string { return str("{}:{}", float_text(n), n.type); }
  auto node_text(const VarRef& n) -> std::string { return symbol(n.symbol); }
  auto node_text(const Cast& n) -> std::string { return str("cast<{}>({})", n.type, text(n.value)); }
  auto node_text(const Unary& n) -> std::string {
    const bool literal = n.a.kind() == Kind::IntImm || n.a.kind() == Kind::FloatImm;
    // `-3` is a constant, `-(3)` is the negation of one.
    if (literal && n.op == UnaryOp::Neg) return str("-({})", text(n.a));
    return str("{}{}", op_text(n.op), text(n.a, kUnaryStrength));
  }
  auto node_text(const Binary& n) -> std::string {
    const int strength = binding_strength(n.op);
    if (strength == 0) return str("{}({})", op_text(n.op), list({n.a, n.b}));
    // One after the other, so that names are given from left to right.
    const auto left = text(n.a, strength + is_compare(n.op));
    return str("{} {} {}", left, op_text(n.op), text(n.b, strength + 1));
  }
  auto node_text(const Select& n) -> std::string { return str("select({})", list({n.condition, n.yes, n.no})); }
  auto node_text(const Call& n) -> std::string { return str("{}({})", op_text(n.function), list(n.args)); }
  auto node_text(const Access& n) -> std::string {
    const auto component = n.component == 0 ? "" : str("[{}]", n.component);
    return str("{}({}){}", names_.func(names_.context, *n.func), list(n.args), component);
  }
  auto node_text(const Load& n) -> std::string {
    const auto name = names_.buffer(names_.context, *n.buffer);
    if (names_.loads_as_calls && !n.mask && n.origin.empty()) return str("{}({})", name, list(n.index));
    std::string out = str("{}[{}", name, list(n.index));
    if (n.mask) out += str("; mask {}", text(n.mask));
    if (!n.origin.empty()) out += str("; origin {}", list(n.origin));
    return out + "]";
  }
  auto node_text(const Ramp& n) -> std::string { return str("ramp({}, {})", list({n.base, n.stride}), n.type.lanes); }
  auto node_text(const Broadcast& n) -> std::string { return str("broadcast({}, {})", text(n.value), n.type.lanes); }
  auto node_text(const Address& n) -> std::string {
    return str("&{}[{}]", names_.buffer(names_.context, *n.buffer), list(n.index));
  }
  auto node_text(const Reinterpret& n) -> std::string { return str("reinterpret<{}>({})", n.type, text(n.value)); }
  auto node_text(const Let& n) -> std::string {
    const auto value = text(n.value);
    if (names_.enter) names_.enter(names_.context, *n.symbol);
    std::string out = str("let({} = {}, ", symbol(n.symbol), value);
    for (const auto& line : shared_lines(&n)) out += line + ", ";
    out += text(n.body) + ")";
    if (names_.leave) names_.leave(names_.context);
    return out;
  }

  auto symbol(const SymbolRef& s) -> std::string { return names_.symbol(names_.context, *s); }
  auto list(const ExprList& items) -> std::string {
    std::vector<std::string> texts;
    for (const auto& e : items) texts.push_back(text(e));
    return join(texts, ", ");
  }

  Sharing sharing_;
  const NameHooks& names_;
  int last_number_ = 0;
};

}  // namespace

auto print_exprs(const ExprList& roots, const NameHooks& names) -> PrintedExprs {
  ExprPrinter printer(roots, names);
  PrintedExprs out;
  out.shared = printer.shared_lines(nullptr);
  for (const auto& root : roots) out.texts.push_back(root ? printer.text(root) : std::string());
  return out;
}

auto binding_strength(BinaryOp op) -> int {
  switch (op) {
    case BinaryOp::Min:
    case BinaryOp::Max: return 0;
    case BinaryOp::Or: return 1;
    case BinaryOp::And: return 2;
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE: return 3;
    case BinaryOp::BitOr: return 4;
    case BinaryOp::BitXor: return 5;
    case BinaryOp::BitAnd: return 6;
    case BinaryOp::Shl:
    case BinaryOp::Shr: return 7;
    case BinaryOp::Add:
    case BinaryOp::Sub: return 8;
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Mod: return 9;
  }
  return 0;
}

auto field_text(const Symbol& field, std::string_view sigil) -> std::string {
  const auto parts = split_text(field.name, '.');  // make_buffer's `in.extent.0`
  if (parts.size() < 3) return str("{}{}", sigil, name_text(field.name));
  const auto buffer = join({parts.begin(), parts.end() - 2}, ".");
  return str("{}({}{}, {})", parts[parts.size() - 2], sigil, name_text(buffer), parts.back());
}

auto name_text(std::string_view text) -> std::string {
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (digit && out.empty()) out += '_';
    // A dot joins two names; at the ends it would not be read as part of one.
    const bool joint = c == '.' && !out.empty() && out.back() != '.';
    out += letter || digit || joint ? c : '_';
  }
  if (!out.empty() && out.back() == '.') out.back() = '_';
  return out.empty() ? "_" : out;
}

}  // namespace drawloom
