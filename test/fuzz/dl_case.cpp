#include "arguments.h"
#include "drawloom/ir/build.h"
#include "drawloom/lang/dl_text.h"
#include "fuzz_case.h"

namespace drawloom::fuzz {
namespace {

auto ranges_of(const std::vector<ArrayDim>& dims) -> std::vector<DlCase::Range> {
  std::vector<DlCase::Range> out;
  for (const auto& d : dims) out.push_back({d.min, d.extent});
  return out;
}

auto word_of(Strides s) -> std::string {
  switch (s) {
    case Strides::dense: return "dense";
    case Strides::padded: return "padded";
    case Strides::spread: return "spread";
    case Strides::turned: return "turned";
    case Strides::upside_down: return "upside_down";
  }
  return "dense";
}

auto constant_of(const Value& v) -> Expr { return v.type.is_float() ? float_imm(v.type, v.f) : int_imm(v.type, v.i); }

}  // namespace

auto dl_case_of(const Case& c, const Arguments& arguments, const Schedule& schedule) -> DlCase {
  const auto& p = *c.pipeline;
  DlCase out;
  out.pipeline = c.pipeline, out.schedule = schedule, out.seed = c.sizes.data_seed;
  size_t next = 0;
  for (const auto& f : p.outputs) {
    out.sizes.push_back({f->name, ranges_of(arguments.outputs[next])});
    next += static_cast<size_t>(f->components());
  }
  for (size_t i = 0; i < p.inputs.size(); ++i)
    out.sizes.push_back({p.inputs[i]->name, ranges_of(arguments.inputs[i].dims)});
  for (size_t i = 0; i < p.params.size(); ++i)
    out.settings.push_back({p.params[i]->name, constant_of(arguments.params[i])});
  const auto strides = [&](const BufferDecl& b) {
    const auto it = c.sizes.strides.find(b.name);
    if (it != c.sizes.strides.end() && it->second != Strides::dense)
      out.strides.push_back({b.name, word_of(it->second)});
  };
  for (const auto& b : p.inputs) strides(*b);
  for (const auto& b : p.output_buffers) strides(*b);
  return out;
}

}  // namespace drawloom::fuzz
