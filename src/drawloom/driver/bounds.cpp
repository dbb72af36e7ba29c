#include "drawloom/driver/bounds.h"

#include <algorithm>

#include "drawloom/nest/region.h"

// The nest answers in Forms over output bounds, parameters and input bounds; here they get their values. Nothing is
// derived a second time, so this answer and the checks in the generated code agree.
// Example: o(x) = in(x - 1) + in(x + 1) needs in from min(o) - 1 to min(o) + extent(o); for an output of 0 .. 9 that is
// -1 .. 10, min -1 and extent 12.

namespace drawloom {
namespace {

/// The bounds of an input that nobody has set: so wide that clamps to them do nothing, so narrow that sums do not
/// overflow.
constexpr int64_t kUnlimited = int64_t{1} << 40;

class Values {
 public:
  Values(const PipelineDef& pipeline, const BoundsQuery& query) {
    for (const auto& b : pipeline.inputs) {
      const auto known = query.inputs.find(b.get());
      for (size_t d = 0; d < b->min.size(); ++d)
        set(*b, d, known == query.inputs.end() ? BoundsDim{-kUnlimited, 2 * kUnlimited} : known->second[d]);
    }
    size_t next = 0;
    for (size_t o = 0; o < pipeline.outputs.size(); ++o)
      for (int c = 0; c < pipeline.outputs[o]->components(); ++c, ++next)
        for (size_t d = 0; d < query.outputs[o].size(); ++d)
          set(*pipeline.output_buffers[next], d, query.outputs[o][d]);
    for (const auto& [symbol, value] : query.params) values_[symbol] = value;
  }

  auto operator()(const SymbolRef& s) const -> std::optional<int64_t> {
    const auto at = values_.find(s.get());
    if (at == values_.end()) return {};
    return at->second;
  }

 private:
  void set(const BufferDecl& b, size_t d, const BoundsDim& dim) {
    values_[b.min[d].get()] = dim.min;
    values_[b.extent[d].get()] = dim.extent;
  }
  std::unordered_map<const Symbol*, int64_t> values_;
};

/// Whether any condition of `when` holds; nothing when one cannot be decided and none holds.
auto holds(const When& when, const FormEnv& values) -> std::optional<bool> {
  bool open = false;
  for (const auto& c : when.any) {
    const auto one = evaluate(c, values);
    if (one.value_or(false)) return true;
    open |= !one.has_value();
  }
  if (open) return {};
  return false;
}

auto unknown(const PipelineDef& p, const BufferDecl& input, size_t dim, std::string why) -> Diag {
  return Diag(DiagKind::bounds_unknown, input.loc, p.name, input.name, dim, std::move(why));
}

auto box_of(const PipelineDef& p, const BufferDecl& input, const Region& region, const FormEnv& values)
    -> Result<BoundsBox> {
  BoundsBox out;
  const bool is_read = holds(region.when, values).value_or(true);
  for (size_t d = 0; d < region.dims.size(); ++d) {
    const auto lo = evaluate(region.dims[d].lo, values), hi = evaluate(region.dims[d].hi, values);
    if (!lo || !hi) return unknown(p, input, d, str("it is {} to {}", region.dims[d].lo, region.dims[d].hi));
    if (*lo <= -kUnlimited / 2 || *hi >= kUnlimited / 2)
      return unknown(p, input, d, "it depends on data, or on the input's own size");
    out.push_back({*lo, is_read ? std::max(int64_t{0}, *hi - *lo + 1) : 0});
  }
  return out;
}

}  // namespace

auto infer_input_bounds(const Nest& nest, const BoundsQuery& query) -> Result<std::vector<BoundsBox>> {
  const auto& p = *nest.graph->pipeline;
  DRAWLOOM_CHECK(query.outputs.size() == p.outputs.size(), "{} output boxes for {} outputs", query.outputs.size(),
                 p.outputs.size());
  DRAWLOOM_TRY(const Nest closed, close_nest(nest));
  QueryCache cache;
  const FormEnv values = with_names(closed, Values(p, query), cache);
  std::vector<BoundsBox> out;
  for (const auto& input : p.inputs) {
    const auto region = input_region(closed, input, cache);
    if (!region) {
      if (input->rank > 0) return unknown(p, *input, 0, "a subscript has no range");
      out.push_back({});
      continue;
    }
    DRAWLOOM_TRY(auto box, box_of(p, *input, *region, values));
    out.push_back(std::move(box));
  }
  return out;
}

}  // namespace drawloom
