#pragma once
/// Compiles programs and loads them into this process.

#include <memory>
#include <string_view>
#include <vector>

#include "drawloom/codegen/code.h"
#include "drawloom/runtime.h"

namespace drawloom {

struct JitOptions {
  CodegenTimes* times = nullptr;  ///< filled if given
  int64_t* link_ns = nullptr;     ///< wall time of loading the object
};

/// Machine code in this process; it lives as long as the last reference. Immutable and thread-safe.
class JitModule : public RefCounted {
 public:
  ~JitModule();
  /// The function `int NAME(drawloom_context_t*, args...)`, to be cast to its type; null if there is no such program.
  auto entry(std::string_view name) const -> void*;
  /// `int NAME_argv(drawloom_context_t*, void**)`; null if there is no such program.
  auto argv(std::string_view name) const -> drawloom_argv_function_t;

 private:
  struct Loaded;
  explicit JitModule(std::unique_ptr<Loaded> loaded);
  friend auto jit_load(const std::vector<Program>& programs, std::string object) -> Result<Ref<const JitModule>>;
  std::unique_ptr<Loaded> loaded_;
};

/// The code is that of generate_code(.., Object), so what runs here is what ahead-of-time users get. A null context
/// means the default context of the runtime library that is linked into this one. Thread-safe.
/// Errors: those of generate_code, jit_target (the machine lacks a feature of `target`), jit_link.
auto jit_compile(const std::vector<Program>& programs, const Target& target, JitOptions options = {})
    -> Result<Ref<const JitModule>>;

/// Loads an object made by generate_code from these programs, for instance out of a cache.
/// Errors: jit_link.
auto jit_load(const std::vector<Program>& programs, std::string object) -> Result<Ref<const JitModule>>;

}  // namespace drawloom
