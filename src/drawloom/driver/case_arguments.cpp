#include "drawloom/driver/case_arguments.h"

#include <algorithm>

#include "drawloom/driver/bounds.h"
#include "drawloom/support/hash.h"

namespace drawloom {
namespace {

constexpr DlCase::Range kUnsaid{0, 16};

/// What the case says of a buffer: by its own name, or by that of the Func whose component it is.
auto said_size(const DlCase& c, const std::string& name) -> const DlCase::Size* {
  const auto func = name.substr(0, name.find('.'));
  for (const auto& wanted : {name, func})
    for (const auto& s : c.sizes)
      if (s.name == wanted) return &s;
  return nullptr;
}

auto strides_word(const DlCase& c, const std::string& name) -> std::string_view {
  for (const auto& s : c.strides)
    if (s.name == name) return s.word;
  return "dense";
}

auto output_ranges(const DlCase& c, const std::string& name, int rank) -> std::vector<DlCase::Range> {
  const auto* said = said_size(c, name);
  auto box = said ? said->dims : std::vector<DlCase::Range>();
  box.resize(static_cast<size_t>(rank), kUnsaid);
  return box;
}

auto bounds_of(const std::vector<DlCase::Range>& ranges) -> BoundsBox {
  BoundsBox out;
  for (const auto& r : ranges) out.push_back({r.min, r.extent});
  return out;
}

auto param_value(const DlCase& c, const Symbol& param) -> Result<Value> {
  for (const auto& s : c.settings) {
    if (s.param != param.name) continue;
    if (const auto* f = s.value.as<FloatImm>()) return float_value(param.type, f->value);
    return number_value(param.type, s.value.to<IntImm>().value);
  }
  return Diag(DiagKind::call_unset, param.loc, "parameter", param.name);
}

auto query_of(const DlCase& c, const std::vector<Value>& params) -> BoundsQuery {
  const auto& p = *c.pipeline;
  BoundsQuery query;
  for (const auto& f : p.outputs) query.outputs.push_back(bounds_of(output_ranges(c, f->name, f->rank())));
  for (size_t i = 0; i < params.size(); ++i)
    if (!params[i].type.is_float()) query.params[p.params[i].get()] = params[i].i;
  for (const auto& b : p.inputs)
    if (const auto* said = said_size(c, b->name)) query.inputs[b.get()] = bounds_of(said->dims);
  return query;
}

}  // namespace

/// A box of 4 x 3: dense 1, 4; padded 1, 7; spread 3, 12; turned 3, 1; upside_down 1, -4.
auto with_strides(const std::vector<DlCase::Range>& box, std::string_view how) -> std::vector<ArrayDim> {
  std::vector<ArrayDim> out;
  for (const auto& r : box) out.push_back({r.min, r.extent, 0});
  const size_t n = out.size();
  int64_t next = how == "spread" ? 3 : 1;
  for (size_t i = 0; i < n; ++i) {
    auto& d = out[how == "turned" ? n - 1 - i : i];
    d.stride = next;
    next = next * std::max<int64_t>(d.extent, 1) + (how == "padded" && i == 0 ? 3 : 0);
  }
  if (how == "upside_down" && n > 1) out.back().stride = -out.back().stride;
  return out;
}

auto case_arguments(const Nest& nest, const DlCase& c) -> Result<CaseArguments> {
  const auto& p = *c.pipeline;
  CaseArguments out;
  for (const auto& s : p.params) {
    DRAWLOOM_TRY(const Value value, param_value(c, *s));
    out.params.push_back(value);
  }
  const auto query = query_of(c, out.params);
  DRAWLOOM_TRY(const auto read, infer_input_bounds(nest, query));
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const auto& b = *p.inputs[i];
    const auto said = query.inputs.find(&b);
    std::vector<DlCase::Range> ranges;
    for (const auto& d : said == query.inputs.end() ? read[i] : said->second) ranges.push_back({d.min, d.extent});
    Array a = make_strided_array(b.element, with_strides(ranges, strides_word(c, b.name)));
    fill_hashed(a, hash_combine(c.seed, hash_text(b.name)));
    out.inputs.push_back(std::move(a));
  }
  size_t next = 0;
  for (const auto& f : p.outputs) {
    const auto ranges = output_ranges(c, f->name, f->rank());
    out.output_boxes.push_back(with_strides(ranges, "dense"));
    for (int k = 0; k < f->components(); ++k, ++next) {
      const auto& b = *p.output_buffers[next];
      out.outputs.push_back(make_strided_array(b.element, with_strides(ranges, strides_word(c, b.name))));
    }
  }
  return out;
}

auto CaseArguments::for_machine() -> MachineArguments {
  MachineArguments out;
  for (auto& a : inputs) out.push_back({&a, {}});
  for (const auto& v : params) out.push_back({nullptr, v});
  for (auto& a : outputs) out.push_back({&a, {}});
  return out;
}

}  // namespace drawloom
