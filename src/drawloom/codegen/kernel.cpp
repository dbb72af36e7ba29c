#include "drawloom/codegen/kernel.h"

#include <algorithm>
#include <unordered_set>

#include "drawloom/ir/atoms.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/verify_device.h"

namespace drawloom {
namespace {

/// Collects what is used but not bound in a launch. Binders are unique, so what is bound anywhere in it is its own.
class Collector {
 public:
  explicit Collector(const Launch& launch) {
    each_node(launch, [&](const Node& node) {
      dispatch(node, [&](const auto& n) {
        using T = std::decay_t<decltype(n)>;
        if constexpr (kBinds<T> && !__is_same(T, Allocate)) bound_.insert(n.symbol.get());
        if constexpr (__is_same(T, Allocate)) bound_.insert(n.buffer.get());
      });
      return true;
    });
    // The extents of the grid are the host's; a block knows its own number.
    const auto shape = launch_shape(launch);
    if (shape.ok() && shape->body) visit(*shape->body.get());
  }
  std::vector<KernelParam> found;

 private:
  /// In the order of the text, each node once.
  void visit(const Node& node) {
    if (!visited_.insert(&node).second) return;
    dispatch(node, [&](const auto& n) { n.each_field([&](std::string_view, const auto& field) { use(field); }); });
    each_child(node, [&](const auto& child) { visit(*child.get()); });
  }
  void use(const BufferRef& b) {
    if (!bound_.contains(b.get()) && used_.insert(b.get()).second) found.push_back({b, {}});
  }
  void use(const SymbolRef& s) {
    if (!bound_.contains(s.get()) && used_.insert(s.get()).second) found.push_back({{}, s});
  }
  template <typename T>
  void use(const T&) {}

  std::unordered_set<const void*> bound_, used_;
  std::unordered_set<const Node*> visited_;
};

void each_statement(const Stmt& s, auto&& visit) {
  if (!s) return;
  visit(s);
  struct Children {
    decltype(visit)& f;
    void operator()(const Stmt& child) const { each_statement(child, f); }
    void operator()(const Expr&) const {}
  };
  each_child(*s.get(), Children{visit});
}

/// Whether an operand of an atom is only read, only written.
auto operand_use(const DeviceAtom& atom, size_t at) -> DeviceUse {
  size_t first = 0;
  for (const auto& o : atom.operands) {
    const size_t count = o.kind == OperandKind::Values ? static_cast<size_t>(o.count) : 1;
    if (at < first + count) {
      const bool stores = atom.family == AtomFamily::TmaStore || atom.family == AtomFamily::BulkStore ||
                          atom.family == AtomFamily::VectorStore;
      return {!stores, stores};
    }
    first += count;
  }
  return {};
}

}  // namespace

auto kernel_params(const Launch& launch) -> std::vector<KernelParam> { return std::move(Collector(launch).found); }

auto launches(const std::vector<Program>& programs) -> std::vector<const Launch*> {
  std::vector<const Launch*> out;
  for (const auto& p : programs) {
    each_statement(p.body, [&](const Stmt& s) {
      const auto* launch = s.as<Launch>();
      if (launch && std::find(out.begin(), out.end(), launch) == out.end()) out.push_back(launch);
    });
  }
  return out;
}

auto ptx_of(FenceKind how) -> std::string_view {
  switch (how) {
#define FENCE(name, text, ptx) \
  case FenceKind::name: return ptx;
#include "drawloom/ir/device.def"
  }
  return {};
}
auto ptx_of_commit(AsyncGroup group) -> std::string_view {
  switch (group) {
#define ASYNC_GROUP(name, text, commit, wait) \
  case AsyncGroup::name: return commit;
#include "drawloom/ir/device.def"
  }
  return {};
}
auto ptx_of_wait(AsyncGroup group, int pending) -> std::string {
  std::string out;
  switch (group) {
#define ASYNC_GROUP(name, text, commit, wait) \
  case AsyncGroup::name: out = wait; break;
#include "drawloom/ir/device.def"
  }
  return out.replace(out.find("{n}"), 3, std::to_string(pending));
}

auto device_use(const Stmt& body, const BufferDecl* buffer) -> DeviceUse {
  DeviceUse out;
  std::unordered_set<const Symbol*> maps;
  bool in_launch = false;
  each_statement(body, [&](const Stmt& s) {
    if (const auto* map = s.as<TensorMap>(); map && map->buffer.get() == buffer) maps.insert(map->symbol.get());
    in_launch = in_launch || s.kind() == Kind::Launch;
  });
  if (!in_launch) return out;
  each_node(*body.get(), [&](const Node& node) {
    if (node.kind == Kind::Launch) return true;
    if (node.kind == Kind::Load) out.read = out.read || static_cast<const Load&>(node).buffer.get() == buffer;
    if (node.kind == Kind::Store) out.written = out.written || static_cast<const Store&>(node).buffer.get() == buffer;
    if (node.kind != Kind::Issue) return true;
    const auto& issue = static_cast<const Issue&>(node);
    const DeviceAtom* atom = find_atom(issue.atom);
    for (size_t i = 0; atom && i < issue.operands.size(); ++i) {
      const auto* place = issue.operands[i].as<Address>();
      const auto* name = issue.operands[i].as<VarRef>();
      const bool meant = (place && place->buffer.get() == buffer) || (name && maps.contains(name->symbol.get()));
      if (!meant) continue;
      const DeviceUse use = operand_use(*atom, i);
      out.read = out.read || use.read;
      out.written = out.written || use.written;
    }
    return true;
  });
  return out;
}

}  // namespace drawloom
