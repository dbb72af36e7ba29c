// Counting the instructions of a kernel in its IR and in its PTX.
//
// Example: `sync block` asks for one `bar.sync`; the PTX of a kernel in which LLVM doubled a loop body would have two.
// The rows are the fronts of instruction names, up to the first space, since types and places differ by chip. A front
// that is the front of another row counts its instances too, on both sides alike.
//
// Counted in the text and not in LLVM IR: what happens in LLVM's code generator shows as well.
#include "drawloom/codegen/census.h"

#include "drawloom/codegen/kernel.h"
#include "drawloom/ir/atoms.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/text.h"

namespace drawloom {
namespace {

/// The name of an instruction without the parts that say types and spaces, where families overlap in a longer front.
auto front_of(std::string_view ptx) -> std::string { return std::string(ptx.substr(0, ptx.find_first_of(" ;"))); }

class Counter {
 public:
  Census found;

  /// Each statement as often as it stands in the text: a shared node counts once for every place.
  void visit(const Stmt& s) {
    if (!s) return;
    dispatch(*s.get(), [&](const auto& n) { count(n); });
    struct Children {
      Counter& counter;
      void operator()(const Stmt& child) const { counter.visit(child); }
      void operator()(const Expr&) const {}
    };
    each_child(*s.get(), Children{*this});
  }

 private:
  template <typename T>
  void count(const T&) {}
  void count(const Elect&) { ++found["elect.sync"]; }
  void count(const Sync& n) {
    switch (n.how) {
      case SyncKind::Warp: ++found["bar.warp.sync"]; return;
      case SyncKind::Block:
      case SyncKind::Named: ++found["bar.sync"]; return;
      case SyncKind::Arrive: ++found["bar.arrive"]; return;
      case SyncKind::Cluster: ++found["barrier.cluster.arrive"], ++found["barrier.cluster.wait"]; return;
      case SyncKind::ClusterArrive: ++found["barrier.cluster.arrive"]; return;
      case SyncKind::ClusterWait: ++found["barrier.cluster.wait"]; return;
    }
  }
  void count(const Init&) { ++found["mbarrier.init"]; }
  void count(const Arrive& n) {
    ++found[n.bytes ? "mbarrier.arrive.expect_tx" : "mbarrier.arrive.shared"];
    if (n.rank) ++found["mapa"];
  }
  void count(const Expect&) { ++found["mbarrier.expect_tx"]; }
  void count(const Wait&) { ++found["mbarrier.try_wait"]; }
  void count(const Fence& n) { ++found[front_of(ptx_of(n.how))]; }
  void count(const Issue& n) {
    if (const DeviceAtom* atom = find_atom(n.atom)) ++found[front_of(atom->ptx)];
  }
  void count(const Commit& n) { ++found[front_of(ptx_of_commit(n.group))]; }
  void count(const WaitGroup& n) { ++found[front_of(ptx_of_wait(n.group, n.pending))]; }
  void count(const SetRegisters&) { ++found["setmaxnreg"]; }
};

auto is_name_char(char c) -> bool {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':';
}

/// The body of one entry.
auto entry_text(std::string_view ptx, std::string_view kernel) -> std::string_view {
  const size_t start = ptx.find(str(".entry {}(", kernel));
  if (start == std::string_view::npos) return {};
  const size_t next = ptx.find(".entry ", start + 1);
  return ptx.substr(start, next == std::string_view::npos ? next : next - start);
}

/// Whole words that are `name` or go on with a dot or colons.
auto count_words(std::string_view text, const std::string& name) -> int {
  int out = 0;
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || !is_name_char(text[at - 1]);
    const char after = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    out += starts && (!is_name_char(after) || after == '.' || after == ':');
  }
  return out;
}

}  // namespace

auto expected_census(const Launch& launch) -> Census {
  Counter counter;
  counter.visit(launch.body);
  // Fences and groups of one front are one row: `cp.async.bulk.wait_group` is also the front of its `.read`.
  Census out = counter.found;
  for (auto& [name, count] : out) {
    for (const auto& [other, more] : counter.found) {
      if (other != name && other.starts_with(name + ".")) count += more;
    }
  }
  return out;
}

auto ptx_census(std::string_view ptx, std::string_view kernel, const Census& of) -> Census {
  Census out;
  const auto text = entry_text(ptx, kernel);
  for (const auto& [name, count] : of) out[name] = count_words(text, name);
  return out;
}

}  // namespace drawloom
