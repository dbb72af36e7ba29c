#include "drawloom/ir/verify.h"

#include <unordered_map>
#include <unordered_set>

#include "drawloom/ir/build.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/type_rules.h"
#include "drawloom/ir/verify_device.h"

namespace drawloom {
namespace {

/// Walks a program with the names in scope. A node found well is not looked at again where at least the same names are
/// in scope, so a DAG costs about its printed size.
class Verifier {
 public:
  explicit Verifier(InvariantSet claims) : claims_(claims) {}

  auto run(const Program& program) -> std::vector<Diag> {
    flat_storage_ = program.flat_storage;
    if (claimed(Invariant::FlatStorage) && !flat_storage_)
      found_.emplace_back(DiagKind::ir_malformed, Loc(), str("`@{}`", program.name), "storage is not flat");
    for (const auto& argument : program.arguments) add_argument(argument);
    if (program.body) {
      visit(*program.body.get());
    } else {
      found_.emplace_back(DiagKind::ir_malformed, Loc(), str("`@{}`", program.name), "the function has no body");
    }
    return std::move(found_);
  }

 private:
  void add_argument(const Argument& argument) {
    if (const auto* scalar = std::get_if<ScalarArgument>(&argument)) return enter(scalar->symbol.get());
    const auto& [buffer, role] = std::get<BufferArgument>(argument);
    enter(buffer.get());
    if (role == ArgumentRole::Input) inputs_.insert(buffer.get());
    for (const auto& list : {buffer->min, buffer->extent, buffer->stride}) {
      for (const auto& symbol : list) enter(symbol.get());
    }
  }

  void visit(const Node& node) {
    if (!visited_.insert(&node).second) return;
    order_.push_back(&node);
    dispatch(node, [&](const auto& n) {
      if (!is_complete(n)) return;
      if (auto problem = operand_problem(n)) report(n, *std::move(problem));
      check_node(n);
      visit_children(n);
    });
  }

  template <typename T>
  void visit_children(const T& n) {
    if constexpr (kBinds<T>) {
      n.each_field([&](std::string_view name, const auto& field) {
        if (name != "body") visit_field(field);
      });
      const auto* bound = binder(n);
      // A binder that is shared is met again with the same node, which is no second binder.
      const bool own = binder_of_.try_emplace(bound, &n).first->second == &n;
      if (!own && claimed(Invariant::UniqueNames)) malformed(n, "another binder binds the same name");
      const size_t start = order_.size();
      const bool fresh = in_scope_.insert(bound).second;
      visit(*n.body.get());
      if (fresh) in_scope_.erase(bound);
      // What was well below this binder need not be so beside it.
      for (; order_.size() > start; order_.pop_back()) visited_.erase(order_.back());
    } else {
      each_child(n, [&](const auto& child) { visit(*child.get()); });
    }
  }
  template <typename F>
  void visit_field(const F& field) {
    if constexpr (std::is_same_v<F, Expr>) visit(*field.get());
    if constexpr (std::is_same_v<F, ExprList>) {
      for (const auto& e : field) visit(*e.get());
    }
  }

  // --- rules that need more than the types of operands

  template <typename T>
  void check_node(const T&) {}
  void check_node(const VarRef& n) {
    if (!in_scope_.contains(n.symbol.get())) malformed(n, "the variable is not in scope");
  }
  void check_node(const Access& n) { malformed(n, "an access to a Func in a lowered program"); }
  void check_node(const Load& n) { check_element(n); }
  void check_node(const Store& n) {
    check_element(n);
    if (inputs_.contains(n.buffer.get())) malformed(n, "a store to an input");
  }
  void check_node(const Address& n) {
    const bool constant = n.buffer->memory == MemoryKind::Register && claimed(Invariant::RegistersConstant);
    if (constant && !is_constant_index(n.index[0])) malformed(n, "the subscript of a register is not constant");
    if (!in_scope_.contains(n.buffer.get())) malformed(n, "the buffer is not in scope");
    check_count(n, *n.buffer, n.index, "subscripts");
  }
  void check_node(const Allocate& n) { check_count(n, *n.buffer, n.extents, "extents"); }
  void check_node(const TensorMap& n) {
    if (!in_scope_.contains(n.buffer.get())) malformed(n, "the buffer is not in scope");
    check_count(n, *n.buffer, n.base, "subscripts");
  }
  void check_node(const Init& n) { check_count(n, *n.barrier, n.index, "subscripts"); }
  void check_node(const Arrive& n) { check_count(n, *n.barrier, n.index, "subscripts"); }
  void check_node(const Expect& n) { check_count(n, *n.barrier, n.index, "subscripts"); }
  void check_node(const Wait& n) { check_count(n, *n.barrier, n.index, "subscripts"); }
  void check_node(const Launch& n) {
    for (auto& diag : verify_launch(n)) found_.push_back(std::move(diag));
  }
  void check_node(const For& n) {
    int64_t extent;
    const bool vectorized = n.how == ForKind::Vectorized, unrolled = n.how == ForKind::Unrolled;
    if ((vectorized || unrolled) && !as_int(n.extent, extent)) {
      malformed(n, str("the extent of {} loop is not constant", vectorized ? "a vectorized" : "an unrolled"));
    }
    if (vectorized && claimed(Invariant::NoVectorLoops)) malformed(n, "a vectorized loop is left");
    if (unrolled && claimed(Invariant::NoUnrolledLoops)) malformed(n, "an unrolled loop is left");
  }

  template <typename T>
  void check_element(const T& n) {
    if (!in_scope_.contains(n.buffer.get())) malformed(n, "the buffer is not in scope");
    check_count(n, *n.buffer, n.index, "subscripts");
    if (!claimed(Invariant::RegistersConstant) || n.buffer->memory != MemoryKind::Register) return;
    for (const auto& e : n.index) {
      if (!is_constant_index(e)) malformed(n, str("subscript `{}` of a register is not constant", print(e)));
    }
  }
  /// With another number, a subscript would mean one thing here and another to flatten_storage.
  template <typename T>
  void check_count(const T& n, const BufferDecl& b, const ExprList& list, std::string_view what) {
    const int wanted = flat_storage_ ? 1 : b.rank, count = static_cast<int>(list.size());
    if (count == wanted) return;
    malformed(n, str("{} {}, not {}, as the program {} flat_storage", count, what, wanted,
                     flat_storage_ ? "says" : "does not say"));
  }
  static auto is_constant_index(const Expr& e) -> bool {
    int64_t value;
    if (const auto* r = e.as<Ramp>()) return as_int(r->base, value) && as_int(r->stride, value);
    return as_int(e, value);
  }

  /// Every child that a node cannot do without is there.
  template <typename T>
  auto is_complete(const T& n) -> bool {
    std::string_view missing;
    n.each_field([&](std::string_view name, const auto& field) {
      if (!may_be_undefined(T::kKind, name) && !is_there(field)) missing = name;
    });
    if (missing.empty()) return true;
    // Its text cannot be printed.
    if (reported_.insert(&n).second) {
      found_.emplace_back(DiagKind::ir_malformed, n.loc, kind_name(T::kKind), str("`{}` is undefined", missing));
    }
    return false;
  }
  static auto may_be_undefined(Kind kind, std::string_view field) -> bool {
    if (kind == Kind::Arrive) return field == "bytes" || field == "rank";
    if (kind == Kind::Sync) return field == "id";
    return field == "mask" || field == "otherwise";
  }
  template <typename F>
  static auto is_there(const F& field) -> bool {
    if constexpr (std::is_same_v<F, ExprList> || std::is_same_v<F, StmtList>) {
      for (const auto& item : field) {
        if (!item) return false;
      }
    } else if constexpr (requires { static_cast<bool>(field.get()); }) {
      return field.get() != nullptr;
    }
    return true;
  }

  // --- reporting

  template <typename T>
  void malformed(const T& n, std::string_view what) {
    report(n, Diag(DiagKind::ir_malformed, n.loc, described(n), what));
  }
  void report(const Node& n, Diag diag) {
    if (reported_.insert(&n).second) found_.push_back(std::move(diag));
  }

  template <typename T>
  static auto binder(const T& n) {
    if constexpr (__is_same(T, Allocate)) {
      return static_cast<const void*>(n.buffer.get());
    } else {
      return static_cast<const void*>(n.symbol.get());
    }
  }
  void enter(const void* name) {
    in_scope_.insert(name);
    binder_of_[name] = nullptr;
  }
  auto claimed(Invariant i) const -> bool { return (claims_ & static_cast<InvariantSet>(i)) != 0; }

  InvariantSet claims_;
  bool flat_storage_ = false;
  std::vector<Diag> found_;
  std::unordered_set<const void*> in_scope_, inputs_;
  std::unordered_map<const void*, const Node*> binder_of_;  // null: the function itself
  std::unordered_set<const Node*> visited_, reported_;
  std::vector<const Node*> order_;
};

}  // namespace

auto verify(const Program& program, InvariantSet claims) -> std::vector<Diag> { return Verifier(claims).run(program); }

auto invariant_name(Invariant invariant) -> std::string_view {
  switch (invariant) {
    case Invariant::UniqueNames: return "unique_names";
    case Invariant::FlatStorage: return "flat_storage";
    case Invariant::NoVectorLoops: return "no_vector_loops";
    case Invariant::NoUnrolledLoops: return "no_unrolled_loops";
    case Invariant::RegistersConstant: return "registers_constant";
  }
  return "?";
}

}  // namespace drawloom
