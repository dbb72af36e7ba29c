#include "drawloom/driver/compile_ir.h"

#include <unordered_set>

#include "drawloom/codegen/c_header.h"
#include "drawloom/codegen/code.h"
#include "drawloom/codegen/kernel.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"
#include "drawloom/lower/lower.h"

namespace drawloom {
namespace {

constexpr InvariantSet kReady =
    Invariant::UniqueNames | Invariant::FlatStorage | Invariant::NoVectorLoops | Invariant::NoUnrolledLoops;

auto first_problem(const Program& program, InvariantSet claims) -> Status {
  auto found = verify(program, claims);
  if (found.empty()) return Done{};
  Diag first = found[0];
  for (size_t i = 1; i < found.size(); ++i) first = first.with_note(found[i].loc(), found[i].message());
  return first;
}

/// Kernels of one module are told apart by name: what an unrolled loop copied, or what was written twice, gets a number.
class KernelNamer : public Rewriter<KernelNamer> {
 public:
  auto on(const Launch& l, const Stmt& self) -> Stmt {
    std::string name = l.name;
    for (int n = 2; !taken_.insert(name).second; ++n) name = str("{}_{}", l.name, n);
    if (name == l.name) return self;
    auto copy = make_ref<Launch>(l);
    copy->name = std::move(name);
    return Stmt(Ref<const StmtNode>(std::move(copy)));
  }

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace

auto prepare_ir(std::string_view text, std::string_view file, const Target& host) -> Result<std::vector<Program>> {
  DRAWLOOM_TRY(auto programs, parse_programs(text, file));
  for (auto& program : programs) {
    DRAWLOOM_REQUIRE(first_problem(program, static_cast<InvariantSet>(Invariant::UniqueNames)));
    for (const auto pass : pass_names()) {
      if (pass == "emit_nest") continue;
      DRAWLOOM_TRY(program, run_pass(pass, std::move(program), host));
    }
    DRAWLOOM_REQUIRE(first_problem(program, kReady));
  }
  KernelNamer namer;
  for (auto& program : programs) program.body = namer.rewrite(program.body);
  return programs;
}

auto compile_ir(std::string_view text, std::string_view file, std::string_view stem, const CompileIrOptions& options)
    -> Result<CompiledIr> {
  CompiledIr out;
  DRAWLOOM_TRY(out.programs, prepare_ir(text, file, options.host));
  DeviceCode device{std::string(stem), {}, {}, options.device};
  const bool has_kernels = !launches(out.programs).empty();
  if (has_kernels) {
    DRAWLOOM_TRY(device.ptx, generate_ptx(out.programs, options.device));
    if (!options.ptxas.empty()) {
      DRAWLOOM_TRY(auto cubin, assemble(device.ptx, options.device, out.programs, options.ptxas));
      device.cubin = std::move(cubin.bytes);
      out.usage = std::move(cubin.usage);
    }
  }
  DRAWLOOM_TRY(out.object,
               generate_code(out.programs, options.host, CodeKind::Object, nullptr, has_kernels ? &device : nullptr));
  out.header = c_header(out.programs, stem);
  out.ptx = std::move(device.ptx);
  out.cubin = std::move(device.cubin);
  return out;
}

}  // namespace drawloom
