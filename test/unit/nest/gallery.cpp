#include "gallery.h"

#include "drawloom/lang/operators.h"
#include "drawloom/lang/param.h"
#include "drawloom/lang/pipeline.h"
#include "drawloom/nest/apply.h"

namespace drawloom::testing {
namespace {

auto nest_of(const Pipeline& p) -> Nest { return make_nest(p.definition(), x86_64_target(3)).or_throw(); }

auto with_steps(const Pipeline& p, const std::string& steps) -> Nest {
  return apply(nest_of(p),
               parse_schedule(str("drawloom-schedule 1 for {}\n{}", p.name(), steps), "gallery.sched").or_throw())
      .or_throw();
}

// ---- by text

auto blur_chain(std::string_view warm) -> Nest {
  ImageParam in(uint_type(16), 2, "in");
  Func a("a"), b("b"), out("out");
  Var x("x"), y("y");
  a(x, y) = in(x, y) + in(x + 1, y) + in(x, y + 1) + in(x + 1, y + 2);
  b(x, y) = a(x, y - 1) + a(x, y) + a(x, y + 1);
  out(x, y) = b(x, y - 1) + b(x, y) + b(x + 1, y + 1);
  return with_steps(Pipeline({out}, "blur_chain"),
                    str("  split out.y -> yo, yi by 32\n  split out.x -> x, xi by 16\n  vectorize out.xi\n"
                        "  parallel out.yo\n  compute_at b out.yi\n  store_at b out.yo warm={}\n"
                        "  compute_at a out.yi\n  store_at a out.yo warm={}\n",
                        warm, warm));
}

auto equalise() -> Nest {
  ImageParam in(uint_type(8), 2, "in");
  Func hist("hist"), cdf("cdf"), out("out");
  Var x("x"), y("y"), i("i");
  RDom r(0, in.width(), 0, in.height(), "r"), s(1, 255, "s");
  hist(i) = 0;
  hist(in(r.x, r.y)) += 1;
  cdf(i) = hist(i);
  cdf(s.x) = cdf(s.x - 1) + hist(s.x);
  out(x, y) = cdf(in(x, y));
  return with_steps(Pipeline({out}, "equalise"), "  compute_root cdf\n  compute_root hist\n  parallel out.y\n");
}

auto pyramid() -> Nest {
  ImageParam in(float_type(32), 2, "in");
  Func down("down"), up("up"), out("out");
  Var x("x"), y("y");
  down(x, y) = (in(2 * x, 2 * y) + in(2 * x + 1, 2 * y) + in(2 * x, 2 * y + 1) + in(2 * x + 1, 2 * y + 1)) * 0.25f;
  up(x, y) = down(x / 2, (y - 1) / 2) + down(x / 2, (y + 1) / 2);
  out(x, y) = up(x, y) + up(x, y + 1);
  return with_steps(Pipeline({out}, "pyramid"),
                    "  compute_at up out.y\n  store_root up\n  compute_at down out.y\n  store_root down\n"
                    "  fold_storage down.y to 4\n");
}

// ---- by hand, in the nest's own terms

auto child_list(const TreeNode* n) -> std::vector<TreeRef> { return n->children; }

/// specialize(width is a multiple of 8) with a vector version, and two outputs that share their y loop (compute_with).
auto specialised_together() -> Nest {
  ImageParam in(float_type(32), 2, "in");
  Func f("f"), g("g");
  Var x("x"), y("y");
  f(x, y) = in(x, y) + 1.0f;
  g(x, y) = in(x, y + 1) * 2.0f;
  const Pipeline p({f, g}, "specialised");
  const Nest plain = nest_of(p);
  const auto& width = p.definition()->output_buffers[0]->extent[0];

  // g follows f through f's y loop: both leaves name the one loop.
  const auto together = [&](const Nest& n) -> std::vector<TreeRef> {
    const auto f_loop = n.tree->children[0], g_loop = n.tree->children[1];
    const auto shared = f_loop->as<LoopNode>()->id;
    const auto g_leaf_at = stage_leaves(g_loop)[0];
    StageLeaf leaf = *g_leaf_at.node->as<StageLeaf>();
    const auto old = leaf.loops.front().id;
    leaf.loops.front().id = shared;
    for (auto& d : leaf.dims)
      if (uses_symbol(d.rel, old.get())) d.rel = Form(shared);
    const auto g_moved = replace_at(g_loop, path_of(g_loop, g_leaf_at), tree_node(leaf));
    auto list = child_list(f_loop.get());
    list.push_back(g_moved->children[0]);
    return {tree_node(*f_loop->as<LoopNode>(), list)};
  };
  const Nest wide = with_steps(p, "  split f.x -> xo, xi by 8 tail=round_up\n  vectorize f.xi\n");
  // The version under the condition is a second realisation of each output.
  const auto as_copy = [](const TreeRef& root, int copy) {
    TreeRef out = root;
    for (const auto& at : stage_leaves(root)) {
      StageLeaf leaf = *at.node->as<StageLeaf>();
      leaf.what.copy = copy;
      out = replace_at(out, path_of(root, at), tree_node(leaf));
    }
    return out;
  };
  const auto then = as_copy(tree_node(GroupNode{}, together(wide)), 0);
  const auto otherwise = as_copy(tree_node(GroupNode{}, together(plain)), 1);
  Nest out = plain;
  const Cond multiple = Cond::nonnegative(Form(0) - floor_mod(Form(width), Form(8)));
  out.tree = tree_node(GroupNode{}, {tree_node(BranchNode{multiple, {}}, {then, otherwise})});
  return out;
}

auto jacobi() -> Nest {
  ImageParam in(float_type(32), 2, "in");
  Func u(float_type(32), 3, "u"), out("out");
  Var x("x"), y("y"), t("t");
  u(x, y, t) = select(t == 0, in(x, y),
                      (u(x - 1, y, t - 1) + u(x + 1, y, t - 1) + u(x, y - 1, t - 1) + u(x, y + 1, t - 1)) * 0.25f);
  out(x, y) = u(x, y, 10);
  return with_steps(Pipeline({out}, "jacobi"), "  compute_root u\n  fold_storage u.t to 2\n");
}

auto edit_loop(Nest nest, const StageName& stage, std::string_view loop, GroupLevel level) -> Nest {
  const auto stages = find_stages(nest, stage, {}).or_throw();
  const auto id =
      find_named_loop(nest, *leaf_at(nest, stages[0].first, stages[0].second).node->as<StageLeaf>(), loop, {})
          .or_throw();
  const auto at = *find_loop(nest.tree, id);
  LoopNode node = *at.node->as<LoopNode>();
  node.level = level;
  nest.tree = replace_at(nest.tree, path_of(nest.tree, at), tree_node(node, at.node->children));
  return nest;
}

auto on_role(Nest nest, std::string_view func, int stage, std::string_view role) -> Nest {
  const RealisationId id{nest.graph->find(func), 0};
  StageLeaf leaf = *leaf_at(nest, id, stage).node->as<StageLeaf>();
  leaf.role = role;
  return with_leaf(nest, id, stage, leaf);
}

/// A ring between the roles that fill and use the staged tiles of one ko iteration.
auto with_ring(Nest nest, const std::vector<std::string>& funcs, const SymbolRef& along, int64_t slots) -> Nest {
  ChannelNode c;
  c.name = "ab", c.along = along, c.slots = slots, c.window = 1, c.writer = "load", c.reader = "math";
  TreePath after;
  for (const auto& f : funcs) {
    c.what.push_back({nest.graph->find(f), 0});
    const auto store = *place_of(nest, c.what.back()).store;
    StoreNode node = *store.node->as<StoreNode>();
    node.folds.push_back({2, slots, {}});
    after = path_of(nest.tree, store);
  }
  nest.tree = insert_before(nest.tree, after, tree_node(c));
  return nest;
}

auto gemm() -> Nest {
  ImageParam a(float_type(32), 2, "A"), b(float_type(32), 2, "B");
  Func as("As"), bs("Bs"), c("C"), d("D");
  Var k("k"), i("i"), j("j");
  RDom r(0, a.width(), "k");
  as(k, i) = a(k, i);
  bs(j, k) = b(j, k);
  c(j, i) = 0.0f;
  c(j, i) += as(r.x, i) * bs(j, r.x);
  d(j, i) = c(j, i);
  Nest n = with_steps(Pipeline({d}, "gemm"),
                      "  split D.j -> jt, j by 256\n  split D.i -> it, i by 128\n  reorder D j i jt it\n"
                      "  compute_at C D.jt\n"
                      "  split C.update(0).kx -> ko, k by 64\n  split C.update(0).i -> w, i by 64\n"
                      "  reorder C.update(0) k j i w ko\n"
                      "  compute_at As C.update(0).ko\n  compute_at Bs C.update(0).ko\n");
  n = edit_loop(n, {"D"}, "jt", GroupLevel::Block);
  n = edit_loop(n, {"D"}, "it", GroupLevel::Block);
  n = edit_loop(n, {"C", 0}, "w", GroupLevel::Warpgroup);
  for (const auto* f : {"As", "Bs"}) n = on_role(n, f, 0, "load");
  n = on_role(on_role(on_role(n, "C", 0, "math"), "C", 1, "math"), "D", 0, "math");
  const auto ko =
      find_named_loop(n, *leaf_at(n, {n.graph->find("C"), 0}, 1).node->as<StageLeaf>(), "ko", {}).or_throw();
  return with_ring(n, {"As", "Bs"}, ko, 4);
}

}  // namespace

auto gallery() -> std::vector<GalleryNest> {
  return {{"blur_chain_whole", blur_chain("whole")},
          {"blur_chain_gradual", blur_chain("gradual")},
          {"equalise", equalise()},
          {"specialised_together", specialised_together()},
          {"pyramid", pyramid()},
          {"jacobi", jacobi()},
          {"gemm", gemm()}};
}

}  // namespace drawloom::testing
