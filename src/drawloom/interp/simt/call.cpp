#include "drawloom/interp/simt/call.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace drawloom {
namespace {

constexpr std::pair<std::string_view, WarpOrder> kOrders[] = {{"in_order", WarpOrder::in_order},
                                                              {"random", WarpOrder::random},
                                                              {"producer_first", WarpOrder::producer_first},
                                                              {"consumer_first", WarpOrder::consumer_first},
                                                              {"latest", WarpOrder::latest}};
constexpr std::pair<std::string_view, AsyncMoment> kMoments[] = {
    {"earliest", AsyncMoment::earliest}, {"latest", AsyncMoment::latest}, {"random", AsyncMoment::random}};

auto wrong(const Program& p, const std::string& which, const std::string& what) -> Diag {
  return Diag(DiagKind::machine_argument, {}, which, p.name, what);
}

template <typename T, size_t n>
auto named(const std::pair<std::string_view, T> (&table)[n], const std::string& name, T& out) -> bool {
  for (const auto& [text, value] : table) {
    if (text == name) return out = value, true;
  }
  return false;
}

auto read_number(const std::string& text, int64_t& out) -> bool {
  char* end = nullptr;
  out = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == 0;
}

/// `63` or `63/64`: an extent, and the distance of two elements of the next dimension in steps of this one.
auto read_extent(const std::string& text, int64_t& extent, int64_t& pitch) -> bool {
  const size_t slash = text.find('/');
  if (!read_number(text.substr(0, slash), extent)) return false;
  pitch = std::max<int64_t>(extent, 0);
  return slash == std::string::npos || (read_number(text.substr(slash + 1), pitch) && pitch >= extent);
}

}  // namespace

auto sim_policies() -> std::vector<SimOptions> {
  return {{.order = WarpOrder::in_order, .moment = AsyncMoment::earliest},
          {.order = WarpOrder::latest, .moment = AsyncMoment::latest},
          {.order = WarpOrder::random, .moment = AsyncMoment::random},
          {.order = WarpOrder::producer_first, .moment = AsyncMoment::random},
          {.order = WarpOrder::consumer_first, .moment = AsyncMoment::random}};
}

auto sim_call(const Program& program, const std::vector<std::string>& words) -> Result<SimCall> {
  SimCall out;
  std::map<std::string, std::string> given;
  for (const auto& w : words) {
    const size_t at = w.find('=');
    if (at == std::string::npos) return wrong(program, w, "is not of the form name=value");
    given[w.substr(0, at)] = w.substr(at + 1);
  }
  const auto take = [&](const std::string& name) {
    const auto node = given.extract(name);
    return node ? node.mapped() : std::string();
  };
  int64_t seed = 1;
  if (const auto s = take("seed"); !s.empty() && !read_number(s, seed)) return wrong(program, "seed", s);
  out.options.seed = static_cast<uint64_t>(seed);
  if (const auto s = take("order"); !s.empty() && !named(kOrders, s, out.options.order))
    return wrong(program, "order", s);
  if (const auto s = take("moment"); !s.empty() && !named(kMoments, s, out.options.moment))
    return wrong(program, "moment", s);
  for (const auto& argument : program.arguments) {
    if (const auto* scalar = std::get_if<ScalarArgument>(&argument)) {
      int64_t value = 0;
      const auto text = take(scalar->symbol->name);
      if (!read_number(text, value)) return wrong(program, scalar->symbol->name, str("`{}` is no number", text));
      out.arguments.push_back({.scalar = number_value(scalar->symbol->type, value)});
      continue;
    }
    const auto& b = std::get<BufferArgument>(argument);
    std::vector<ArrayDim> dims;
    int64_t stride = 1;
    for (const auto& part : split_text(take(b.buffer->name), 'x')) {
      ArrayDim d{.min = 0, .extent = 0, .stride = stride};
      int64_t pitch = 0;
      if (!read_extent(part, d.extent, pitch)) return wrong(program, b.buffer->name, str("`{}` is no extent", part));
      stride *= pitch;
      dims.push_back(d);
    }
    out.arrays.push_back(make_strided_array(b.buffer->element, dims));
    if (b.role == ArgumentRole::Input) fill_hashed(out.arrays.back(), 1);
    out.arguments.push_back({.array = &out.arrays.back()});
  }
  if (!given.empty()) return wrong(program, given.begin()->first, "names no argument");
  return out;
}

}  // namespace drawloom
