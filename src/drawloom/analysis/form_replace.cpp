#include "drawloom/analysis/form.h"

namespace drawloom {
namespace {

auto rebuilt(const Atom& a, const AtomMap& map) -> Form {
  std::vector<Form> ops;
  for (const auto& op : a.operands) ops.push_back(replace_atoms(op, map));
  switch (a.kind) {
    case AtomKind::None: return Form(1);
    case AtomKind::FloorDiv: return floor_div(ops[0], ops[1]);
    case AtomKind::Mod: return floor_mod(ops[0], ops[1]);
    case AtomKind::Min:
    case AtomKind::Max: {
      Form out = ops[0];
      for (size_t i = 1; i < ops.size(); ++i) out = a.kind == AtomKind::Min ? min(out, ops[i]) : max(out, ops[i]);
      return out;
    }
    case AtomKind::Choose: return choose(a.condition, ops[0], ops[1]);
    case AtomKind::Opaque: return opaque(a.expr, a.range);
  }
  return Form(1);
}

}  // namespace

auto replace_atoms(const Form& f, const AtomMap& map) -> Form {
  Form out(f.node().constant);
  for (const auto& t : f.node().terms) {
    Form term(t.factor);
    for (const auto& s : t.symbols) term = term * Form(s);
    if (t.atom) {
      const auto replaced = map(*t.atom);
      term = term * (replaced ? *replaced : rebuilt(*t.atom, map));
    }
    out = out + term;
  }
  return out;
}

}  // namespace drawloom
