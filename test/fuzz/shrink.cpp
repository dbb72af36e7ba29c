#include "shrink.h"

#include <chrono>

#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"
#include "random_pipeline.h"
#include "sandbox.h"

namespace drawloom::fuzz {
namespace {

/// All expression nodes of a stage in a fixed order, so that one can be named by its number.
auto nodes_of(const Definition& d) -> std::vector<Expr> {
  struct Collect : Rewriter<Collect> {
    std::vector<Expr> found;
    auto on(const ExprNode& n, const Expr& e) -> Expr {
      found.push_back(e);
      return rewrite_children(e);
    }
  } collect;
  for (const auto& v : d.values) collect.rewrite(v);
  return collect.found;
}

auto replaced(const Definition& d, const Expr& old, const Expr& with) -> Definition {
  struct Replace : Rewriter<Replace> {
    Expr old, with;
    auto on(const ExprNode& n, const Expr& e) -> Expr { return e == old ? with : rewrite_children(e); }
  } replace;
  replace.old = old, replace.with = with;
  Definition out = d;
  out.values = replace.rewrite(d.values);
  return out;
}

/// Simpler expressions of the same type: its operands, a constant.
auto simpler(const Expr& e) -> ExprList {
  ExprList out;
  if (e.as<IntImm>() || e.as<FloatImm>() || e.as<VarRef>()) return out;
  each_child(*e.get(), [&](const auto& child) {
    if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) {
      if (child.type() == e.type()) out.push_back(child);
      if (const auto* c = child.template as<Cast>(); c && c->value.type() == e.type()) out.push_back(c->value);
    }
  });
  out.push_back(constant(e.type(), 1));
  return out;
}

class Shrinker {
 public:
  Shrinker(Case c, std::string kind, const CaseOptions& options, int seconds)
      : best_(std::move(c)), kind_(std::move(kind)), options_(options),
        end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}

  auto run() -> Case {
    bool better = true;
    while (better && !late()) better = steps() | outputs_and_updates() | funcs() | expressions() | sizes();
    return best_;
  }

 private:
  auto late() const -> bool { return std::chrono::steady_clock::now() > end_; }

  auto fails(const Case& c) -> bool {
    if (late()) return false;
    const auto v = check_isolated(c, options_);
    return v.outcome == Outcome::failed && v.kind == kind_;
  }
  auto take(Case c) -> bool {
    if (!c.pipeline || !fails(c)) return false;
    best_ = std::move(c);
    return true;
  }

  auto steps() -> bool {
    bool any = false;
    for (size_t block = std::max<size_t>(1, best_.schedule.steps.size() / 2); block > 0; block /= 2)
      for (size_t i = best_.schedule.steps.size(); i-- > 0;) {
        auto& old = best_.schedule.steps;
        if (i + block > old.size()) continue;
        Case c = best_;
        c.nest.reset();
        auto& s = c.schedule.steps;
        s.erase(s.begin() + static_cast<std::ptrdiff_t>(i), s.begin() + static_cast<std::ptrdiff_t>(i + block));
        any |= take(c);
      }
    return any;
  }

  auto with(const std::vector<DraftFunc>& drafts) -> Case {
    Case c = best_;
    c.pipeline = close_pipeline(drafts);
    c.nest.reset();
    return c;
  }

  auto outputs_and_updates() -> bool {
    bool any = false;
    for (size_t f = 0; f < best_.pipeline->funcs.size(); ++f) {
      auto drafts = drafts_of(*best_.pipeline);
      if (drafts[f].output && best_.pipeline->outputs.size() > 1) {
        drafts[f].output = false;
        if (take(with(drafts))) {
          any = true;
          f = static_cast<size_t>(-1);
          continue;
        }
      }
      for (size_t s = drafts[f].stages.size(); s-- > 1;) {
        auto fewer = drafts_of(*best_.pipeline);
        fewer[f].stages.erase(fewer[f].stages.begin() + static_cast<std::ptrdiff_t>(s));
        any |= take(with(fewer));
      }
    }
    return any;
  }

  /// Every read of a Func becomes a constant.
  auto funcs() -> bool {
    struct Forget : Rewriter<Forget> {
      std::string name;
      auto on(const Access& a, const Expr& e) -> Expr {
        return a.func->name == name ? constant(e.type(), 2) : rewrite_children(e);
      }
    };
    bool any = false;
    std::vector<std::string> names;
    for (const auto& f : best_.pipeline->funcs) names.push_back(f->name);
    for (const auto& name : names) {
      auto drafts = drafts_of(*best_.pipeline);
      bool output = false;
      for (auto& d : drafts) {
        output |= d.output && d.name == name;
        if (d.name == name) continue;
        Forget forget;
        forget.name = name;
        for (auto& s : d.stages) s.values = forget.rewrite(s.values), s.lhs = forget.rewrite(s.lhs);
      }
      if (!output) any |= take(with(drafts));
    }
    return any;
  }

  auto expressions() -> bool {
    bool any = false;
    for (size_t f = 0; f < best_.pipeline->funcs.size(); ++f)
      for (size_t s = 0; f < best_.pipeline->funcs.size() && s < drafts_of(*best_.pipeline)[f].stages.size(); ++s)
        for (size_t n = 0; !late(); ++n) {
          const auto drafts = drafts_of(*best_.pipeline);
          if (f >= drafts.size() || s >= drafts[f].stages.size()) break;
          const auto nodes = nodes_of(drafts[f].stages[s]);
          if (n >= nodes.size()) break;
          any |= simplify_node(drafts, f, s, nodes[n]);
        }
    return any;
  }

  auto simplify_node(const std::vector<DraftFunc>& drafts, size_t f, size_t s, const Expr& node) -> bool {
    for (const auto& e : simpler(node)) {
      auto tried = drafts;
      tried[f].stages[s] = replaced(drafts[f].stages[s], node, e);
      if (take(with(tried))) return true;
    }
    return false;
  }

  auto sizes() -> bool {
    bool any = false;
    for (auto& [name, how] : Sizes(best_.sizes).strides)
      if (how != Strides::dense) any |= change([&, n = name](Sizes& s) { s.strides[n] = Strides::dense; });
    for (auto& [name, box] : Sizes(best_.sizes).boxes)
      for (size_t d = 0; d < box.size(); ++d) {
        if (box[d].min != 0) any |= change([&, n = name](Sizes& s) { s.boxes[n][d].min = 0; });
        for (const int64_t e : {int64_t{1}, box[d].extent / 2, box[d].extent - 1})
          if (e >= 0 && e < best_.sizes.boxes[name][d].extent)
            any |= change([&, n = name](Sizes& s) { s.boxes[n][d].extent = e; });
      }
    return any;
  }
  template <typename F>
  auto change(F&& f) -> bool {
    Case c = best_;
    f(c.sizes);
    return take(c);
  }

  Case best_;
  std::string kind_;
  CaseOptions options_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace

auto shrunk(const Case& c, const std::string& kind, const CaseOptions& options, int seconds) -> Case {
  return Shrinker(c, kind, options, seconds).run();
}

}  // namespace drawloom::fuzz
