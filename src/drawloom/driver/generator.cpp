#include "drawloom/driver/generator.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "drawloom/driver/aot.h"
#include "drawloom/support/check.h"

namespace drawloom {
namespace {

struct GeneratorOptions {
  std::string schedule_file, target;
  AotOptions files;
};

constexpr std::string_view kUsage =
    "usage: [--schedule FILE] [--target T] [--name NAME] [--emit o,a,h,sched,s,ll,ir,nest] [-o DIRECTORY]\n";

/// Empty when the words are understood, else the one that is not.
auto read_options(int argc, char** argv, GeneratorOptions& out) -> Result<std::string> {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (i + 1 >= argc) return word;
    const std::string value = argv[++i];
    if (word == "--schedule") {
      out.schedule_file = value;
    } else if (word == "--target") {
      out.target = value;
    } else if (word == "--name") {
      out.files.name = value;
    } else if (word == "--emit") {
      DRAWLOOM_REQUIRE(choose_products(value, out.files));
    } else if (word == "-o") {
      out.files.directory = value;
    } else {
      return word;
    }
  }
  return std::string();
}

auto schedule_of(const Pipeline& pipeline, const GeneratorOptions& options) -> Result<Schedule> {
  if (options.schedule_file.empty()) return pipeline.schedule();
  DRAWLOOM_TRY(const auto text, read_text_file(options.schedule_file));
  return parse_schedule(text, options.schedule_file);
}

auto target_of(const GeneratorOptions& options, const Schedule& schedule) -> Result<Target> {
  if (!options.target.empty()) return parse_target(options.target);
  if (!schedule.target.empty()) return parse_target(schedule.target);
  return host_target();
}

auto generate(const Pipeline& pipeline, const GeneratorOptions& options) -> Status {
  DRAWLOOM_TRY(const auto schedule, schedule_of(pipeline, options));
  DRAWLOOM_TRY(const auto target, target_of(options, schedule));
  DRAWLOOM_REQUIRE(compile_to_files({{pipeline.definition(), schedule}}, target, options.files));
  return Done{};
}

}  // namespace

auto read_text_file(const std::string& path) -> Result<std::string> {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return Diag(DiagKind::compile_file, Loc(), "open", path, std::strerror(errno));
  std::string text;
  char block[4096];
  while (const size_t n = std::fread(block, 1, sizeof block, file)) text.append(block, n);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return Diag(DiagKind::compile_file, Loc(), "read", path, std::strerror(errno));
  return text;
}

auto choose_products(std::string_view list, AotOptions& options) -> Status {
  const std::pair<std::string_view, bool*> products[] = {
      {"o", &options.object},   {"a", &options.static_library}, {"h", &options.header}, {"sched", &options.schedule},
      {"s", &options.assembly}, {"ll", &options.llvm_ir},       {"ir", &options.ir},    {"nest", &options.nest}};
  for (auto* chosen : {&options.object, &options.static_library, &options.header, &options.schedule}) *chosen = false;
  for (const auto& name : split_text(list, ',')) {
    const auto found =
        std::find_if(std::begin(products), std::end(products), [&](const auto& p) { return p.first == name; });
    if (found == std::end(products)) {
      return Diag(DiagKind::parse_unknown_name, Loc(), "product", name)
          .with_help("one of o, a, h, sched, s, ll, ir, nest");
    }
    *found->second = true;
  }
  return Done{};
}

auto generator_main(int argc, char** argv, const Pipeline& pipeline) -> int {
  try {
    GeneratorOptions options;
    const std::string unknown = read_options(argc, argv, options).or_throw();
    if (!unknown.empty()) {
      std::fprintf(stderr, "%s: %s\n%.*s", argv[0], unknown.c_str(), static_cast<int>(kUsage.size()), kUsage.data());
      return 2;
    }
    generate(pipeline, options).or_throw();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace drawloom
