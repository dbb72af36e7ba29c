#include "drawloom/driver/aot.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "drawloom/codegen/c_header.h"
#include "drawloom/codegen/code.h"
#include "drawloom/driver/lowered.h"
#include "drawloom/ir/text_form.h"

namespace drawloom {
namespace {

struct LoweredPipelines {
  std::vector<Nest> nests;
  std::vector<Program> programs;
};

auto lower_all(const std::vector<AotPipeline>& pipelines, const Target& target, const AotOptions& options)
    -> Result<LoweredPipelines> {
  LoweredPipelines out;
  for (const auto& p : pipelines) {
    DRAWLOOM_TRY(auto nest, scheduled_nest(p.pipeline, p.schedule, target));
    out.programs.push_back(lower_reported(nest, options.compile));
    out.nests.push_back(std::move(nest));
  }
  return out;
}

auto file_stem(const std::vector<AotPipeline>& pipelines, const AotOptions& options) -> std::string {
  return options.name.empty() ? pipelines.front().pipeline->name : options.name;
}

auto schedules_text(const std::vector<AotPipeline>& pipelines, const Target& target) -> std::string {
  std::string out;
  for (const auto& p : pipelines) out += print(Schedule{p.pipeline->name, target.text(), p.schedule.steps});
  return out;
}

auto nests_text(const LoweredPipelines& lowered) -> std::string {
  std::string out;
  for (const auto& n : lowered.nests) out += print_nest(n);
  return out;
}

/// Products of one compilation; the object is made once for `.o` and `.a`.
class Products {
 public:
  Products(const std::vector<AotPipeline>& pipelines, const Target& target, const AotOptions& options)
      : pipelines_(pipelines), target_(target), options_(options) {}

  auto lower() -> Status {
    DRAWLOOM_TRY(lowered_, lower_all(pipelines_, target_, options_));
    return Done{};
  }

  auto get(AotProduct product) -> Result<std::string> {
    switch (product) {
      case AotProduct::object: return object();
      case AotProduct::static_library: return library();
      case AotProduct::header: return c_header(lowered_.programs, file_stem(pipelines_, options_));
      case AotProduct::schedule: return schedules_text(pipelines_, target_);
      case AotProduct::assembly: return code(CodeKind::Assembly);
      case AotProduct::llvm_ir: return code(CodeKind::LlvmIr);
      case AotProduct::ir: return print(lowered_.programs);
      case AotProduct::nest: return nests_text(lowered_);
    }
    return std::string();
  }

 private:
  auto code(CodeKind kind) -> Result<std::string> {
    CodegenTimes times;
    DRAWLOOM_TRY(auto bytes, generate_code(lowered_.programs, target_, kind, &times));
    if (options_.compile.report) report_codegen(times, *options_.compile.report);
    return bytes;
  }
  auto object() -> Result<std::string> {
    if (!object_) {
      DRAWLOOM_TRY(object_, code(CodeKind::Object));
    }
    return *object_;
  }
  auto library() -> Result<std::string> {
    DRAWLOOM_TRY(auto bytes, object());
    return make_archive({{file_stem(pipelines_, options_) + ".o", std::move(bytes)}});
  }

  const std::vector<AotPipeline>& pipelines_;
  const Target& target_;
  const AotOptions& options_;
  LoweredPipelines lowered_;
  std::optional<std::string> object_;
};

auto write_file(const std::string& path, const std::string& bytes) -> Status {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return Diag(DiagKind::compile_file, Loc(), "open", path, std::strerror(errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) return Diag(DiagKind::compile_file, Loc(), "write", path, std::strerror(errno));
  return Done{};
}

struct Wanted {
  AotProduct product;
  bool AotOptions::* wanted;
  std::string_view suffix;
};

constexpr Wanted kFiles[] = {
    {AotProduct::object, &AotOptions::object, ".o"},
    {AotProduct::static_library, &AotOptions::static_library, ".a"},
    {AotProduct::header, &AotOptions::header, ".h"},
    {AotProduct::schedule, &AotOptions::schedule, ".sched"},
    {AotProduct::assembly, &AotOptions::assembly, ".s"},
    {AotProduct::llvm_ir, &AotOptions::llvm_ir, ".ll"},
    {AotProduct::ir, &AotOptions::ir, ".ir"},
    {AotProduct::nest, &AotOptions::nest, ".nest"},
};

}  // namespace

auto compile_to(AotProduct product, const std::vector<AotPipeline>& pipelines, const Target& target,
                const AotOptions& options) -> Result<std::string> {
  DRAWLOOM_CHECK(!pipelines.empty(), "no pipeline to compile");
  Products products(pipelines, target, options);
  DRAWLOOM_REQUIRE(products.lower());
  return products.get(product);
}

auto compile_to_files(const std::vector<AotPipeline>& pipelines, const Target& target, const AotOptions& options)
    -> Result<std::vector<std::string>> {
  DRAWLOOM_CHECK(!pipelines.empty(), "no pipeline to compile");
  Products products(pipelines, target, options);
  DRAWLOOM_REQUIRE(products.lower());
  std::vector<std::string> paths;
  for (const auto& file : kFiles) {
    if (!(options.*file.wanted)) continue;
    DRAWLOOM_TRY(const auto bytes, products.get(file.product));
    paths.push_back(str("{}/{}{}", options.directory, file_stem(pipelines, options), file.suffix));
    DRAWLOOM_REQUIRE(write_file(paths.back(), bytes));
  }
  return paths;
}

}  // namespace drawloom
