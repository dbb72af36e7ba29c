// The members of the front end that compile and run. They throw, as all of its fluent door.

#include <algorithm>
#include <cstdio>

#include "drawloom/driver/aot.h"
#include "drawloom/driver/arguments.h"
#include "drawloom/driver/bounds.h"
#include "drawloom/lang/define.h"
#include "drawloom/lang/param.h"
#include "drawloom/lang/pipeline.h"

namespace drawloom {
namespace {

/// What a Pipeline keeps between calls.
struct CompiledBefore : Attachment {
  CompileCache cache;
};

auto cache_of(Ref<Attachment>& slot) -> CompileCache& {
  if (!slot) slot = Ref<Attachment>(make_ref<CompiledBefore>());
  return static_cast<CompiledBefore&>(*slot).cache;
}

auto output_box(const PipelineDef& p, const FunctionDef& f, const std::vector<int64_t>& extents) -> BoundsBox {
  if (static_cast<int>(extents.size()) != f.rank())
    throw Error(Diag(DiagKind::buffer_shape, f.loc, str("output {} of {}", f.name, p.name),
                     counted(f.rank(), "dimension"), extents.size()));
  BoundsBox out;
  for (const int64_t e : extents) out.push_back({0, e});
  return out;
}

auto query_of(const PipelineDef& p, const std::vector<int64_t>& extents) -> BoundsQuery {
  BoundsQuery query;
  for (const auto& f : p.outputs) query.outputs.push_back(output_box(p, *f, extents));
  for (const auto& s : p.params)
    if (!s->type.is_float()) query.params[s.get()] = integer_value(*s).or_throw();
  for (const auto& b : p.inputs)
    if (const auto* contents = contents_of(*b)) {
      auto& box = query.inputs[b.get()];
      for (const auto& d : contents->dims) box.push_back({d.min, d.extent});
    }
  return query;
}

/// Memory for an image that nobody has set.
void give_contents(const BufferDecl& image, const BoundsBox& box) {
  auto* contents = dynamic_cast<BufferContents*>(const_cast<Attachment*>(image.attached.get()));
  if (!contents) throw Error(Diag(DiagKind::call_unset, image.loc, "image", image.name));
  std::vector<drawloom_dim_t> dims;
  int64_t stride = 1;
  for (const auto& d : box) {
    dims.push_back({d.min, d.extent, stride});
    stride *= std::max(int64_t{1}, d.extent);
  }
  contents->storage = make_ref<HostBuffer>(image.element, dims);
}

}  // namespace

auto Pipeline::realize(const std::vector<int64_t>& extents, const Target& target) const -> Realization {
  std::vector<AnyBuffer> outputs;
  size_t next = 0;
  for (const auto& f : def_->outputs) {
    (void)output_box(*def_, *f, extents);
    for (const auto& type : f->types) outputs.emplace_back(type, extents, def_->output_buffers[next++]->name);
  }
  realize(outputs, target);
  return Realization(std::move(outputs));
}

void Pipeline::realize(const std::vector<AnyBuffer>& outputs, const Target& target) const {
  if (outputs.size() != def_->output_buffers.size())
    throw Error(Diag(DiagKind::call_arguments, Loc(), name(),
                     counted(static_cast<int>(def_->output_buffers.size()), "output buffer"), outputs.size()));
  CompileOptions options;
  options.cache = &cache_of(compiled_);
  const auto compiled = compile(def_, schedule(), target, options).or_throw();
  const auto arguments = CallArguments::of(*def_, outputs).or_throw();
  compiled->run(arguments.pointers()).or_throw();
}

void Pipeline::infer_input_bounds(const std::vector<int64_t>& extents) const {
  const Nest nest = scheduled_nest(def_, schedule(), host_target()).or_throw();
  const auto boxes = drawloom::infer_input_bounds(nest, query_of(*def_, extents)).or_throw();
  for (size_t i = 0; i < boxes.size(); ++i)
    if (!contents_of(*def_->inputs[i])) give_contents(*def_->inputs[i], boxes[i]);
}

auto Pipeline::loop_nest() const -> std::string {
  return print_nest(scheduled_nest(def_, schedule(), host_target()).or_throw());
}

void Pipeline::print_loop_nest() const { std::fputs(loop_nest().c_str(), stdout); }

void Pipeline::compile_jit(const Target& target) const {
  CompileOptions options;
  options.cache = &cache_of(compiled_);
  (void)compile(def_, schedule(), target, options).or_throw();
}

void Pipeline::compile_to_files(const std::string& prefix, const std::string& function, const Target& target) const {
  auto def = def_;
  auto steps = schedule();
  if (!function.empty()) {
    auto renamed = make_ref<PipelineDef>(*def_);
    renamed->name = steps.pipeline = function;
    def = renamed;
  }
  AotOptions options;
  const auto slash = prefix.rfind('/');
  if (slash != std::string::npos) options.directory = prefix.substr(0, slash);
  options.name = prefix.substr(slash == std::string::npos ? 0 : slash + 1);
  (void)drawloom::compile_to_files({{def, steps}}, target, options).or_throw();
}

// ---- a Func alone: the pipeline that ends with it

auto Func::realize(const std::vector<int64_t>& extents) const -> Realization {
  return Pipeline(*this).realize(extents);
}
void Func::realize(const AnyBuffer& output) const { Pipeline(*this).realize(std::vector<AnyBuffer>{output}); }
void Func::infer_input_bounds(const std::vector<int64_t>& extents) const {
  Pipeline(*this).infer_input_bounds(extents);
}
void Func::print_loop_nest() const { Pipeline(*this).print_loop_nest(); }
void Func::compile_jit() const { Pipeline(*this).compile_jit(); }

}  // namespace drawloom
