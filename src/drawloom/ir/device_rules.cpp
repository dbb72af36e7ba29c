#include "drawloom/ir/device_rules.h"

#include "drawloom/ir/atoms.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/text_form.h"

namespace drawloom {
namespace {

auto malformed(const Node& node, std::string_view what) -> NodeProblem {
  return Diag(DiagKind::ir_malformed, node.loc, described(node), what);
}

/// A scalar index.
auto not_index(const Node& n, const Expr& e, std::string_view what) -> NodeProblem {
  if (e.type() == kIndex) return {};
  return malformed(n, str("{} `{}` is {}, not index", what, print(e), e.type()));
}
auto not_index(const Node& n, const ExprList& list, std::string_view what) -> NodeProblem {
  for (const auto& e : list) {
    if (auto p = not_index(n, e, what)) return p;
  }
  return {};
}

/// The mbarrier of a statement, and an amount that goes with it.
template <typename T>
auto barrier_problem(const T& n, const Expr& amount, std::string_view what) -> NodeProblem {
  const bool is_barrier = n.barrier->memory == MemoryKind::Shared && n.barrier->element == uint_type(64);
  if (!is_barrier) return malformed(n, "an mbarrier is an element of a shared buffer of u64");
  const int rank = n.barrier->rank, count = static_cast<int>(n.index.size());
  if (count != rank && count != 1) return malformed(n, str("{} subscripts for a buffer of rank {}", count, rank));
  if (auto p = not_index(n, n.index, "subscript")) return p;
  return not_index(n, amount, what);
}

auto is_one_of(int value, std::initializer_list<int> allowed) -> bool {
  for (const int a : allowed) {
    if (value == a) return true;
  }
  return false;
}

// --- operands of Issue

/// What `e` is instead of a place in `memory`; empty when it is one.
auto not_place(const Expr& e, MemoryKind memory) -> std::string {
  const auto* a = e.as<Address>();
  if (a && a->buffer->memory == memory) return {};
  return str("`{}` is no place in {} memory, as in `&%b[0]`", print(e), memory_name(memory));
}

auto registers_problem(const Expr& e, const AtomOperand& o) -> std::string {
  if (auto p = not_place(e, MemoryKind::Register); !p.empty()) return p;
  const auto& a = e.to<Address>();
  if (a.buffer->element != o.type) return str("`{}` is of {}, not {}", print(e), a.buffer->element, o.type);
  return a.index.size() == 1 ? std::string() : str("`{}` needs one subscript", print(e));
}

auto value_problem(const Expr& e, Type wanted) -> std::string {
  // A coordinate or a count may be an index: it is computed in 32 bits anyway.
  const bool narrowed = e.type() == kIndex && (wanted == int_type(32) || wanted == uint_type(32));
  if (e.type() == wanted || narrowed) return {};
  return str("`{}` is {}, not {}", print(e), e.type(), wanted);
}

auto operand_problem(const Expr& e, const AtomOperand& o) -> std::string {
  int64_t ignored;
  switch (o.kind) {
    case OperandKind::Value:
    case OperandKind::Values: return value_problem(e, o.type);
    case OperandKind::Registers: return registers_problem(e, o);
    case OperandKind::Descriptor: return value_problem(e, uint_type(64));
    case OperandKind::Map: {
      const auto* v = e.as<VarRef>();
      if (v && v->symbol->kind == SymbolKind::TensorMap) return {};
      return str("`{}` is no tensor map", print(e));
    }
    case OperandKind::Shared: return not_place(e, MemoryKind::Shared);
    case OperandKind::Global: return not_place(e, MemoryKind::Argument);
    case OperandKind::Barrier: {
      if (auto p = not_place(e, MemoryKind::Shared); !p.empty()) return p;
      const bool is_barrier = e.to<Address>().buffer->element == uint_type(64);
      return is_barrier ? std::string() : str("`{}` is no mbarrier, which is of u64", print(e));
    }
    case OperandKind::Predicate: return value_problem(e, kBool);
    case OperandKind::Immediate: return as_int(e, ignored) ? std::string() : str("`{}` is not constant", print(e));
  }
  return {};
}

auto nearest_atom(std::string_view name) -> std::string {
  std::vector<std::string> names;
  for (const DeviceAtom& a : all_atoms()) names.push_back(a.name);
  return nearest(name, names);
}

}  // namespace

auto address_type(const Address& n) -> Type {
  return n.buffer->memory == MemoryKind::Argument ? uint_type(64) : uint_type(32);
}

auto device_problem(const Address& n) -> NodeProblem {
  const int rank = n.buffer->rank, count = static_cast<int>(n.index.size());
  if (count != rank && count != 1) return malformed(n, str("{} subscripts for a buffer of rank {}", count, rank));
  const auto memory = n.buffer->memory;
  if (memory == MemoryKind::Heap || memory == MemoryKind::Stack) {
    return malformed(n, str("a {} buffer has no place in device code", memory_name(memory)));
  }
  return not_index(n, n.index, "subscript");
}

auto device_problem(const Reinterpret& n) -> NodeProblem {
  const Type from = n.value.type(), to = n.type;
  const auto width = [](Type t) { return t.is_bool() ? 1 : t.bits; };
  return width(from) == width(to) ? NodeProblem() : malformed(n, str("{} and {} differ in width", from, to));
}

auto device_problem(const Launch& n) -> NodeProblem {
  const int blocks = n.cluster_x * n.cluster_y * n.cluster_z;
  if (n.cluster_x < 1 || n.cluster_y < 1 || n.cluster_z < 1 || blocks > 8) {
    return malformed(n, str("a cluster of {} blocks; it has 1 to 8", blocks));
  }
  if (n.shared_bytes > 232448)
    return malformed(n, str("{} bytes of shared memory; a block has 232448", n.shared_bytes));
  if (n.registers > 255) return malformed(n, str("{} registers; a thread has at most 255", n.registers));
  return {};
}

auto device_problem(const TensorMap& n) -> NodeProblem {
  const size_t rank = n.dims.size();
  if (n.buffer->memory != MemoryKind::Argument) return malformed(n, "a tensor map is over an argument");
  if (static_cast<int>(n.base.size()) != n.buffer->rank && n.base.size() != 1) {
    return malformed(n, str("{} subscripts for a buffer of rank {}", n.base.size(), n.buffer->rank));
  }
  if (rank < 1 || rank > 5) return malformed(n, str("{} dimensions; a tensor map has 1 to 5", rank));
  if (n.strides.size() != rank - 1)
    return malformed(n, str("{} strides for {} dimensions, of which the first has none", n.strides.size(), rank));
  if (n.box.size() != rank) return malformed(n, str("a box of {} dimensions, not {}", n.box.size(), rank));
  for (const auto& e : n.box) {
    int64_t size;
    if (!as_int(e, size) || size < 1 || size > 256)
      return malformed(n, str("box extent `{}` is no constant from 1 to 256", print(e)));
  }
  if (!is_one_of(n.swizzle, {0, 32, 64, 128}))
    return malformed(n, str("a swizzle of {} bytes; there are 32, 64 and 128", n.swizzle));
  if (!is_one_of(n.promotion, {0, 64, 128, 256})) return malformed(n, str("a promotion of {} bytes", n.promotion));
  for (const auto* list : {&n.base, &n.dims, &n.strides}) {
    if (auto p = not_index(n, *list, "expression")) return p;
  }
  return {};
}

auto device_problem(const RoleSwitch& n) -> NodeProblem {
  for (const auto& s : n.roles) {
    if (s.kind() != Kind::Role) return malformed(n, "only roles stand in `roles`");
  }
  return {};
}
auto device_problem(const Role& n) -> NodeProblem {
  if (n.symbol->type != kIndex) return malformed(n, str("the thread's number is {}", n.symbol->type));
  return n.warps < 1 || n.warps > 32 ? malformed(n, str("{} warps; a block has 1 to 32", n.warps)) : NodeProblem();
}
auto device_problem(const Elect&) -> NodeProblem { return {}; }

auto device_problem(const Sync& n) -> NodeProblem {
  const bool numbered = n.how == SyncKind::Named || n.how == SyncKind::Arrive;
  if (!numbered) return n.id ? malformed(n, "only named barriers have a number") : NodeProblem();
  if (!n.id) return malformed(n, "a named barrier needs its number");
  if (auto p = not_index(n, n.id, "number")) return p;
  int64_t id;
  if (as_int(n.id, id) && (id < 1 || id > 15)) return malformed(n, str("barrier {}; their numbers are 1 to 15", id));
  if (n.threads < 32 || n.threads % 32 != 0)
    return malformed(n, str("{} threads; a barrier takes whole warps", n.threads));
  return {};
}

auto device_problem(const Init& n) -> NodeProblem { return barrier_problem(n, n.count, "count"); }
auto device_problem(const Arrive& n) -> NodeProblem {
  if (auto p = barrier_problem(n, n.count, "count")) return p;
  if (n.bytes && n.rank) return malformed(n, "an arrival at another block's barrier cannot expect bytes");
  if (n.bytes) return not_index(n, n.bytes, "byte count");
  return n.rank ? not_index(n, n.rank, "rank") : NodeProblem();
}
auto device_problem(const Expect& n) -> NodeProblem { return barrier_problem(n, n.bytes, "byte count"); }
auto device_problem(const Wait& n) -> NodeProblem { return barrier_problem(n, n.parity, "parity"); }
auto device_problem(const Fence&) -> NodeProblem { return {}; }

auto device_problem(const Issue& n) -> NodeProblem {
  const DeviceAtom* atom = find_atom(n.atom);
  if (!atom) {
    Diag diag(DiagKind::atom_unknown, n.loc, n.atom);
    const auto near = nearest_atom(n.atom);
    return near.empty() ? diag : diag.with_help(str("did you mean `{}`?", near));
  }
  if (static_cast<int>(n.operands.size()) != atom->arity()) {
    return malformed(n, str("`{}` takes {} operands, not {}", n.atom, atom->arity(), n.operands.size()));
  }
  size_t at = 0;
  for (const auto& o : atom->operands) {
    const int count = o.kind == OperandKind::Values ? o.count : 1;
    for (int i = 0; i < count; ++i) {
      const auto problem = operand_problem(n.operands[at++], o);
      if (!problem.empty()) return Diag(DiagKind::atom_operand, n.loc, n.atom, o.name, problem);
    }
  }
  return {};
}

auto device_problem(const Commit& n) -> NodeProblem {
  return n.group == AsyncGroup::BulkRead ? malformed(n, "`bulk_read` is for wait_group; groups are committed as `bulk`")
                                         : NodeProblem();
}
auto device_problem(const WaitGroup& n) -> NodeProblem {
  const int most = n.group == AsyncGroup::Wgmma ? 7 : 63;
  return n.pending > most ? malformed(n, str("{} groups left pending; at most {}", n.pending, most)) : NodeProblem();
}
auto device_problem(const SetRegisters& n) -> NodeProblem {
  const bool fits = n.count >= 24 && n.count <= 256 && n.count % 8 == 0;
  return fits ? NodeProblem() : malformed(n, str("{} registers; a multiple of 8 from 24 to 256", n.count));
}

}  // namespace drawloom
