// compose, product, divide.
//
// Composition is a matrix product once the outputs of the first map and the inputs of the second are cut into the same
// digits. Wide digits are one-to-one, so cutting one cuts its partner on the other side too and the map stays a layout;
// both start from their coarsest form and are cut only where the other asks for it (CuTe's "divisibility" conditions,
// with XOR digits, which are bits and never cut). Cost: digits x digits.
// Example: (a: x0-1) -> (x: 2 3) is one digit of 6 in its coarsest form. Against (x: y0 z0) -> (y: 3, z: 2) it is cut
// into 3 and 2, which cuts `a` alike: (a: y0 z0) -> (y: 3, z: 2). With (a: x0, b: x1) -> (x: 2 3) nothing can be cut,
// because two coordinates feed x: refused, 2 against 3 do not line up.
//
// `divide` guesses: it keeps what stands above the tile, and accepts the guess if multiplying gives the layout back.
#include <deque>

#include "drawloom/layout/draft.h"

namespace drawloom {
namespace {

/// Pairs the output places of `f` in one Dim with input places of `g`.
class Matcher {
 public:
  Matcher(Draft& f, Draft& g, std::vector<int>& partner, std::string name)
      : f_(f), g_(g), partner_(partner), name_(std::move(name)) {}

  /// Both queues by rising stride. What is left of the inputs at the end stays 0 as well.
  auto run(std::deque<int> outputs, std::deque<int> inputs) -> std::optional<Refusal> {
    a_ = std::move(outputs), b_ = std::move(inputs);
    while (!a_.empty()) {
      if (b_.empty()) return Refusal{str("`{}` goes to {} or beyond, outside the second map", name_, a().stride)};
      if ((b().extent - 1) * b().stride < a().stride) {
        b_.pop_front();  // stays 0
      } else if (auto refused = align(); refused) {
        return refused;
      }
    }
    return std::nullopt;
  }

 private:
  auto a() -> Draft::Place& { return f_.to[static_cast<size_t>(a_.front())]; }
  auto b() -> Draft::Place& { return g_.from[static_cast<size_t>(b_.front())]; }
  auto misfit() -> Refusal {
    return Refusal{str("the digits of `{}` do not line up: {} values of stride {} against {} of stride {}", name_,
                       a().extent, a().stride, b().extent, b().stride)};
  }

  /// One step towards, or the pairing of, the lowest places of both.
  auto align() -> std::optional<Refusal> {
    if (a().stride % b().stride != 0) return misfit();
    if (const int64_t below = a().stride / b().stride; below > 1) {
      // b starts below a: the first map never reaches that part, so it is cut off and stays 0.
      if (!fits(below)) return misfit();
      split_b(below);
      cut_b(1);
      b_.pop_front();
      return std::nullopt;
    }
    if (a().extent > b().extent) {
      if (a().extent % b().extent != 0) return misfit();
      f_.split_to(a_.front(), b().extent);
      a_.insert(a_.begin() + 1, static_cast<int>(f_.to.size()) - 1);
    }
    if (a().extent < b().extent && !split_for_next()) return misfit();
    if (a().extent < b().extent) cut_b(a().extent);
    partner_.resize(f_.to.size(), -1);
    partner_[static_cast<size_t>(a_.front())] = b_.front();
    a_.pop_front();
    b_.pop_front();
    return std::nullopt;
  }

  /// Cuts b where the next place of a starts, if that lies inside b.
  /// Without that, padding in `f` would make b look wider than a, and b would be cut at the extent of a: too low.
  auto split_for_next() -> bool {
    if (a_.size() < 2) return true;
    const auto& next = f_.to[static_cast<size_t>(a_[1])];
    if (next.stride > (b().extent - 1) * b().stride) return true;
    const int64_t q = next.stride / b().stride;
    if (next.stride % b().stride != 0 || !fits(q)) return false;
    split_b(q);
    return true;
  }

  /// Cutting b at q is exact, or rounds its top up where `f` provably does not get.
  auto fits(int64_t q) -> bool {
    if (b().extent % q == 0) return true;
    int64_t most = 0;
    for (const int p : a_) {
      const auto& place = f_.to[static_cast<size_t>(p)];
      if (place.stride < b().extent * b().stride) most += (place.extent - 1) * place.stride;
    }
    return most <= (b().extent - 1) * b().stride;
  }

  void split_b(int64_t q) {
    g_.split_from(b_.front(), q);
    b_.insert(b_.begin() + 1, static_cast<int>(g_.from.size()) - 1);
  }

  void cut_b(int64_t extent) {
    b().extent = extent;
    for (const int t : g_.feeds[static_cast<size_t>(b_.front())]) g_.to[static_cast<size_t>(t)].extent = extent;
  }

  Draft &f_, &g_;
  std::vector<int>& partner_;
  std::string name_;
  std::deque<int> a_, b_;
};

auto fed_places(const Draft& draft, int dim) -> std::deque<int> {
  std::deque<int> out;
  for (const int t : Draft::in_order(draft.to, dim)) {
    if (!draft.fed_by(t).empty()) out.push_back(t);
  }
  return out;
}

/// How far a tile reaches in the Dims of a multiple of it.
struct Spans {
  std::vector<int64_t> from, to;

  Spans(const Draft& whole, const Layout& tile) {
    for (const auto& name : whole.from_dims) from.push_back(tile.from_extent(name));
    for (const auto& name : whole.to_dims) to.push_back(tile.to_extent(name));
  }

  /// Cuts the digits that stand with one foot in the tile.
  void cut(Draft& whole) const {
    const auto where = [](const Draft::Place& place, const std::vector<int64_t>& spans) -> int64_t {
      const int64_t q = spans[static_cast<size_t>(place.dim)] / place.stride;
      return q > 1 && q < place.extent && place.extent % q == 0 ? q : 0;
    };
    for (size_t i = 0; i < whole.from.size(); ++i) {
      if (const int64_t q = where(whole.from[i], from)) whole.split_from(static_cast<int>(i), q);
    }
    for (size_t t = 0; t < whole.to.size(); ++t) {
      if (const int64_t q = where(whole.to[t], to)) whole.split_to(static_cast<int>(t), q);
    }
  }

  /// A place above the tile, counted from the tile's end; nothing for one inside, or not a multiple of the tile away.
  auto above(Draft::Place place, const std::vector<int64_t>& spans) const -> std::optional<Draft::Place> {
    const int64_t span = spans[static_cast<size_t>(place.dim)];
    if (place.extent < 2 || place.stride < span || place.stride % span != 0) return std::nullopt;
    place.stride /= span;
    return place;
  }
};

}  // namespace

auto compose(const Layout& first, const Layout& second) -> Maybe<Layout> {
  Draft f(first), g(second);
  f.coarsen();
  g.coarsen();
  std::vector<int> partner;
  for (size_t d = 0; d < f.to_dims.size(); ++d) {
    const auto outputs = fed_places(f, static_cast<int>(d));
    const int input = second.from_index(f.to_dims[d]);
    const auto inputs = Draft::in_order(g.from, input);
    Matcher matcher(f, g, partner, f.to_dims[d]);
    if (auto refused = matcher.run(outputs, {inputs.begin(), inputs.end()})) return *refused;
  }
  Draft out;
  out.from_dims = f.from_dims, out.from = f.from;
  out.to_dims = g.to_dims, out.to = g.to;
  for (const auto& moves : f.feeds) {
    std::vector<int> reached;
    for (const int t : moves) {
      if (f.to[static_cast<size_t>(t)].extent < 2) continue;
      const auto& on = g.feeds[static_cast<size_t>(partner[static_cast<size_t>(t)])];
      reached.insert(reached.end(), on.begin(), on.end());
    }
    out.feeds.push_back(reached);
  }
  return out.finish();
}

auto product(const Layout& tile, const Layout& outer) -> Maybe<Layout> {
  Draft out(tile);
  const Draft high(outer);
  std::vector<int> moved_to;
  for (const auto& place : high.to) {
    const auto& name = high.to_dims[static_cast<size_t>(place.dim)];
    moved_to.push_back(out.add_to({out.to_dim(name), place.extent, place.stride * tile.to_extent(name)}));
  }
  for (size_t i = 0; i < high.from.size(); ++i) {
    const auto& place = high.from[i];
    const auto& name = high.from_dims[static_cast<size_t>(place.dim)];
    std::vector<int> moves;
    for (const int t : high.feeds[i]) moves.push_back(moved_to[static_cast<size_t>(t)]);
    out.add_from({out.from_dim(name), place.extent, place.stride * tile.from_extent(name)}, std::move(moves));
  }
  for (const auto& name : high.to_dims) out.to_dim(name);
  for (const auto& name : high.from_dims) out.from_dim(name);
  return out.finish();
}

auto divide(const Layout& layout, const Layout& tile) -> Maybe<Layout> {
  const auto refused = [&] { return Refusal{str("{} is no multiple of {}", layout.text(), tile.text())}; };
  Draft whole(layout), outer;
  whole.coarsen();
  const Spans spans(whole, tile);
  spans.cut(whole);
  outer.from_dims = whole.from_dims, outer.to_dims = whole.to_dims;
  std::vector<int> kept;
  for (const auto& place : whole.to) {
    const auto above = spans.above(place, spans.to);
    kept.push_back(above ? outer.add_to(*above) : -1);
  }
  for (size_t i = 0; i < whole.from.size(); ++i) {
    const auto above = spans.above(whole.from[i], spans.from);
    if (!above) continue;
    std::vector<int> moves;
    for (const int t : whole.feeds[i]) {
      if (kept[static_cast<size_t>(t)] < 0) return refused();
      moves.push_back(kept[static_cast<size_t>(t)]);
    }
    outer.add_from(*above, std::move(moves));
  }
  // Whatever did not separate shows here.
  auto out = outer.finish();
  const auto again = out.ok() ? product(tile, *out) : out;
  if (!again.ok() || !same_map(*again, layout)) return refused();
  return out;
}

}  // namespace drawloom
