/// Groups of threads, barriers and waiting.

#include "drawloom/codegen/llvm/nvptx/kernel.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/verify_device.h"
#include "drawloom/support/check.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace drawloom::codegen {

namespace intrinsic = llvm::Intrinsic;

/// The value of lane 0, which ptxas then keeps in a register for the whole warp.
auto KernelEmitter::uniform(Value* v) -> Value* {
  DRAWLOOM_CHECK(v->getType() == m_.i32, "codegen: warp_uniform of a number that is not of 32 bits");
  return b_.CreateIntrinsic(intrinsic::nvvm_shfl_sync_idx_i32, {},
                            {b_.getInt32(~0u), v, b_.getInt32(0), b_.getInt32(31)});
}

auto KernelEmitter::warp_number() -> Value* {
  Value* thread = b_.CreateIntrinsic(intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  return uniform(b_.CreateLShr(thread, b_.getInt32(5)));
}
auto KernelEmitter::lane_number() -> Value* { return b_.CreateIntrinsic(intrinsic::nvvm_read_ptx_sreg_laneid, {}); }

/// By rising number of the warp, so one comparison for each role suffices.
void KernelEmitter::emit_roles(const RoleSwitch& n) {
  Value* warp = warp_number();
  Value* thread = b_.CreateIntrinsic(intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  BasicBlock* after = block("roles_end");
  int first = 0;
  for (const auto& s : n.roles) {
    const auto& role = s.to<Role>();
    const int end = first + role.warps;
    BasicBlock *mine = block("role"), *next = block("next_role");
    b_.CreateCondBr(b_.CreateICmpULT(warp, b_.getInt32(static_cast<uint32_t>(end))), mine, next);
    b_.SetInsertPoint(mine);
    symbols_[role.symbol.get()] = b_.CreateNSWSub(thread, b_.getInt32(static_cast<uint32_t>(first * 32)));
    registers_ = entry_registers(launch_, threads_);
    statement(role.body);
    b_.CreateBr(after);
    b_.SetInsertPoint(next);
    first = end;
  }
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  forget();
}

void KernelEmitter::emit_elect(const Elect& n) {
  Value* chosen;
  if (target_.capability >= 90) {
    chosen = b_.CreateExtractValue(b_.CreateIntrinsic(intrinsic::nvvm_elect_sync, {}, {b_.getInt32(~0u)}), 1);
  } else {
    // There is no elect instruction before sm_90.
    chosen = b_.CreateICmpEQ(lane_number(), b_.getInt32(0));
  }
  BasicBlock *mine = block("elected"), *after = block("elect_end");
  b_.CreateCondBr(chosen, mine, after);
  b_.SetInsertPoint(mine);
  statement(n.body);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  forget();
}

/// With a constant number ptxas reserves that barrier, else all sixteen.
void KernelEmitter::named_barrier(std::string_view instruction, const Sync& n) {
  int64_t id;
  if (as_int(n.id, id)) return ptx(str("{} {}, {};", instruction, id, n.threads));
  ptx(str("{} $0, {};", instruction, n.threads), "r", {value(n.id)});
}

void KernelEmitter::emit_sync(const Sync& n) {
  switch (n.how) {
    case SyncKind::Warp: return ptx("bar.warp.sync 0xffffffff;");
    case SyncKind::Block: return ptx("bar.sync 0;");
    case SyncKind::Named: return named_barrier("bar.sync", n);
    case SyncKind::Arrive: return named_barrier("bar.arrive", n);
    case SyncKind::Cluster: ptx("barrier.cluster.arrive.aligned;"); return ptx("barrier.cluster.wait.aligned;");
    case SyncKind::ClusterArrive: return ptx("barrier.cluster.arrive.aligned;");
    case SyncKind::ClusterWait: return ptx("barrier.cluster.wait.aligned;");
  }
}

auto KernelEmitter::barrier(const BufferRef& b, const ExprList& index) -> Value* {
  return shared_address(b.get(), value(index[0]));
}

void KernelEmitter::emit_arrive(const Arrive& n) {
  Value *at = barrier(n.barrier, n.index), *count = value(n.count);
  if (n.rank) {
    return ptx(
        "{ .reg .b32 there; mapa.shared::cluster.u32 there, $0, $1; "
        "mbarrier.arrive.shared::cluster.b64 _, [there], $2; }",
        "r,r,r", {at, value(n.rank), count});
  }
  if (n.bytes) {
    return ptx("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [$0], $1; }", "r,r",
               {at, value(n.bytes)});
  }
  ptx("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [$0], $1; }", "r,r", {at, count});
}

/// `try_wait` gives up after a while, so it is tried again. `${:uid}`: LLVM may copy the text, and labels must differ.
void KernelEmitter::emit_wait(const Wait& n) {
  const std::string_view order = n.cluster ? ".acquire.cluster" : "";
  ptx(str("{ .reg .pred done; again_${:uid}: mbarrier.try_wait.parity{}.shared::cta.b64 done, [$0], $1; "
          "@!done bra again_${:uid}; }",
          order),
      "r,r", {barrier(n.barrier, n.index), value(n.parity)});
}

void KernelEmitter::emit_wait_group(const WaitGroup& n) {
  const std::string text = ptx_of_wait(n.group, n.pending);
  n.group == AsyncGroup::Wgmma ? pin_accumulators(text) : ptx(text);
}

void KernelEmitter::emit_set_registers(const SetRegisters& n) {
  const bool more = n.count > registers_;
  ptx(str("setmaxnreg.{}.sync.aligned.u32 {};", more ? "inc" : "dec", n.count));
  registers_ = n.count;
}

}  // namespace drawloom::codegen
