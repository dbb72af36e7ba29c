/// Statements and programs as text. Expressions are print_expr.cpp's.
///
/// Symbols are objects and their names only hints, so text needs names of its own: two loops with the hint `x`, one
/// inside the other, print as %x and %x_1; one after the other both print as %x, since a name is free again behind its
/// scope. That keeps text stable: a change in one loop nest renames nothing in the next.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "drawloom/ir/build.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/print_device.h"
#include "drawloom/ir/print_expr.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/support/lexer.h"

namespace drawloom {
namespace {

/// Gives every symbol and buffer in scope a name of its own: the hint, or the hint with a number.
class Names {
 public:
  auto of(const Symbol& s) -> std::string {
    if (const auto field = fields_.find(&s); field != fields_.end()) return field->second;
    // Of a buffer that the text does not show otherwise.
    if (is_buffer_field(s)) return field_text(s, "%");
    return name(&s, s.name);
  }
  auto of(const BufferDecl& b) -> std::string {
    const bool known = names_.contains(&b);
    const auto text = name(&b, b.name);
    if (known) return text;
    for (size_t d = 0; d < b.min.size(); ++d) {
      fields_[b.min[d].get()] = str("min({}, {})", text, d);
      fields_[b.extent[d].get()] = str("extent({}, {})", text, d);
      fields_[b.stride[d].get()] = str("stride({}, {})", text, d);
    }
    return text;
  }

  auto hooks() -> NameHooks {
    NameHooks h;
    h.context = this;
    h.symbol = [](void* self, const Symbol& s) { return static_cast<Names*>(self)->of(s); };
    h.buffer = [](void* self, const BufferDecl& b) { return static_cast<Names*>(self)->of(b); };
    h.enter = [](void* self, const Symbol& s) {
      static_cast<Names*>(self)->enter(), static_cast<Names*>(self)->bind(&s);
    };
    h.leave = [](void* self) { static_cast<Names*>(self)->leave(); };
    h.func = [](void*, const FuncDecl& f) { return name_text(f.name); };
    return h;
  }

  /// The name of what a scope binds is free again after it. Symbols that nothing in the text binds keep theirs.
  void enter() { scopes_.emplace_back(); }
  void bind(const void* symbol) { scopes_.back().push_back(symbol); }
  void leave() {
    for (const void* symbol : scopes_.back()) {
      const auto hit = names_.find(symbol);
      if (hit == names_.end()) continue;
      const Given& given = hit->second;
      int& free = first_free_.at(given.base);
      free = std::min(free, given.number);
      used_.erase(given.text);
      names_.erase(hit);
    }
    scopes_.pop_back();
  }

 private:
  struct Given {
    std::string text, base;
    int number = 0;  ///< after the base; 0: the base alone
  };

  auto name(const void* key, std::string_view hint) -> std::string {
    auto [entry, fresh] = names_.try_emplace(key);
    if (!fresh) return entry->second.text;
    Given& given = entry->second;
    given.base = "%" + name_text(hint);
    int& free = first_free_[given.base];
    while (true) {
      given.number = free++;
      given.text = given.number == 0 ? given.base : str("{}_{}", given.base, given.number);
      if (used_.insert(given.text).second) return given.text;
    }
  }

  std::unordered_map<const void*, Given> names_;
  std::unordered_map<std::string, int> first_free_;  ///< below it, all numbers of a base are taken
  std::unordered_map<const Symbol*, std::string> fields_;
  std::unordered_set<std::string> used_;
  std::vector<std::vector<const void*>> scopes_;
};

auto for_word(ForKind how) -> std::string_view {
  switch (how) {
    case ForKind::Serial: return "for";
    case ForKind::Parallel: return "parallel for";
    case ForKind::Vectorized: return "vectorized for";
    case ForKind::Unrolled: return "unrolled for";
    case ForKind::Block: return "block for";
    case ForKind::Thread: return "thread for";
  }
  return "for";
}

class StmtPrinter {
 public:
  explicit StmtPrinter(int indent = 0) : indent_(indent), hooks_(names_.hooks()) {}

  auto names() -> Names& { return names_; }
  auto take() -> std::string { return std::move(out_); }

  /// A statement that is the last of its block: what a let or an allocate binds reaches to the closing brace.
  void put_last(const Stmt& s) {
    if (!s) return;
    if (const auto* block = s.as<Block>()) {
      for (size_t i = 0; i < block->stmts.size(); ++i) {
        i + 1 == block->stmts.size() ? put_last(block->stmts[i]) : put(block->stmts[i]);
      }
    } else if (const auto* let = s.as<LetStmt>()) {
      put_let(*let, "");
      put_last(let->body);
      names_.leave();
    } else if (const auto* allocate = s.as<Allocate>()) {
      put_allocate(*allocate, "");
      put_last(allocate->body);
      names_.leave();
    } else if (const auto* map = s.as<TensorMap>()) {
      put_tensor_map(*map, "");
      put_last(map->body);
      names_.leave();
    } else {
      put(s);
    }
  }

 private:
  void put(const Stmt& s) {
    if (!s) return;
    dispatch(*s.get(), [&](const auto& n) {
      if constexpr (std::is_base_of_v<StmtNode, std::decay_t<decltype(n)>>) put_node(n);
    });
  }

  void put_node(const Block& n) {
    for (const auto& s : n.stmts) put(s);
  }
  void put_node(const For& n) {
    const auto p = shared_first({n.min, n.extent});
    names_.enter();
    names_.bind(n.symbol.get());
    line(str("{} {} = {} : {} {{", for_word(n.how), names_.of(*n.symbol), p[0], p[1]));
    body(n.body);
    names_.leave();
  }
  void put_node(const If& n) {
    const auto p = shared_first({n.condition});
    line(str("if {} {{", p[0]));
    put_branches(n);
  }
  void put_branches(const If& n) {
    inside(n.then);
    const auto* chained = n.otherwise.as<If>();
    auto printed = chained ? print_exprs({chained->condition}, hooks_) : PrintedExprs();
    if (chained && printed.shared.empty()) {
      line(str("}} else if {} {{", printed.texts[0]));
      return put_branches(*chained);
    }
    if (n.otherwise) {
      line("} else {");
      inside(n.otherwise);
    }
    line("}");
  }
  void put_node(const LetStmt& n) {
    put_let(n, " {");
    body(n.body);
    names_.leave();
  }
  void put_node(const Allocate& n) {
    put_allocate(n, " {");
    body(n.body);
    names_.leave();
  }
  void put_let(const LetStmt& n, std::string_view end) {
    const auto p = shared_first({n.value});
    names_.enter();
    names_.bind(n.symbol.get());
    line(str("let {} = {}{}", names_.of(*n.symbol), p[0], end));
  }
  void put_allocate(const Allocate& n, std::string_view end) {
    const auto p = shared_first(n.extents);
    names_.enter();
    names_.bind(n.buffer.get());
    const bool flat = static_cast<int>(n.extents.size()) != n.buffer->rank;
    const bool shared = n.buffer->memory == MemoryKind::Shared;
    line(str("allocate {}: {}[{}]{} {}{}{}", names_.of(*n.buffer), n.buffer->element, join(p, ", "),
             flat ? str(" rank {}", n.buffer->rank) : std::string(), memory_name(n.buffer->memory),
             shared ? str(" at {}", n.buffer->at) : std::string(), end));
  }
  void put_node(const Store& n) {
    ExprList roots = n.index;
    roots.push_back(n.mask);
    roots.insert(roots.end(), n.origin.begin(), n.origin.end());
    roots.push_back(n.value);
    const auto p = shared_first(roots);
    const auto at = p.begin();
    const auto mask = at + static_cast<long>(n.index.size());
    std::string target = str("{}[{}", names_.of(*n.buffer), join({at, mask}, ", "));
    if (n.mask) target += "; mask " + *mask;
    if (!n.origin.empty()) target += "; origin " + join({mask + 1, p.end() - 1}, ", ");
    line(str("store {}{}] = {}", n.nontemporal ? "nontemporal " : "", target, p.back()));
  }
  void put_node(const Stage& n) {
    line(str("stage {} {{", quoted(n.name)));
    body(n.body);
  }
  void put_node(const Check& n) {
    ExprList roots = {n.condition};
    roots.insert(roots.end(), n.args.begin(), n.args.end());
    const auto p = shared_first(roots);
    const auto args = n.args.empty() ? std::string() : str("({})", join({p.begin() + 1, p.end()}, ", "));
    line(str("check {} {} {}{}", p[0], quoted(n.code), quoted(n.message), args));
  }
  void put_node(const StoreFence&) { line("store_fence"); }

  // --- device code

  template <DeviceLine T>
  void put_node(const T& n) {
    const auto p = shared_first(field_exprs(n));
    line(device_line(n, p, hooks_));
  }
  void put_node(const Launch& n) {
    line(launch_head(n) + " {");
    body(n.body);
  }
  void put_node(const TensorMap& n) {
    put_tensor_map(n, " {");
    body(n.body);
    names_.leave();
  }
  void put_tensor_map(const TensorMap& n, std::string_view end) {
    const auto p = shared_first(field_exprs(n));
    names_.enter();
    names_.bind(n.symbol.get());
    line(tensor_map_head(n, names_.of(*n.symbol), p, hooks_) + std::string(end));
  }
  void put_node(const RoleSwitch& n) {
    line("roles {");
    ++indent_;
    for (const auto& role : n.roles) put(role);
    --indent_;
    line("}");
  }
  void put_node(const Role& n) {
    names_.enter();
    names_.bind(n.symbol.get());
    line(str("role {} warps {} as {} {{", quoted(n.name), n.warps, names_.of(*n.symbol)));
    body(n.body);
    names_.leave();
  }
  void put_node(const Elect& n) {
    line("elect {");
    body(n.body);
  }

  void body(const Stmt& s) {
    inside(s);
    line("}");
  }
  void inside(const Stmt& s) {
    ++indent_;
    put_last(s);
    --indent_;
  }
  auto shared_first(const ExprList& roots) -> std::vector<std::string> {
    auto printed = print_exprs(roots, hooks_);
    for (const auto& shared : printed.shared) line(shared);
    return std::move(printed.texts);
  }
  void line(std::string_view text) {
    out_.append(static_cast<size_t>(indent_) * 2, ' ');
    out_ += text;
    out_ += '\n';
  }

  int indent_;
  std::string out_;
  Names names_;
  NameHooks hooks_;
};

auto argument_text(Names& names, const Argument& argument) -> std::string {
  if (const auto* a = std::get_if<BufferArgument>(&argument)) {
    const auto role = a->role == ArgumentRole::Output ? "out " : "";
    return str("{}{}: buffer<{}, {}>", role, names.of(*a->buffer), a->buffer->element, a->buffer->rank);
  }
  const Symbol& s = *std::get<ScalarArgument>(argument).symbol;
  std::string out = str("{}: {}", names.of(s), s.type);
  if (s.min || s.max) {
    out += str(" in [{}, {}]", s.min ? to_text(*s.min) : "-inf", s.max ? to_text(*s.max) : "inf");
  }
  return out;
}

}  // namespace

auto print(const Expr& e) -> std::string {
  if (!e) return "<undefined>";
  Names names;
  auto printed = print_exprs({e}, names.hooks());
  printed.shared.push_back(printed.texts[0]);
  return join(printed.shared, "; ");
}

auto print(const Stmt& s) -> std::string {
  StmtPrinter printer;
  printer.put_last(s);
  return printer.take();
}

auto described(const Node& node) -> std::string {
  // The node may be under construction, without a handle: a copy of it has one.
  const auto text = dispatch(node, [](const auto& n) {
    using T = std::decay_t<decltype(n)>;
    if constexpr (std::is_base_of_v<ExprNode, T>) {
      return print(Expr(Ref<const ExprNode>(make_ref<T>(n))));
    } else {
      return print(Stmt(Ref<const StmtNode>(make_ref<T>(n))));
    }
  });
  return "`" + text.substr(0, text.find('\n')) + "`";
}

auto print(const Program& p) -> std::string {
  StmtPrinter printer(1);
  std::vector<std::string> arguments;
  for (const auto& a : p.arguments) arguments.push_back(argument_text(printer.names(), a));
  printer.put_last(p.body);
  const std::string_view facts = p.flat_storage ? " flat_storage" : "";
  return str("func @{}({}){} {{\n{}}}\n", name_text(p.name), join(arguments, ", "), facts, printer.take());
}

auto print(const std::vector<Program>& programs) -> std::string {
  std::string out = std::string(kIrHeader) + "\n";
  for (const auto& p : programs) out += "\n" + print(p);
  return out;
}

}  // namespace drawloom
