// From definitions to stages of small nodes.
//
// Example, f(x) = a(x) * 2 with update f(r) = f(r) + f(0), r in 1 .. 4:
//     stage 0   Arg 0, InputRead a, Constant 2, Mul
//     stage 1   RVar 0, OwnRead at RVar 0, OwnRead at Constant 0, Add; left side: RVar 0; self-reads: elsewhere
// Names are resolved here: an Arg by its dimension, an RVar by its place in the domain, parameters and sizes as
// constants. A node that several others use gets a slot, so that a DAG is evaluated in its size, not in the number of
// its paths.
//
// What an update reads of its own Func decides how much is kept: an accumulation needs the last value of each point,
// any other self-reference all of them.
#include <algorithm>

#include "drawloom/interp/oracle/code.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/node_ops.h"

namespace drawloom::oracle {
namespace {

using SymbolTable = std::unordered_map<const Symbol*, Value>;

/// Numbers Funcs as they are met; the caller compiles those it has not seen yet.
struct Shared {
  PipelineCode* code;
  SymbolTable runtime;  ///< parameters and buffer fields
  std::optional<Diag> problem;

  auto func(const FunctionDef& f) -> int {
    const auto [at, fresh] = code->func_ids.insert({&f, static_cast<int>(code->funcs.size())});
    if (fresh) code->funcs.push_back({.def = &f, .stages = {}});
    return at->second;
  }
  auto input(const BufferDecl* b) -> int {
    for (size_t i = 0; i < code->inputs.size(); ++i) {
      if (code->inputs[i] == b) return static_cast<int>(i);
    }
    return kNone;
  }
};

class StageCompiler {
 public:
  StageCompiler(Shared& shared, const FunctionDef& f, const Definition& d, bool is_pure)
      : shared_(shared), func_(f), def_(d), is_pure_(is_pure) {}

  auto compile(bool has_fma) -> StageCode {
    out_.loc = def_.loc;
    bind_names();
    for (const auto& v : def_.values_for(has_fma)) out_.values.push_back(node(v));
    for (const size_t d : out_.free_dims) out_.lhs.push_back(node(def_.lhs[d]));
    if (reads_self_) out_.self_reads = reads_elsewhere_ ? SelfReads::elsewhere : SelfReads::same_point;
    give_slots();
    return std::move(out_);
  }

 private:
  auto fail(const Loc& loc, const std::string& what) -> int {
    if (!shared_.problem) shared_.problem = Diag(DiagKind::oracle_argument, loc, func_.name, what);
    return 0;
  }

  void bind_names() {
    for (size_t d = 0; d < func_.args.size(); ++d) {
      const auto* own = is_pure_ ? nullptr : def_.lhs[d].as<VarRef>();
      const bool pure = is_pure_ || (own && own->symbol == func_.args[d]);
      (pure ? out_.pure_dims : out_.free_dims).push_back(d);
      if (pure) names_[func_.args[d].get()] = push({.what = What::Arg, .type = kIndex, .target = static_cast<int>(d)});
    }
    if (!def_.rdom) return;
    for (size_t i = 0; i < def_.rdom->dims.size(); ++i) {
      const auto& dim = def_.rdom->dims[i];
      out_.rdom_min.push_back(bound(dim.min));
      out_.rdom_extent.push_back(std::max<int64_t>(0, bound(dim.extent)));
      out_.iterations *= out_.rdom_extent.back();
      names_[dim.symbol.get()] = push({.what = What::RVar, .type = kIndex, .target = static_cast<int>(i)});
    }
  }

  /// Bounds of a reduction domain are over parameters and buffer fields: evaluated here, once.
  auto bound(const Expr& e) -> int64_t {
    bool ambiguous = false;
    return dispatch(*e.get(), [&](const auto& n) { return this->fixed(n, ambiguous); }).i;
  }
  auto fixed(const Expr& e, bool& ambiguous) -> Value {
    return dispatch(*e.get(), [&](const auto& n) { return this->fixed(n, ambiguous); });
  }
  auto fixed(const IntImm& n, bool&) -> Value { return int_value(n.type, n.value); }
  auto fixed(const FloatImm& n, bool&) -> Value { return float_value(n.type, n.value); }
  auto fixed(const VarRef& n, bool&) -> Value { return runtime_value(n); }
  auto fixed(const Cast& n, bool& amb) -> Value { return eval_cast(n.type, fixed(n.value, amb), amb); }
  auto fixed(const Unary& n, bool& amb) -> Value { return eval_unary(n.op, fixed(n.a, amb)); }
  auto fixed(const Binary& n, bool& amb) -> Value { return eval_binary(n.op, fixed(n.a, amb), fixed(n.b, amb), amb); }
  auto fixed(const Select& n, bool& amb) -> Value { return fixed(fixed(n.condition, amb).i ? n.yes : n.no, amb); }
  auto fixed(const Call& n, bool& amb) -> Value {
    Value args[3];
    for (size_t i = 0; i < n.args.size() && i < 3; ++i) args[i] = fixed(n.args[i], amb);
    return eval_call(n.function, args);
  }
  auto fixed(const drawloom::Node& n, bool&) -> Value {
    fail(n.loc, "a bound of its reduction domain is not over parameters and sizes");
    return int_value(kIndex, 0);
  }
  auto runtime_value(const VarRef& n) -> Value {
    const auto found = shared_.runtime.find(n.symbol.get());
    if (found != shared_.runtime.end()) return found->second;
    fail(n.loc, str("`{}` has no value here", n.symbol->name));
    return {.type = n.type};
  }

  // --- nodes

  auto push(Node n) -> int {
    out_.nodes.push_back(std::move(n));
    return static_cast<int>(out_.nodes.size()) - 1;
  }
  auto node(const Expr& e) -> int {
    if (const auto known = memo_.find(e.get()); known != memo_.end()) return known->second;
    const int id = dispatch(*e.get(), [&](const auto& n) { return this->make(n); });
    memo_[e.get()] = id;
    return id;
  }
  auto nodes(const ExprList& list) -> std::vector<int> {
    std::vector<int> out;
    for (const auto& e : list) out.push_back(node(e));
    return out;
  }
  auto constant(Value v) -> int { return push({.what = What::Constant, .type = v.type, .value = v}); }

  auto make(const IntImm& n) -> int { return constant(int_value(n.type, n.value)); }
  auto make(const FloatImm& n) -> int { return constant(float_value(n.type, n.value)); }
  auto make(const VarRef& n) -> int {
    const auto found = names_.find(n.symbol.get());
    return found != names_.end() ? found->second : constant(runtime_value(n));
  }
  auto make(const Cast& n) -> int { return push({.what = What::Cast, .type = n.type, .operands = {node(n.value)}}); }
  auto make(const Unary& n) -> int {
    return push({.what = What::Unary, .op = static_cast<uint8_t>(n.op), .type = n.type, .operands = {node(n.a)}});
  }
  auto make(const Binary& n) -> int {
    const int a = node(n.a), b = node(n.b);
    return push({.what = What::Binary, .op = static_cast<uint8_t>(n.op), .type = n.type, .operands = {a, b}});
  }
  auto make(const Select& n) -> int {
    const int c = node(n.condition), yes = node(n.yes), no = node(n.no);
    return push({.what = What::Select, .type = n.type, .operands = {c, yes, no}});
  }
  auto make(const Call& n) -> int {
    return push(
        {.what = What::Call, .op = static_cast<uint8_t>(n.function), .type = n.type, .operands = nodes(n.args)});
  }
  auto make(const Access& n) -> int {
    Node out{.what = What::FuncRead, .type = n.type, .operands = nodes(n.args), .component = n.component, .loc = n.loc};
    const auto& f = function_of(n);
    if (n.args.size() != f.args.size()) return fail(n.loc, str("{} arguments for {}", n.args.size(), f.name));
    if (&f == &func_) {
      out.what = What::OwnRead;
      reads_self_ = true;
      if (!is_pure_ && !at_lhs(n.args)) reads_elsewhere_ = true;
    } else {
      out.target = shared_.func(f);
    }
    return push(std::move(out));
  }
  auto at_lhs(const ExprList& args) const -> bool {
    for (size_t d = 0; d < args.size(); ++d) {
      if (!equal(args[d], def_.lhs[d])) return false;
    }
    return true;
  }
  auto make(const Load& n) -> int {
    const int input = shared_.input(n.buffer.get());
    if (input == kNone) return fail(n.loc, str("no array for input `{}`", n.buffer->name));
    if (n.index.size() != static_cast<size_t>(n.buffer->rank))
      return fail(n.loc, str("{} subscripts for `{}`", n.index.size(), n.buffer->name));
    return push({.what = What::InputRead, .type = n.type, .operands = nodes(n.index), .target = input, .loc = n.loc});
  }
  auto make(const Let& n) -> int {
    const int value = node(n.value);
    const auto outer = names_.find(n.symbol.get());
    DRAWLOOM_CHECK(outer == names_.end(), "`{}` is bound twice in a definition", n.symbol->name);
    names_[n.symbol.get()] = value;
    const int body = node(n.body);
    names_.erase(n.symbol.get());
    // Another Let may give the symbol another value: what was made under this one is not its.
    memo_.clear();
    return body;
  }
  auto make(const drawloom::Node& n) -> int { return fail(n.loc, str("{} in a definition", kind_name(n.kind))); }

  /// A node that several others use gets a place for its value, so that a DAG costs its size.
  void give_slots() {
    std::vector<int> uses(out_.nodes.size());
    for (const auto& n : out_.nodes) {
      for (const int k : n.operands) ++uses[static_cast<size_t>(k)];
    }
    for (const int k : out_.values) ++uses[static_cast<size_t>(k)];
    for (const int k : out_.lhs) ++uses[static_cast<size_t>(k)];
    for (size_t i = 0; i < uses.size(); ++i) {
      auto& n = out_.nodes[i];
      if (uses[i] > 1 && !n.operands.empty()) n.slot = out_.slots++;
    }
  }

  Shared& shared_;
  const FunctionDef& func_;
  const Definition& def_;
  bool is_pure_;
  bool reads_self_ = false, reads_elsewhere_ = false;
  StageCode out_;
  std::unordered_map<const Symbol*, int> names_;
  std::unordered_map<const drawloom::Node*, int> memo_;
};

auto runtime_symbols(const PipelineDef& pipeline, const OracleInputs& inputs) -> SymbolTable {
  SymbolTable table = inputs.params;
  for (const auto& [buffer, array] : inputs.buffers) {
    for (size_t d = 0; d < array->dims.size() && d < buffer->min.size(); ++d) {
      table[buffer->min[d].get()] = int_value(kIndex, array->dims[d].min);
      table[buffer->extent[d].get()] = int_value(kIndex, array->dims[d].extent);
      table[buffer->stride[d].get()] = int_value(kIndex, array->dims[d].stride);
    }
  }
  size_t next = 0;
  for (size_t f = 0; f < pipeline.outputs.size() && f < inputs.output_boxes.size(); ++f) {
    for (int c = 0; c < pipeline.outputs[f]->components() && next < pipeline.output_buffers.size(); ++c, ++next) {
      const auto& buffer = *pipeline.output_buffers[next];
      const auto& box = inputs.output_boxes[f];
      for (size_t d = 0; d < box.size() && d < buffer.min.size(); ++d) {
        table[buffer.min[d].get()] = int_value(kIndex, box[d].min);
        table[buffer.extent[d].get()] = int_value(kIndex, box[d].extent);
      }
    }
  }
  return table;
}

auto input_problem(const BufferDecl& b, const OracleInputs& inputs) -> std::optional<Diag> {
  const auto found = inputs.buffers.find(&b);
  const auto wrong = [&](const std::string& what) { return Diag(DiagKind::oracle_argument, b.loc, b.name, what); };
  if (found == inputs.buffers.end() || !found->second) return wrong("no array is given");
  if (found->second->element != b.element)
    return wrong(str("elements are {}, not {}", found->second->element, b.element));
  if (found->second->rank() != b.rank) return wrong(str("rank {}, not {}", found->second->rank(), b.rank));
  return {};
}

}  // namespace

auto compile(const PipelineDef& pipeline, const OracleInputs& inputs, bool has_fma) -> Result<PipelineCode> {
  PipelineCode code;
  for (const auto& b : pipeline.inputs) {
    if (auto p = input_problem(*b, inputs)) return *p;
    code.inputs.push_back(b.get());
    code.arrays.push_back(inputs.buffers.at(b.get()));
  }
  if (inputs.output_boxes.size() != pipeline.outputs.size()) {
    return Diag(DiagKind::oracle_argument, {}, pipeline.name,
                str("{} output boxes for {} outputs", inputs.output_boxes.size(), pipeline.outputs.size()));
  }
  Shared shared{.code = &code, .runtime = runtime_symbols(pipeline, inputs), .problem = {}};
  for (size_t i = 0; i < pipeline.outputs.size(); ++i) {
    const auto& f = *pipeline.outputs[i];
    if (static_cast<int>(inputs.output_boxes[i].size()) != f.rank()) {
      return Diag(DiagKind::oracle_argument, f.loc, f.name,
                  str("an output box of rank {}, not {}", inputs.output_boxes[i].size(), f.rank()));
    }
    shared.func(f);
  }
  // `funcs` grows while stages are compiled.
  for (size_t i = 0; i < code.funcs.size(); ++i) {
    const auto& f = *code.funcs[i].def;
    if (f.args.size() > kMaxRank || f.types.size() > kMaxComponents) {
      return Diag(DiagKind::oracle_argument, f.loc, f.name, "more dimensions or components than the oracle holds");
    }
    for (int s = 0; s < f.stages(); ++s) {
      auto stage = StageCompiler(shared, f, f.stage(s), s == 0).compile(has_fma);
      code.funcs[i].stages.push_back(std::move(stage));
    }
    if (shared.problem) return *shared.problem;
  }
  return code;
}

}  // namespace drawloom::oracle
