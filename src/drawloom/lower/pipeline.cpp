#include <chrono>

#include "drawloom/analysis/simplify.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/lower/emit_nest.h"
#include "drawloom/lower/flatten_storage.h"
#include "drawloom/lower/lower.h"
#include "drawloom/lower/propagate_equalities.h"
#include "drawloom/lower/unroll_loops.h"
#include "drawloom/lower/vectorize_loops.h"

// The story of lowering, one row per pass. `needs` must have been given by earlier rows and not broken since; a row in
// the wrong place does not compile.

namespace drawloom {
namespace {

using I = Invariant;
using PassFunction = auto (*)(Stmt, PassContext&) -> Stmt;

struct Pass {
  std::string_view name;
  PassFunction function;
  InvariantSet needs, gives, breaks;
  bool optional;
};

auto simplify_statements(Stmt body, PassContext&) -> Stmt { return simplify(body); }

constexpr InvariantSet kNone = 0;
constexpr auto bits(Invariant i) -> InvariantSet { return static_cast<InvariantSet>(i); }

/// What emit_nest gives.
constexpr InvariantSet kStart = bits(I::UniqueNames);

constexpr Pass kPasses[] = {
    // Before vectors: a copy of a loop body costs least while it is small and scalar.
    {"unroll_loops", unroll_loops, bits(I::UniqueNames), bits(I::NoUnrolledLoops), kNone, false},
    // Tests that unrolling or the nest left constant go before they turn into masks.
    {"simplify_scalars", simplify_statements, bits(I::UniqueNames), kNone, kNone, true},
    // While subscripts are still one per dimension: which dimension the lanes run along is plain to see.
    {"vectorize_loops", vectorize_loops, bits(I::UniqueNames), bits(I::NoVectorLoops), kNone, false},
    // After vectors: storage per lane is a dimension like the others.
    {"flatten_storage", flatten_storage, bits(I::UniqueNames), bits(I::FlatStorage), kNone, false},
    // After flattening, which brings the strides in.
    {"propagate_equalities", propagate_equalities, bits(I::FlatStorage), kNone, kNone, true},
    // Ramps and flat subscripts into the shape that code generation recognises as dense.
    {"simplify", simplify_statements, bits(I::FlatStorage), kNone, kNone, true},
};

consteval auto order_is_right() -> bool {
  InvariantSet have = kStart;
  for (const auto& p : kPasses) {
    if ((have & p.needs) != p.needs) return false;
    have = (have | p.gives) & ~p.breaks;
  }
  return (have & (bits(I::FlatStorage) | bits(I::NoVectorLoops) | bits(I::NoUnrolledLoops))) ==
         (bits(I::FlatStorage) | bits(I::NoVectorLoops) | bits(I::NoUnrolledLoops));
}
static_assert(order_is_right(), "a pass stands before one that gives what it needs");

auto is_off(const LowerOptions& options, const Pass& p) -> bool {
  if (!p.optional) return false;
  for (const auto& name : options.off)
    if (name == p.name) return true;
  return false;
}

void check_claims(const Program& program, InvariantSet claims, std::string_view pass) {
  const auto found = verify(program, claims);
  DRAWLOOM_CHECK(found.empty(), "after {}: {}", pass, found.empty() ? std::string() : found.front().text());
}

/// Timing, verifying and showing what a pass made.
class Recorder {
 public:
  explicit Recorder(const LowerOptions& options) : options_(options), start_(std::chrono::steady_clock::now()) {}
  void done(std::string_view pass, const Program& program, InvariantSet claims) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (options_.verify) check_claims(program, claims, pass);
    if (options_.times) options_.times->push_back({pass, seconds, node_count(program.body)});
    if (options_.after_pass) options_.after_pass(pass, program);
    start_ = std::chrono::steady_clock::now();
  }

 private:
  const LowerOptions& options_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

auto lower(const Nest& nest, const LowerOptions& options) -> Program {
  Recorder recorder(options);
  Program program = emit_nest(nest);
  InvariantSet have = kStart;
  recorder.done("emit_nest", program, have);
  for (const auto& p : kPasses) {
    if (options.stop_after == "emit_nest") break;
    if (is_off(options, p)) continue;
    PassContext ctx{nest.target, &program};
    program.body = p.function(program.body, ctx);
    program.flat_storage |= (p.gives & bits(I::FlatStorage)) != 0;
    have = (have | p.gives) & ~p.breaks;
    recorder.done(p.name, program, have);
    if (options.stop_after == p.name) break;
  }
  return program;
}

auto pass_names() -> std::vector<std::string_view> {
  std::vector<std::string_view> out{"emit_nest"};
  for (const auto& p : kPasses) out.push_back(p.name);
  return out;
}

auto run_pass(std::string_view name, Program program, const Target& target) -> Result<Program> {
  for (const auto& p : kPasses) {
    if (p.name != name) continue;
    PassContext ctx{target, &program};
    program.body = p.function(program.body, ctx);
    program.flat_storage |= (p.gives & bits(I::FlatStorage)) != 0;
    return program;
  }
  return Diag(DiagKind::parse_unknown_name, {}, "pass", name);
}

}  // namespace drawloom
