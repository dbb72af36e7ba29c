#include "arguments.h"

#include <algorithm>

#include "drawloom/support/hash.h"

namespace drawloom::fuzz {
namespace {

using Boxes = std::map<std::string, std::vector<Extent>>;

/// Finds a box for every argument, from outputs to inputs.
class Boxer {
 public:
  Boxer(const Nest& nest, const Sizes& sizes) : nest_(nest), p_(*nest.graph->pipeline), sizes_(sizes) {}

  void run() {
    for (const auto& b : p_.inputs) given(*b);
    for (const auto& b : p_.output_buffers) given(*b);
    if (sizes_.obey) {
      obey_bounds();
      for (int round = 0; round < 4; ++round) obey_demands();
    }
    for (int round = 0; round < 2; ++round) {
      for (auto o = p_.outputs.rbegin(); o != p_.outputs.rend(); ++o) fit_output(*o);
      for (const auto& b : p_.inputs) fit_input(b);
    }
  }

  auto box(const BufferDecl& b) const -> const std::vector<Extent>& { return boxes_.at(b.name); }
  auto param(const Symbol& s) const -> int64_t {
    const auto it = sizes_.params.find(s.name);
    return it == sizes_.params.end() ? s.min.value_or(1) : it->second;
  }

  auto demands_met() -> bool {
    for (const auto& at : stage_leaves(nest_.tree))
      for (const auto& d : at.node->as<StageLeaf>()->demands)
        if (!met(d)) return false;
    return each_bound(
        [&](const Extent& now, const Extent& wanted) { return now.min == wanted.min && now.extent == wanted.extent; });
  }
  auto inputs_fit() -> bool {
    return std::all_of(p_.inputs.begin(), p_.inputs.end(),
                       [this](const BufferRef& b) { return holds_half_clamped(b); });
  }

 private:
  void given(const BufferDecl& b) {
    auto name = b.name;
    auto it = sizes_.boxes.find(name);
    if (it == sizes_.boxes.end()) it = sizes_.boxes.find(name.substr(0, name.find('.')));
    auto box = it == sizes_.boxes.end() ? std::vector<Extent>{} : it->second;
    box.resize(static_cast<size_t>(b.rank), {0, 4});
    boxes_[name] = box;
  }

  auto value(const SymbolRef& s) const -> std::optional<int64_t> {
    if (s->kind == SymbolKind::Param) return param(*s);
    const auto of = [&](const BufferRef& b) -> std::optional<int64_t> {
      for (size_t d = 0; d < static_cast<size_t>(b->rank); ++d) {
        if (b->min[d] == s) return box(*b)[d].min;
        if (b->extent[d] == s) return box(*b)[d].extent;
      }
      return {};
    };
    for (const auto& b : p_.inputs)
      if (const auto v = of(b)) return v;
    for (const auto& b : p_.output_buffers)
      if (const auto v = of(b)) return v;
    return {};
  }
  auto values() -> FormEnv {
    return with_names(nest_, [this](const SymbolRef& s) { return value(s); }, cache_);
  }
  auto at(const Form& f) -> int64_t {
    const auto v = evaluate(f, values());
    DRAWLOOM_CHECK(v.has_value(), "a region at root is not over runtime symbols: {}", f);
    return *v;
  }
  auto holds(const When& when) -> bool {
    return std::any_of(when.any.begin(), when.any.end(), [this](const Cond& c) {
      const auto v = evaluate(c, values());
      DRAWLOOM_CHECK(v.has_value(), "a condition at root is not over runtime symbols: {}", c);
      return *v;
    });
  }

  void fit_input(const BufferRef& b) {
    const auto region = input_region(nest_, b, cache_);
    if (!region) return;
    auto& box = boxes_[b->name];
    const bool any = holds(region->when);
    for (size_t d = 0; d < box.size(); ++d) {
      const auto& r = region->dims[d];
      if (is_own(b, d, r.lo) || is_own(b, d, r.hi)) {
        if (any && box[d].extent == 0) box[d].extent = 1;
        continue;
      }
      box[d] = {at(r.lo), any ? std::max<int64_t>(0, at(r.hi) - at(r.lo) + 1) : 0};
    }
  }

  auto is_own(const BufferRef& b, size_t d, const Form& f) -> bool {
    return depends_on(f, *b->min[d]) || depends_on(f, *b->extent[d]);
  }
  /// No end that is free of an input's bounds lies outside it where the other end is clamped to them.
  auto holds_half_clamped(const BufferRef& b) -> bool {
    const auto region = input_region(nest_, b, cache_);
    if (!region || !holds(region->when)) return true;
    for (size_t d = 0; d < region->dims.size(); ++d) {
      const auto& r = region->dims[d];
      const auto& e = box(*b)[d];
      const bool own_lo = is_own(b, d, r.lo), own_hi = is_own(b, d, r.hi);
      if (own_lo != own_hi && (own_lo ? at(r.hi) >= e.min + e.extent : at(r.lo) < e.min)) return false;
    }
    return true;
  }

  /// Through the names of regions too.
  auto depends_on(const Form& f, const Symbol& s) -> bool {
    std::vector<const Symbol*> dependent{&s};
    for (const auto& [name, form] : region_names(nest_, cache_))
      if (uses_any(form, dependent)) dependent.push_back(name.get());
    return uses_any(f, dependent);
  }
  static auto uses_any(const Form& f, const std::vector<const Symbol*>& symbols) -> bool {
    return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol* s) { return uses_symbol(f, s); });
  }

  auto buffers_of(const FunctionRef& f) const -> std::vector<BufferRef> {
    size_t next = 0;
    for (const auto& o : p_.outputs) {
      const auto n = static_cast<size_t>(o->components());
      if (o == f)
        return {p_.output_buffers.begin() + static_cast<std::ptrdiff_t>(next),
                p_.output_buffers.begin() + static_cast<std::ptrdiff_t>(next + n)};
      next += n;
    }
    return {};
  }

  /// An output that others read holds at least what they read, and what its own updates touch.
  void fit_output(const FunctionRef& f) {
    const RealisationId id{nest_.graph->find(f->name), 0};
    if (const auto region = output_read_region(nest_, id, cache_)) fit(f, *region);
    for (const auto& region : output_update_regions(nest_, id, cache_)) fit(f, region);
  }
  void fit(const FunctionRef& f, const Region& region) {
    if (!holds(region.when)) return;
    for (const auto& b : buffers_of(f))
      for (size_t d = 0; d < region.dims.size(); ++d) {
        auto& e = boxes_[b->name][d];
        const int64_t lo = std::min(e.min, at(region.dims[d].lo));
        e = {lo, std::max(e.min + e.extent, at(region.dims[d].hi) + 1) - lo};
      }
  }

  auto met(const Demand& d) -> bool {
    const int64_t factor = at(d.factor);
    return factor > 0 && at(resolve(nest_, d.extent, cache_)) % factor == 0;
  }
  void obey_demands() {
    for (const auto& l : stage_leaves(nest_.tree))
      for (const auto& d : l.node->as<StageLeaf>()->demands)
        for (int tries = 0; tries < 20 && !met(d); ++tries)
          grow(nest_.graph->pipeline->funcs[static_cast<size_t>(l.node->as<StageLeaf>()->what.func)], d);
  }
  void grow(const FunctionRef& f, const Demand& demand) {
    const auto symbols = symbols_of(resolve(nest_, demand.extent, cache_));
    for (const auto& b : buffers_of(f))
      for (const auto& s : symbols)
        for (size_t d = 0; d < static_cast<size_t>(b->rank); ++d)
          if (buffers_of(f).front()->extent[d] == s) ++boxes_[b->name][d].extent;
  }

  template <typename F>
  auto each_bound(F&& visit) -> bool {
    for (const auto& o : p_.outputs) {
      const auto& f = nest_.graph->func(nest_.graph->find(o->name));
      for (size_t d = 0; d < f.dims.size(); ++d) {
        if (!f.dims[d].bound) continue;
        const Extent wanted{amount(f.dims[d].bound->first), amount(f.dims[d].bound->second)};
        for (const auto& b : buffers_of(o))
          if (!visit(boxes_[b->name][d], wanted)) return false;
      }
    }
    return true;
  }
  auto amount(const Amount& a) const -> int64_t {
    for (const auto& s : p_.params)
      if (s->name == a.symbol) return param(*s);
    return a.value;
  }
  void obey_bounds() {
    each_bound([](Extent& now, const Extent& wanted) {
      now = wanted;
      return true;
    });
  }

  const Nest& nest_;
  const PipelineDef& p_;
  const Sizes& sizes_;
  QueryCache cache_;
  Boxes boxes_;
};

auto with_strides(const std::vector<Extent>& box, Strides how) -> std::vector<ArrayDim> {
  std::vector<ArrayDim> out;
  for (const auto& e : box) out.push_back({e.min, e.extent, 0});
  const size_t n = out.size();
  int64_t next = how == Strides::spread ? 3 : 1;
  for (size_t i = 0; i < n; ++i) {
    auto& d = out[how == Strides::turned ? n - 1 - i : i];
    d.stride = next;
    next = next * std::max<int64_t>(d.extent, 1) + (how == Strides::padded && i == 0 ? 3 : 0);
  }
  if (how == Strides::upside_down && n > 1) out.back().stride = -out.back().stride;
  return out;
}

auto strides_of(const Sizes& sizes, const std::string& name) -> Strides {
  const auto it = sizes.strides.find(name);
  return it == sizes.strides.end() ? Strides::dense : it->second;
}

}  // namespace

auto make_arguments(const Nest& open, const Sizes& sizes) -> Arguments {
  const Nest nest = close_nest(open).or_throw();
  const auto& p = *nest.graph->pipeline;
  Boxer boxer(nest, sizes);
  boxer.run();
  Arguments out;
  out.demands_met = boxer.demands_met();
  out.inputs_fit = boxer.inputs_fit();
  for (const auto& b : p.inputs) {
    Array a = make_strided_array(b->element, with_strides(boxer.box(*b), strides_of(sizes, b->name)));
    fill_hashed(a, hash_combine(sizes.data_seed, hash_text(b->name)));
    out.inputs.push_back(std::move(a));
  }
  for (const auto& s : p.params) out.params.push_back(number_value(s->type, boxer.param(*s)));
  for (const auto& b : p.output_buffers) out.outputs.push_back(with_strides(boxer.box(*b), strides_of(sizes, b->name)));
  return out;
}

auto oracle_inputs(const PipelineDef& p, const Arguments& arguments) -> OracleInputs {
  OracleInputs in;
  for (size_t i = 0; i < p.inputs.size(); ++i) in.buffers[p.inputs[i].get()] = &arguments.inputs[i];
  for (size_t i = 0; i < p.params.size(); ++i) in.params[p.params[i].get()] = arguments.params[i];
  size_t next = 0;
  for (const auto& o : p.outputs) {
    in.output_boxes.push_back(arguments.outputs[next]);
    next += static_cast<size_t>(o->components());
  }
  in.max_steps = 8'000'000;
  return in;
}

}  // namespace drawloom::fuzz
