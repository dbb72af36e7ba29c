// Object code in this process, by LLVM's linker alone.
//
// The object is the one that `compile_to_files` would write, so there is no second way to generate code. It finds the
// functions listed here and nothing else: a name that is missing is an error when it is loaded, on every machine alike,
// and not a symbol that happens to be in the process. Math functions are those that the interpreters call, so results
// agree.
#include "drawloom/driver/jit.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "drawloom/codegen/llvm/machine.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace drawloom {

struct JitModule::Loaded {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, void*, std::less<>> entries;
};

namespace {

template <typename F>
auto address_of(F* function) -> void* {
  return reinterpret_cast<void*>(function);
}

/// All that generated code may refer to: the only names it can find.
auto known_functions() -> std::vector<std::pair<const char*, void*>> {
  using F = float (*)(float);
  using D = double (*)(double);
#define BOTH(name) \
  {#name, address_of(static_cast<D>(::name))}, { #name "f", address_of(static_cast<F>(::name##f)) }
  return {BOTH(exp),
          BOTH(log),
          BOTH(sin),
          BOTH(cos),
          BOTH(floor),
          BOTH(ceil),
          BOTH(trunc),
          BOTH(sqrt),
          BOTH(roundeven),
          {"pow", address_of(static_cast<double (*)(double, double)>(::pow))},
          {"powf", address_of(static_cast<float (*)(float, float)>(::powf))},
          {"memcpy", address_of(&::memcpy)},
          {"memmove", address_of(&::memmove)},
          {"memset", address_of(&::memset)},
          {"snprintf", address_of(&::snprintf)},
          {"drawloom_default_context", address_of(&::drawloom_default_context)}};
#undef BOTH
}

auto link_error(llvm::Error error) -> Diag { return Diag(DiagKind::jit_link, Loc(), llvm::toString(std::move(error))); }

auto define_functions(llvm::orc::LLJIT& jit) -> llvm::Error {
  llvm::orc::SymbolMap symbols;
  for (const auto& [name, address] : known_functions()) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

/// The linker's own messages would go to stderr; they are in the errors it returns as well.
auto make_jit() -> llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> {
  codegen::start_llvm();
  llvm::orc::JITTargetMachineBuilder machine{llvm::Triple("x86_64-unknown-linux-gnu")};
  // No runtime of LLVM's: objects have no constructors, no thread-local data and no exceptions.
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(machine))
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (jit) (*jit)->getExecutionSession().setErrorReporter([](llvm::Error e) { llvm::consumeError(std::move(e)); });
  return jit;
}

}  // namespace

JitModule::JitModule(std::unique_ptr<Loaded> loaded) : loaded_(std::move(loaded)) {}
JitModule::~JitModule() = default;

auto JitModule::entry(std::string_view name) const -> void* {
  const auto hit = loaded_->entries.find(name);
  return hit == loaded_->entries.end() ? nullptr : hit->second;
}

auto JitModule::argv(std::string_view name) const -> drawloom_argv_function_t {
  return reinterpret_cast<drawloom_argv_function_t>(entry(str("{}_argv", name)));
}

auto jit_load(const std::vector<Program>& programs, std::string object) -> Result<Ref<const JitModule>> {
  auto jit = make_jit();
  if (!jit) return link_error(jit.takeError());
  if (auto error = define_functions(**jit)) return link_error(std::move(error));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "drawloom");
  if (auto error = (*jit)->addObjectFile(std::move(buffer))) return link_error(std::move(error));
  auto loaded = std::make_unique<JitModule::Loaded>();
  loaded->jit = std::move(*jit);
  for (const Program& p : programs) {
    for (const std::string& name : {p.name, p.name + "_argv"}) {
      auto address = loaded->jit->lookup(name);
      if (!address) return link_error(address.takeError());
      loaded->entries.emplace(name, address->toPtr<void*>());
    }
  }
  return Ref<const JitModule>(new JitModule(std::move(loaded)));
}

auto jit_compile(const std::vector<Program>& programs, const Target& target, JitOptions options)
    -> Result<Ref<const JitModule>> {
  const Target host = host_target();
  if (!runs_on(target, host)) return Diag(DiagKind::jit_target, Loc(), target, host);
  DRAWLOOM_TRY(std::string object, generate_code(programs, target, CodeKind::Object, options.times));
  const auto start = std::chrono::steady_clock::now();
  auto module = jit_load(programs, std::move(object));
  if (options.link_ns) {
    const auto spent = std::chrono::steady_clock::now() - start;
    *options.link_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
  }
  return module;
}

}  // namespace drawloom
