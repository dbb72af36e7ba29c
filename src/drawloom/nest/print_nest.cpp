#include "drawloom/nest/apply.h"

namespace drawloom {
namespace {

/// A view of the closed nest: ends, extents and clips are asked for and resolved, so that runtime symbols, loop names
/// and names of regions are left in them. docs/nest.md shows six.
class NestPrinter {
 public:
  explicit NestPrinter(const Nest& nest) : nest_(nest) {}

  auto print() -> std::string {
    line(0, str("nest {} target {}", nest_.graph->pipeline->name, nest_.target));
    for (const auto& c : nest_.tree->children) node(*c, 1);
    for (const auto& f : nest_.graph->funcs)
      if (f->is_inlined())
        line(1, str("inline {}{}", f->name(), f->placement == PlacementState::Open ? " (open)" : ""));
    for (const auto& b : nest_.graph->pipeline->inputs) input(b);
    return out_;
  }

 private:
  void line(int depth, const std::string& text) {
    out_.append(static_cast<size_t>(depth) * 2, ' ');
    out_ += text;
    out_ += '\n';
  }

  void node(const TreeNode& n, int depth) {
    if (const auto* loop = n.as<LoopNode>()) {
      line(depth, loop_text(*loop));
      for (const auto& c : n.children) node(*c, depth + 1);
    } else if (const auto* store = n.as<StoreNode>()) {
      storage(*store, depth);
    } else if (const auto* ring = n.as<ChannelNode>()) {
      channel(*ring, depth);
    } else if (const auto* leaf = n.as<StageLeaf>()) {
      stage(*leaf, depth);
    } else if (const auto* branch = n.as<BranchNode>()) {
      line(depth, str("if {}", branch->condition));
      for (const auto& c : n.children) node(*c, depth + 1);
    } else {
      for (const auto& c : n.children) node(*c, depth);
    }
  }

  auto loop_text(const LoopNode& loop) -> std::string {
    std::string word;
    switch (loop.how) {
      case ForKind::Serial:
      case ForKind::Block:
      case ForKind::Thread: break;  // its level says it
      case ForKind::Parallel: word = "parallel "; break;
      case ForKind::Vectorized: word = "vectorized "; break;
      case ForKind::Unrolled: word = "unrolled "; break;
    }
    if (loop.level != GroupLevel::None) word = str("{} ", level_name(loop.level));
    return str("{}for {} < {}", word, loop.id->name, resolve(nest_, loop.extent, cache_));
  }

  void channel(const ChannelNode& c, int depth) {
    std::vector<std::string> parts;
    // covers, not needs: a transfer has one size in every iteration
    Form bytes(0);
    for (const auto& id : c.what) {
      Form elements(1);
      for (const auto& d : realisation_facts(nest_, id, cache_).need.dims) elements = elements * d.cover;
      int64_t width = 0;
      for (const auto& t : nest_.func(id).def->types) width += t.bytes();
      bytes = bytes + elements * Form(width);
      parts.push_back(nest_.func(id).name());
    }
    line(depth, str("channel {} of {} along {}: slots {}, window {}, put by {} ({} bytes an iteration), read by {}, "
                    "lookahead {}",
                    c.name, join(parts, " "), c.along->name, c.slots, c.window, c.writer, bytes, c.reader,
                    c.slots - c.window));
  }

  void storage(const StoreNode& s, int depth) {
    const auto& facts = realisation_facts(nest_, s.what, cache_);
    const auto& f = nest_.func(s.what);
    line(depth, str("store {} {}", f.name(), memory_name(s.memory)));
    for (size_t d = 0; d < facts.stored.dims.size(); ++d) dim_line(depth + 1, f, s, facts, d);
    const auto place = facts.store_site == facts.compute_site ? std::string() : slide_text(f, facts);
    line(depth + 1, str("when {}{}", facts.need.when, place));
    for (const auto& [name, form] : facts.names) line(depth + 1, str("where {} = {}", name->name, form));
  }

  void dim_line(int depth, const GraphFunc& f, const StoreNode& s, const RealisationFacts& facts, size_t d) {
    const auto& need = facts.need.dims[d];
    std::string text = str("{}: need {} .. {}, cover {}", f.def->args[d]->name, need.lo, need.hi, need.cover);
    if (facts.slide_of(static_cast<int>(d))) {
      text += str(", new {} .. {}", facts.computed.dims[d].lo, facts.computed.dims[d].hi);
    }
    if (facts.store_site != facts.compute_site)
      text += str(", stored {} .. {}", facts.stored.dims[d].lo, facts.stored.dims[d].hi);
    if (const auto w = facts.window[d]; w && facts.slide_of(static_cast<int>(d))) text += str(", window {}", *w);
    for (const auto& fold : s.folds)
      if (fold.dim == static_cast<int>(d)) text += str(", fold {}", fold.depth);
    line(depth, text);
  }

  auto slide_text(const GraphFunc& f, const RealisationFacts& facts) -> std::string {
    if (facts.slides.empty()) return str(", no slide: {}", facts.no_slide);
    std::string text;
    for (const auto& s : facts.slides) {
      std::vector<std::string> chain;
      for (const auto& c : s.chain) chain.push_back(c->name);
      text += str(", slides in {} along {}, warm-up {}", f.def->args[static_cast<size_t>(s.dim)]->name,
                  join(chain, " "), s.gradual ? str("gradual from {}", -facts.warm_iterations) : std::string("whole"));
    }
    return text;
  }

  void stage(const StageLeaf& leaf, int depth) {
    std::string text = stage_text(nest_, leaf.what, leaf.stage);
    std::vector<std::string> dims;
    for (const auto& d : leaf.dims) {
      const auto base = stage_dim_range(nest_, leaf, static_cast<size_t>(&d - leaf.dims.data()), cache_).lo;
      dims.push_back(str("{} = {}", d.var->name, base + resolve(nest_, d.rel, cache_)));
    }
    text += dims.empty() ? "" : str(" at {}", join(dims, ", "));
    if (!leaf.role.empty()) text += str(" on {}", leaf.role);
    for (const auto& c : leaf.clips)
      text += str(" [{} < {}]", resolve(nest_, c.index, cache_), resolve(nest_, c.limit, cache_));
    line(depth, text);
  }

  void input(const BufferRef& b) {
    const auto region = input_region(nest_, b, cache_);
    if (!region) return line(1, str("reads {} without known bounds", b->name));
    std::vector<std::string> dims;
    for (const auto& d : region->dims) dims.push_back(str("{} .. {}", d.lo, d.hi));
    line(1, str("reads {}: {} when {}", b->name, join(dims, ", "), region->when));
  }

  const Nest& nest_;
  QueryCache cache_;
  std::string out_;
};

}  // namespace

auto print_nest(const Nest& nest) -> std::string {
  const auto closed = close_nest(nest);
  return closed.ok() ? NestPrinter(settle_clips(*closed)).print() : closed.diag().text();
}

}  // namespace drawloom
