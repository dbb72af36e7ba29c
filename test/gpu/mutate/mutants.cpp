#include "mutants.h"

#include <map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/text_form.h"

namespace drawloom::gpu_tests {
namespace {

auto synchronises(Kind k) -> bool {
  switch (k) {
    case Kind::Sync:
    case Kind::Fence:
    case Kind::Init:
    case Kind::Arrive:
    case Kind::Expect:
    case Kind::Wait:
    case Kind::Commit:
    case Kind::WaitGroup:
    case Kind::SetRegisters: return true;
    default: return false;
  }
}

/// Synchronises, perhaps in one thread or in some, and does nothing else.
auto only_synchronises(const Stmt& s) -> bool {
  if (const auto* e = s.as<Elect>()) return only_synchronises(e->body);
  if (const auto* i = s.as<If>())
    return only_synchronises(i->then) && (!i->otherwise || only_synchronises(i->otherwise));
  if (const auto* b = s.as<Block>()) {
    for (const auto& x : b->stmts) {
      if (!only_synchronises(x)) return false;
    }
    return true;
  }
  return synchronises(s.kind());
}

/// Puts another statement in the place of one node.
struct Replacer : Rewriter<Replacer> {
  const Node* target = nullptr;
  Stmt replacement;
  template <typename T>
    requires std::is_base_of_v<StmtNode, T>
  auto on(const T& n, const Stmt& self) -> Stmt {
    return &n == target ? replacement : rewrite_children(self);
  }
};

template <typename T, typename... Args>
auto made(Args&&... args) -> Stmt {
  return Stmt(Ref<const StmtNode>(make_ref<T>(std::forward<Args>(args)...)));
}
auto off(const Expr& e, int by) -> Expr { return binary(BinaryOp::Add, e, index_imm(by)); }

/// A statement with one number changed.
struct Change {
  std::string what;
  Stmt stmt;
};
auto changes(const StmtNode&) -> std::vector<Change> { return {}; }
auto changes(const Sync& n) -> std::vector<Change> {
  if (n.threads == 0) return {};
  std::vector<Change> out{{"threads+32", made<Sync>(n.how, n.id, n.threads + 32, n.loc)}};
  if (n.threads > 32) out.push_back({"threads-32", made<Sync>(n.how, n.id, n.threads - 32, n.loc)});
  out.push_back({"number+1", made<Sync>(n.how, off(n.id, 1), n.threads, n.loc)});
  return out;
}
auto changes(const Init& n) -> std::vector<Change> {
  std::vector<Change> out;
  for (const int by : {1, -1})
    out.push_back({by > 0 ? "count+1" : "count-1", made<Init>(n.barrier, n.index, off(n.count, by), n.loc)});
  return out;
}
auto changes(const Arrive& n) -> std::vector<Change> {
  std::vector<Change> out;
  for (const int by : {1, -1}) {
    out.push_back(
        {by > 0 ? "count+1" : "count-1", made<Arrive>(n.barrier, n.index, off(n.count, by), n.bytes, n.rank, n.loc)});
    if (n.bytes)
      out.push_back(
          {by > 0 ? "bytes+1" : "bytes-1", made<Arrive>(n.barrier, n.index, n.count, off(n.bytes, by), n.rank, n.loc)});
  }
  return out;
}
auto changes(const Expect& n) -> std::vector<Change> {
  std::vector<Change> out;
  for (const int by : {1, -1})
    out.push_back({by > 0 ? "bytes+1" : "bytes-1", made<Expect>(n.barrier, n.index, off(n.bytes, by), n.loc)});
  return out;
}
auto changes(const Wait& n) -> std::vector<Change> {
  const Expr other = binary(BinaryOp::Sub, index_imm(1), n.parity);
  std::vector<Change> out{{"parity", made<Wait>(n.barrier, n.index, other, n.cluster, n.loc)}};
  if (n.cluster) out.push_back({"cluster", made<Wait>(n.barrier, n.index, n.parity, false, n.loc)});
  return out;
}
auto changes(const WaitGroup& n) -> std::vector<Change> {
  std::vector<Change> out{{"pending+1", made<WaitGroup>(n.group, n.pending + 1, n.loc)}};
  if (n.pending > 0) out.push_back({"pending-1", made<WaitGroup>(n.group, n.pending - 1, n.loc)});
  return out;
}
auto changes(const SetRegisters& n) -> std::vector<Change> {
  std::vector<Change> out;
  if (n.count < 256) out.push_back({"registers+8", made<SetRegisters>(n.count + 8, n.loc)});
  if (n.count > 24) out.push_back({"registers-8", made<SetRegisters>(n.count - 8, n.loc)});
  return out;
}

auto first_line(const Node& n) -> std::string {
  const auto text = described(n);
  return text;
}

class Collector {
 public:
  explicit Collector(const Program& p) : program_(p) {}
  auto run() -> std::vector<Mutant> {
    visit(program_.body);
    return std::move(out_);
  }

 private:
  void add(std::string what, const Node& target, const Stmt& replacement, const std::string& statement) {
    Replacer r;
    r.target = &target;
    r.replacement = replacement;
    Mutant m{.what = std::move(what), .statement = statement, .loc = target.loc, .program = program_};
    m.occurrence = seen_[m.what + m.statement]++;
    m.program.body = r.rewrite(program_.body);
    out_.push_back(std::move(m));
  }
  void visit(const Stmt& s) {
    if (!s) return;
    dispatch(*s.get(), [&](const auto& n) {
      using T = std::decay_t<decltype(n)>;
      if constexpr (std::is_base_of_v<StmtNode, T>) {
        if (synchronises(T::kKind)) {
          add("delete", n, make_block({}), first_line(n));
          for (auto& c : changes(n)) add(c.what, n, c.stmt, first_line(n));
        }
      }
    });
    if (const auto* b = s.as<Block>()) swaps(*b);
    struct Children {
      Collector& self;
      void operator()(const Expr&) {}
      void operator()(const Stmt& child) { self.visit(child); }
    };
    each_child(*s.get(), Children{*this});
  }
  void swaps(const Block& b) {
    for (size_t i = 0; i + 1 < b.stmts.size(); ++i) {
      if (!only_synchronises(b.stmts[i]) || !only_synchronises(b.stmts[i + 1])) continue;
      StmtList swapped = b.stmts;
      std::swap(swapped[i], swapped[i + 1]);
      add("swap", b, make_block(swapped, b.loc),
          first_line(*b.stmts[i].get()) + " and " + first_line(*b.stmts[i + 1].get()));
      out_.back().loc = b.stmts[i].loc();
    }
  }

  const Program& program_;
  std::map<std::string, int> seen_;
  std::vector<Mutant> out_;
};

}  // namespace

auto mutants_of(const Program& program) -> std::vector<Mutant> { return Collector(program).run(); }

}  // namespace drawloom::gpu_tests
