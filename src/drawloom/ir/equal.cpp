// Equality of DAGs up to the names that they bind, and a hash that agrees with it.
//
// Example: let(%a = 1, %a + %x) equals let(%b = 1, %b + %x) with the same %x. While bodies are compared, %a and %b
// *correspond*; free symbols must be the same object, or have the same name and type where texts are compared.
//
// Both sides are often one object, or share most of it: equal handles are equal at once, unless some symbol corresponds
// to another one just then (`renamed_`). Cost: the number of distinct pairs. Without the memory of pairs a DAG that
// doubles at every level would cost its number of paths.
#include <bit>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/support/hash.h"

namespace drawloom {
namespace {

enum class FreeNames : uint8_t { ByIdentity, ByName };

/// Compares two DAGs side by side. Pairs found equal are remembered, so the cost is the number of distinct pairs.
class Comparer {
 public:
  explicit Comparer(FreeNames free_names) : free_names_(free_names) {}

  template <typename H>
  auto same_handle(const H& a, const H& b) -> bool {
    if (!a || !b) return !a && !b;
    // A shared part is equal to itself unless it mentions a symbol that corresponds to another one.
    if (a == b && renamed_ == 0) return true;
    if (a.kind() != b.kind()) return false;
    if (!equal_pairs_.empty() && equal_pairs_.contains({a.get(), b.get()})) return true;
    if constexpr (std::is_same_v<H, Expr>) {
      if (a.type() != b.type()) return false;
    }
    const bool same = dispatch(*a.get(), [&](const auto& n) {
      return same_node(n, static_cast<const std::decay_t<decltype(n)>&>(static_cast<const Node&>(*b.get())));
    });
    if (same) equal_pairs_.insert({a.get(), b.get()});
    return same;
  }

  auto same_program(const Program& a, const Program& b) -> bool {
    if (a.name != b.name || a.arguments.size() != b.arguments.size() || a.flat_storage != b.flat_storage) return false;
    for (size_t i = 0; i < a.arguments.size(); ++i) {
      if (!bind_argument(a.arguments[i], b.arguments[i])) return false;
    }
    return same_handle(a.body, b.body);
  }

 private:
  using Pair = std::pair<const void*, const void*>;
  struct PairHash {
    auto operator()(const Pair& p) const -> size_t {
      return hash_combine(reinterpret_cast<uintptr_t>(p.first), reinterpret_cast<uintptr_t>(p.second));
    }
  };

  template <typename T>
  auto same_node(const T& a, const T& b) -> bool {
    if constexpr (!kBinds<T>) {
      return same_fields(a, b, [](std::string_view) { return true; });
    } else {
      const auto is_binder = [](std::string_view name) {
        return __is_same(T, Allocate) ? name == "buffer" : name == "symbol";
      };
      if (!same_fields(a, b, [&](std::string_view name) { return name != "body" && !is_binder(name); })) return false;
      Scope scope(*this);
      return bind(binder(a), binder(b)) && same_handle(a.body, b.body);
    }
  }

  /// Compares the wanted fields of two nodes of one kind, each with its counterpart by position.
  template <typename T, typename Wanted>
  auto same_fields(const T& a, const T& b, Wanted wanted) -> bool {
    bool same = true;
    size_t position = 0;
    a.each_field([&](std::string_view name, const auto& field) {
      const size_t here = position++;
      if (!same || !wanted(name)) return;
      size_t other_position = 0;
      b.each_field([&](std::string_view, const auto& other) {
        if constexpr (std::is_same_v<decltype(field), decltype(other)>) {
          if (other_position == here) same = same_field(field, other);
        }
        ++other_position;
      });
    });
    return same;
  }

  auto same_field(const Expr& a, const Expr& b) -> bool { return same_handle(a, b); }
  auto same_field(const Stmt& a, const Stmt& b) -> bool { return same_handle(a, b); }
  template <typename H>
  auto same_field(const std::vector<H>& a, const std::vector<H>& b) -> bool {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!same_handle(a[i], b[i])) return false;
    }
    return true;
  }
  auto same_field(double a, double b) -> bool {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  }
  auto same_field(const SymbolRef& a, const SymbolRef& b) -> bool { return same_name(a.get(), b.get()); }
  auto same_field(const BufferRef& a, const BufferRef& b) -> bool { return same_name(a.get(), b.get()); }
  auto same_field(const FuncDecl* a, const FuncDecl* b) -> bool { return same_name(a, b); }
  template <typename V>
    requires(std::is_enum_v<V> || std::is_integral_v<V> || std::is_same_v<V, std::string>)
  auto same_field(const V& a, const V& b) -> bool {
    return a == b;
  }

  // --- correspondence of names

  template <typename D>
  auto same_name(const D* a, const D* b) -> bool {
    const auto forward = forward_.find(a), backward = backward_.find(b);
    if (forward != forward_.end() || backward != backward_.end()) {
      return forward != forward_.end() && backward != backward_.end() && forward->second == b && backward->second == a;
    }
    if (free_names_ == FreeNames::ByIdentity) return a == b;
    if (a->name != b->name || !same_declaration(*a, *b)) return false;
    correspond(a, b);
    return true;
  }

  static auto same_declaration(const Symbol& a, const Symbol& b) -> bool {
    return a.kind == b.kind && a.type == b.type && a.min == b.min && a.max == b.max;
  }
  static auto same_declaration(const BufferDecl& a, const BufferDecl& b) -> bool {
    return a.element == b.element && a.rank == b.rank && a.memory == b.memory && a.at == b.at;
  }
  static auto same_declaration(const FuncDecl&, const FuncDecl&) -> bool { return true; }

  template <typename T>
  static auto binder(const T& n) {
    if constexpr (__is_same(T, Allocate)) {
      return n.buffer.get();
    } else {
      return n.symbol.get();
    }
  }

  /// Lets `a` and `b` correspond until the enclosing Scope ends.
  auto bind(const Symbol* a, const Symbol* b) -> bool {
    if (!same_declaration(*a, *b)) return false;
    correspond(a, b);
    return true;
  }
  auto bind(const BufferDecl* a, const BufferDecl* b) -> bool {
    if (!same_declaration(*a, *b)) return false;
    correspond(a, b);
    for (size_t d = 0; d < a->min.size(); ++d) {
      correspond(a->min[d].get(), b->min[d].get());
      correspond(a->extent[d].get(), b->extent[d].get());
      correspond(a->stride[d].get(), b->stride[d].get());
    }
    return true;
  }
  auto bind_argument(const Argument& a, const Argument& b) -> bool {
    if (a.index() != b.index()) return false;
    if (const auto* scalar = std::get_if<ScalarArgument>(&a)) {
      return bind(scalar->symbol.get(), std::get<ScalarArgument>(b).symbol.get());
    }
    const auto &x = std::get<BufferArgument>(a), &y = std::get<BufferArgument>(b);
    return x.role == y.role && bind(x.buffer.get(), y.buffer.get());
  }

  void correspond(const void* a, const void* b) {
    // Where a name had another partner before, what was found equal then may not be so now.
    const auto old = last_partner_.find(a);
    if (old != last_partner_.end() && old->second != b) equal_pairs_.clear();
    last_partner_[a] = b;
    undo_.push_back({a, find(forward_, a), b, find(backward_, b)});
    forward_[a] = b;
    backward_[b] = a;
    renamed_ += a != b;
  }
  using Names = std::unordered_map<const void*, const void*>;
  static auto find(const Names& map, const void* key) -> const void* {
    const auto hit = map.find(key);
    return hit == map.end() ? nullptr : hit->second;
  }
  static void put_back(Names& map, const void* key, const void* old) {
    if (old) {
      map[key] = old;
    } else {
      map.erase(key);
    }
  }

  struct Undo {
    const void *a, *old_b, *b, *old_a;
  };
  /// Ends the correspondences made while it lived.
  struct Scope {
    explicit Scope(Comparer& c) : comparer(c), start(c.undo_.size()) {}
    ~Scope() {
      auto& undo = comparer.undo_;
      while (undo.size() > start) {
        const Undo& u = undo.back();
        put_back(comparer.forward_, u.a, u.old_b);
        put_back(comparer.backward_, u.b, u.old_a);
        comparer.renamed_ -= u.a != u.b;
        undo.pop_back();
      }
    }
    Comparer& comparer;
    size_t start;
  };

  FreeNames free_names_;
  Names forward_, backward_, last_partner_;
  std::vector<Undo> undo_;
  int renamed_ = 0;
  std::unordered_set<Pair, PairHash> equal_pairs_;
};

/// Hash of a DAG: by value, never by address, so that it is the same in every process.
class Hasher {
 public:
  auto hash_expr(const Expr& e) -> uint64_t {
    if (!e) return 1;
    if (const auto hit = memo_.find(e.get()); hit != memo_.end()) return hit->second;
    uint64_t h = hash_combine(static_cast<uint64_t>(e.kind()), hash_type(e.type()));
    dispatch(*e.get(), [&](const auto& n) {
      if constexpr (__is_same(std::decay_t<decltype(n)>, Let)) {
        const uint64_t value = hash_expr(n.value);
        bound_[n.symbol.get()] = hash_combine(17, value);
        h = hash_combine(hash_combine(h, value), hash_expr(n.body));
      } else {
        n.each_field([&](const char*, const auto& field) { h = hash_combine(h, hash_field(field)); });
      }
    });
    return memo_[e.get()] = h;
  }

 private:
  static auto hash_type(Type t) -> uint64_t {
    return static_cast<uint64_t>(t.code) << 32 | static_cast<uint64_t>(t.bits) << 16 | t.lanes;
  }
  auto hash_field(const Expr& e) -> uint64_t { return hash_expr(e); }
  auto hash_field(const Stmt&) -> uint64_t { return 0; }
  auto hash_field(const StmtList&) -> uint64_t { return 0; }
  auto hash_field(const ExprList& list) -> uint64_t {
    uint64_t h = list.size();
    for (const auto& e : list) h = hash_combine(h, hash_expr(e));
    return h;
  }
  auto hash_field(const SymbolRef& s) -> uint64_t {
    const auto hit = bound_.find(s.get());
    return hit != bound_.end() ? hit->second : hash_combine(static_cast<uint64_t>(s->kind), hash_text(s->name));
  }
  auto hash_field(const BufferRef& b) -> uint64_t { return hash_text(b->name); }
  auto hash_field(const FuncDecl* f) -> uint64_t { return hash_text(f->name); }
  auto hash_field(const std::string& s) -> uint64_t { return hash_text(s); }
  auto hash_field(double v) -> uint64_t { return std::isnan(v) ? 7 : std::bit_cast<uint64_t>(v); }
  template <typename V>
    requires(std::is_enum_v<V> || std::is_integral_v<V>)
  auto hash_field(V v) -> uint64_t {
    return static_cast<uint64_t>(v);
  }

  std::unordered_map<const Node*, uint64_t> memo_;
  std::unordered_map<const Symbol*, uint64_t> bound_;
};

}  // namespace

auto equal(const Expr& a, const Expr& b) -> bool { return Comparer(FreeNames::ByIdentity).same_handle(a, b); }
auto equal(const Stmt& a, const Stmt& b) -> bool { return Comparer(FreeNames::ByIdentity).same_handle(a, b); }
auto equal(const Program& a, const Program& b) -> bool { return Comparer(FreeNames::ByName).same_program(a, b); }
auto equal_by_name(const Expr& a, const Expr& b) -> bool { return Comparer(FreeNames::ByName).same_handle(a, b); }
auto equal_by_name(const Stmt& a, const Stmt& b) -> bool { return Comparer(FreeNames::ByName).same_handle(a, b); }
auto hash(const Expr& e) -> uint64_t { return Hasher().hash_expr(e); }

}  // namespace drawloom
