// Rules of a launch as a whole: what stands where, and whether threads, shared memory and registers suffice.
//
// Registers are the one that is easily got wrong. Threads start with the same number each and roles trade: example, 384
// threads start with 168, together 64512. A producer of 128 threads goes down to 24, two consumers of 128 up to 240: 24
// * 128 + 240 * 256 = 64512, just enough. With 248 the consumers would wait for ever, which is an error here.
//
// Lowering never waits; raising waits until others have lowered, and holds meanwhile what the role had. So the hardware
// hands out no more than there is, but roles may wait for each other: for registers, and at barriers too. Counted is the
// most that each role ever sets. When that fits for all at one time, every raise is granted as soon as each role has
// come to its first set_registers, whatever order they run in and wherever they wait afterwards. (A role that waits
// before that one, with the registers of entry, is the simulator's to find.)
#include "drawloom/ir/verify_device.h"

#include <algorithm>

#include "drawloom/ir/atoms.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/text_form.h"

namespace drawloom {
namespace {

constexpr int kRegisterFile = 65536;  // of one multiprocessor
constexpr int kMaxThreads = 1024;

auto malformed(const Node& node, std::string_view what) -> Diag {
  return Diag(DiagKind::ir_malformed, node.loc, described(node), what);
}

class LaunchVerifier {
 public:
  explicit LaunchVerifier(const Launch& launch) : launch_(launch) {}

  auto run() -> std::vector<Diag> {
    auto shape = launch_shape(launch_);
    if (!shape) return {shape.diag()};
    threads_ = launch_threads(*shape->threads);
    group_ = threads_;
    if (threads_ > kMaxThreads || threads_ < 1)
      report(*shape->threads, str("{} threads; a block has 1 to 1024", threads_));
    visit(shape->body);
    return std::move(found_);
  }

 private:
  void visit(const Stmt& s) {
    if (!s) return;
    const Role* outer = role_;
    const int outer_group = group_, outer_loops = loops_;
    dispatch(*s.get(), [&](const auto& n) {
      if constexpr (std::is_base_of_v<StmtNode, std::decay_t<decltype(n)>>) {
        check(n);
        each_child(n, [&](const auto& child) { visit_child(child); });
      }
    });
    role_ = outer;
    group_ = outer_group;
    loops_ = outer_loops;
  }
  void visit_child(const Stmt& s) { visit(s); }
  void visit_child(const Expr&) {}

  template <typename T>
  void check(const T&) {}
  void check(const Launch& n) { report(n, "a launch inside a launch"); }
  void check(const TensorMap& n) { report(n, "a tensor map is made by the host, outside the launch"); }
  void check(const Check& n) { report(n, "a check is made by the host, outside the launch"); }
  void check(const StoreFence& n) { report(n, "a fence of the host"); }
  void check(const For& n) {
    ++loops_;
    if (n.how == ForKind::Block || n.how == ForKind::Thread)
      report(n, "block and thread loops stand at the head of a launch");
    if (n.how == ForKind::Parallel) report(n, "a parallel loop of the host in device code");
  }
  void check(const Allocate& n) {
    const auto memory = n.buffer->memory;
    if (memory != MemoryKind::Register && memory != MemoryKind::Shared) {
      return report(n, str("a {} buffer in device code, which has register and shared ones", memory_name(memory)));
    }
    if (memory != MemoryKind::Shared) return;
    int64_t end = n.buffer->element.bytes();
    for (const auto& e : n.extents) end *= std::max<int64_t>(e.to<IntImm>().value, 0);
    end += n.buffer->at;
    if (end > launch_.shared_bytes)
      report(n, str("it ends at byte {}; the launch has {} of shared memory", end, launch_.shared_bytes));
  }
  void check(const RoleSwitch& n) {
    if (role_) return report(n, "roles inside a role");
    int warps = 0;
    for (const auto& s : n.roles) warps += s.to<Role>().warps;
    if (warps * 32 > threads_) report(n, str("{} warps; the block has {} threads", warps, threads_));
    check_registers(n);
  }
  void check(const Role& n) {
    role_ = &n;
    group_ = n.warps * 32;
  }
  void check(const SetRegisters& n) {
    if (!role_) return report(n, "only a role sets its registers");
    // The instruction says which of the two it is.
    if (loops_ > 0) report(n, "it stands in a loop, where whether it raises or lowers may change");
    if (role_->warps % 4 != 0)
      report(n, str("role \"{}\" has {} warps; registers are set by whole warpgroups of 4", role_->name, role_->warps));
  }
  void check(const Sync& n) {
    if (n.threads > threads_) report(n, str("{} threads; the block has {}", n.threads, threads_));
  }
  void check(const Issue& n) {
    const DeviceAtom* atom = find_atom(n.atom);
    if (!atom) return;  // said by the node's own rule
    const int threads = atom->owner == AtomOwner::Warpgroup ? 128 : atom->owner == AtomOwner::Warp ? 32 : 1;
    if (group_ % threads != 0) report(n, str("it takes whole groups of {} threads, of {} here", threads, group_));
  }

  /// The most that a thread of a role holds from its first set_registers on; without any, what it has at entry.
  static auto role_registers(const Role& role, int entry) -> int {
    int most = 0;
    each_node(role, [&](const Node& node) {
      if (node.kind == Kind::SetRegisters) most = std::max(most, static_cast<const SetRegisters&>(node).count);
      return true;
    });
    return most > 0 ? most : entry;
  }
  void check_registers(const RoleSwitch& n) {
    const int entry = entry_registers(launch_, threads_);
    int64_t sum = 0;
    for (const auto& s : n.roles) {
      const auto& role = s.to<Role>();
      sum += static_cast<int64_t>(role_registers(role, entry)) * role.warps * 32;
    }
    const int64_t pool = static_cast<int64_t>(entry) * threads_;
    const bool whole = sum > kRegisterFile;
    if (sum <= pool && !whole) return;
    const std::string what = whole ? std::string("the register file of a multiprocessor")
                                   : str("what {} threads have at entry with {} each", threads_, entry);
    found_.emplace_back(DiagKind::role_registers, n.loc, launch_.name, sum, whole ? kRegisterFile : pool, what);
  }

  void report(const Node& n, std::string_view what) { found_.push_back(malformed(n, what)); }

  const Launch& launch_;
  int threads_ = 0;
  int group_ = 0;  ///< threads that run what is visited
  int loops_ = 0;  ///< around what is visited
  const Role* role_ = nullptr;
  std::vector<Diag> found_;
};

}  // namespace

auto launch_shape(const Launch& n) -> Result<LaunchShape> {
  LaunchShape out;
  const Stmt* at = &n.body;
  while (const auto* loop = at->as<For>()) {
    const bool is_block = loop->how == ForKind::Block, is_thread = loop->how == ForKind::Thread;
    if (!is_block && !is_thread) break;
    if (!is_int(loop->min, 0)) return malformed(*loop, "it does not start at 0");
    at = &loop->body;
    if (is_thread) {
      int64_t extent;
      if (!as_int(loop->extent, extent)) return malformed(*loop, "the extent of a thread loop is not constant");
      out.threads = loop;
      break;
    }
    out.blocks.push_back(loop);
  }
  if (out.blocks.empty() || out.blocks.size() > 3 || !out.threads) {
    return malformed(n, "a launch holds one to three block loops and then a thread loop");
  }
  out.body = *at;
  return out;
}

auto launch_threads(const For& threads) -> int { return static_cast<int>(threads.extent.to<IntImm>().value); }

auto entry_registers(const Launch& n, int threads) -> int {
  if (n.registers > 0) return n.registers;
  const int share = kRegisterFile / std::max(threads, 1) / 8 * 8;
  return std::min(share, 255);
}

auto verify_launch(const Launch& n) -> std::vector<Diag> { return LaunchVerifier(n).run(); }

}  // namespace drawloom
