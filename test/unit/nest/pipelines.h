#pragma once
/// Small pipelines built straight from definitions, for tests below the front end.

#include "drawloom/ir/build.h"
#include "drawloom/lang/function.h"
#include "drawloom/nest/nest.h"

namespace drawloom::testing {

inline auto access(const Ref<FunctionDef>& f, ExprList args, int component = 0) -> Expr {
  return Expr(Ref<const ExprNode>(
      new Access(f->types[static_cast<size_t>(component)], f.get(), f, component, std::move(args), {})));
}

inline auto at(const SymbolRef& v, int64_t offset) -> Expr {
  return offset == 0 ? var_ref(v) : binary(BinaryOp::Add, var_ref(v), index_imm(offset));
}

/// Func of two dimensions x, y; `value` gets the args.
template <typename Value>
auto func2(std::string name, Type type, Value&& value) -> Ref<FunctionDef> {
  auto f = make_ref<FunctionDef>(std::move(name));
  f->args = {make_symbol(SymbolKind::Var, "x"), make_symbol(SymbolKind::Var, "y")};
  f->types = {type};
  f->pure.lhs = {var_ref(f->args[0]), var_ref(f->args[1])};
  f->pure.values = {value(f->args[0], f->args[1])};
  f->pure.contracted = f->pure.values;
  return f;
}

inline auto add_all(const ExprList& terms) -> Expr {
  Expr sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) sum = binary(BinaryOp::Add, sum, terms[i]);
  return sum;
}

inline auto make_pipeline(std::string name, std::vector<Ref<FunctionDef>> funcs, std::vector<BufferRef> inputs)
    -> PipelineRef {
  auto p = make_ref<PipelineDef>();
  p->name = std::move(name);
  for (const auto& f : funcs) p->funcs.push_back(f);
  p->outputs = {p->funcs.back()};
  p->inputs = std::move(inputs);
  p->output_buffers = {
      make_buffer(funcs.back()->name, funcs.back()->types[0], funcs.back()->rank(), MemoryKind::Argument)};
  return p;
}

/// `stages` Funcs s0 .. and out; each sums its predecessor over rows -reach .. reach (columns too if `square`).
inline auto stencil_chain(int stages, int64_t reach, bool square = false) -> PipelineRef {
  const auto in = make_buffer("in", uint_type(16), 2, MemoryKind::Argument);
  std::vector<Ref<FunctionDef>> funcs;
  for (int i = 0; i <= stages; ++i) {
    const auto name = i == stages ? std::string("out") : str("s{}", i);
    const auto previous = funcs.empty() ? Ref<FunctionDef>() : funcs.back();
    funcs.push_back(func2(name, uint_type(16), [&](const SymbolRef& x, const SymbolRef& y) {
      ExprList taps;
      for (int64_t dy = -reach; dy <= reach; ++dy)
        for (int64_t dx = square ? -reach : 0; dx <= (square ? reach : 0); ++dx)
          taps.push_back(previous ? access(previous, {at(x, dx), at(y, dy)}) : load(in, {at(x, dx), at(y, dy)}));
      return add_all(taps);
    }));
  }
  return make_pipeline("chain", funcs, {in});
}

/// `stages` Funcs s0 .. and out; each reads its predecessor at three places with other coordinates, so that no two of its boxes merge.
inline auto scattered_chain(int stages) -> PipelineRef {
  const auto in = make_buffer("in", uint_type(16), 2, MemoryKind::Argument);
  std::vector<Ref<FunctionDef>> funcs;
  const auto half = [](const Expr& e) { return binary(BinaryOp::Div, e, index_imm(2)); };
  for (int i = 0; i <= stages; ++i) {
    const auto name = i == stages ? std::string("out") : str("s{}", i);
    const auto previous = funcs.empty() ? Ref<FunctionDef>() : funcs.back();
    funcs.push_back(func2(name, uint_type(16), [&](const SymbolRef& x, const SymbolRef& y) {
      const auto read = [&](const Expr& a, const Expr& b) {
        return previous ? access(previous, {a, b}) : load(in, {a, b});
      };
      const Expr sum = binary(BinaryOp::Add, var_ref(x), var_ref(y));
      return add_all({read(half(sum), at(y, -1)), read(at(y, 0), binary(BinaryOp::Sub, index_imm(2), var_ref(x))),
                      read(half(at(x, 1)), half(at(y, 0)))});
    }));
  }
  return make_pipeline("scattered", funcs, {in});
}

inline auto blur() -> PipelineRef {
  const auto in = make_buffer("in", uint_type(16), 2, MemoryKind::Argument);
  const auto third = [](const Expr& a, const Expr& b, const Expr& c) {
    return binary(BinaryOp::Div, add_all({a, b, c}), int_imm(uint_type(16), 3));
  };
  const auto bx = func2("bx", uint_type(16), [&](const SymbolRef& x, const SymbolRef& y) {
    return third(load(in, {at(x, 0), at(y, 0)}), load(in, {at(x, 1), at(y, 0)}), load(in, {at(x, 2), at(y, 0)}));
  });
  const auto out = func2("out", uint_type(16), [&](const SymbolRef& x, const SymbolRef& y) {
    return third(access(bx, {at(x, 0), at(y, 0)}), access(bx, {at(x, 0), at(y, 1)}), access(bx, {at(x, 0), at(y, 2)}));
  });
  return make_pipeline("blur", {bx, out}, {in});
}

inline auto scheduled(const PipelineRef& p, const std::string& steps) -> Nest {
  const auto text = str("drawloom-schedule 1 for {}\n{}", p->name, steps);
  return apply(make_nest(p, x86_64_target(3)).or_throw(), parse_schedule(text, "test.sched").or_throw()).or_throw();
}

}  // namespace drawloom::testing
