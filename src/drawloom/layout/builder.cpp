// Ways to say a layout: the builder, identity, packed, repeat, rename.
#include <bit>

#include "drawloom/layout/draft.h"

namespace drawloom {
namespace {

auto is_name(std::string_view name) -> bool {
  for (const char c : name) {
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
  }
  return !name.empty();
}

/// Values that `places` of Dim `dim` span: where the next digit starts.
auto reach(const std::vector<Draft::Place>& places, int dim) -> int64_t {
  int64_t out = 1;
  for (const auto& place : places) {
    if (place.dim == dim) out += (place.extent - 1) * place.stride;
  }
  return out;
}

/// `extent` values of an input Dim from `stride` on: its factors of two one by one, then the odd rest.
/// A run of 24 with target stride 1 becomes bits worth 1, 2 and 4 and a digit of 3 worth 8. Targets that were used
/// before are found again by their stride, which is how XOR is said.
void add_run(Draft& draft, int dim, int64_t extent, int64_t stride, const std::vector<LayoutBuilder::Target>& targets) {
  int64_t done = 1;
  while (done < extent) {
    const int64_t rest = extent / done;
    const int64_t part = rest % 2 == 0 ? 2 : rest;
    std::vector<int> moves;
    for (const auto& target : targets) {
      const int to_dim = draft.to_dim(target.dim);
      const int known = draft.find_to(to_dim, target.stride * done);
      moves.push_back(known >= 0 ? known : draft.add_to({to_dim, part, target.stride * done}));
    }
    draft.add_from({dim, part, stride * done}, std::move(moves));
    done *= part;
  }
}

}  // namespace

auto LayoutBuilder::from(std::string_view dim) -> LayoutBuilder& { return from_.emplace_back(dim), *this; }
auto LayoutBuilder::to(std::string_view dim) -> LayoutBuilder& { return to_.emplace_back(dim), *this; }

auto LayoutBuilder::map(std::string_view dim, int64_t extent, const std::vector<Target>& targets) -> LayoutBuilder& {
  return steps_.push_back({std::string(dim), extent, 0, targets}), *this;
}

auto LayoutBuilder::map_at(std::string_view dim, int64_t extent, int64_t stride, const std::vector<Target>& targets)
    -> LayoutBuilder& {
  return steps_.push_back({std::string(dim), extent, stride, targets}), *this;
}

auto LayoutBuilder::try_build() const -> Maybe<Layout> {
  Draft draft;
  for (const auto& name : from_) draft.from_dim(name);
  for (const auto& name : to_) draft.to_dim(name);
  for (const auto& step : steps_) {
    if (step.extent < 1) return Refusal{str("`{}` is mapped for {} values", step.dim, step.extent)};
    const int dim = draft.from_dim(step.dim);
    for (const auto& target : step.targets) draft.to_dim(target.dim);
    add_run(draft, dim, step.extent, step.stride > 0 ? step.stride : reach(draft.from, dim), step.targets);
  }
  for (const auto* names : {&draft.from_dims, &draft.to_dims}) {
    for (const auto& name : *names) {
      if (!is_name(name)) return Refusal{str("`{}` is no name of a coordinate: letters and `_`", name)};
    }
  }
  return draft.finish();
}

auto identity(std::string_view dim, int64_t extent, std::string_view to) -> Layout {
  return LayoutBuilder().from(dim).map(dim, extent, {{std::string(to.empty() ? dim : to), 1}}).build();
}

auto identity(const std::vector<Dim>& dims) -> Layout {
  Draft draft;
  for (const auto& dim : dims) {
    const int from = draft.from_dim(dim.name), to = draft.to_dim(dim.name);
    for (const auto& digit : dim.digits) {
      draft.add_from({from, digit.extent, digit.stride}, {draft.add_to({to, digit.extent, digit.stride})});
    }
  }
  return draft.finish().value();
}

auto at_zero(const Layout& layout, std::string_view dim) -> Layout {
  const Draft before(layout);
  Draft out;
  out.to_dims = before.to_dims, out.to = before.to;
  for (const auto& name : before.from_dims) {
    if (name != dim) out.from_dim(name);
  }
  for (size_t i = 0; i < before.from.size(); ++i) {
    auto place = before.from[i];
    const auto& name = before.from_dims[static_cast<size_t>(place.dim)];
    if (name == dim) continue;
    place.dim = out.from_dim(name);
    out.add_from(place, before.feeds[i]);
  }
  return out.finish().value();
}

auto packed(const std::vector<std::pair<std::string, int64_t>>& extents, std::string_view to, int64_t unit) -> Layout {
  LayoutBuilder builder;
  builder.to(to);
  for (const auto& [name, extent] : extents) {
    builder.map(name, extent, {{std::string(to), unit}});
    unit *= extent;
  }
  return builder.build();
}

auto repeat(const Layout& layout, std::string_view from, int64_t extent, std::string_view to, int64_t stride)
    -> Maybe<Layout> {
  Draft draft(layout);
  const int dim = draft.from_dim(from);
  add_run(draft, dim, extent, reach(draft.from, dim), {{std::string(to), stride}});
  return draft.finish();
}

auto rename(const Layout& layout, const std::vector<std::pair<std::string, std::string>>& names) -> Layout {
  Draft draft(layout);
  for (auto* side : {&draft.from_dims, &draft.to_dims}) {
    for (auto& name : *side) {
      for (const auto& [old_name, now] : names) {
        if (name == old_name) {
          name = now;
          break;
        }
      }
    }
  }
  return draft.finish().value();
}

auto arrange(const Layout& layout, const std::vector<std::string>& from, const std::vector<std::string>& to) -> Layout {
  const Draft before(layout);
  Draft out;
  for (const auto& name : from) out.from_dim(name);
  for (const auto& name : to) out.to_dim(name);
  out.feeds = before.feeds;
  for (auto place : before.from) {
    place.dim = out.from_dim(before.from_dims[static_cast<size_t>(place.dim)]);
    out.from.push_back(place);
  }
  for (auto place : before.to) {
    place.dim = out.to_dim(before.to_dims[static_cast<size_t>(place.dim)]);
    out.to.push_back(place);
  }
  for (const auto& name : before.from_dims) out.from_dim(name);
  for (const auto& name : before.to_dims) out.to_dim(name);
  return out.finish().value();
}

/// Each side is arranged like the other, so that both have all the names in the same order.
auto same_map(const Layout& a, const Layout& b) -> bool {
  const auto names = [](const std::vector<Dim>& dims) {
    std::vector<std::string> out;
    for (const auto& dim : dims) out.push_back(dim.name);
    return out;
  };
  const auto second = arrange(b, names(a.from()), names(a.to()));
  return second == arrange(a, names(second.from()), names(second.to()));
}

}  // namespace drawloom
