#pragma once
/// The statements of device code (design: "Device IR"). A kernel is an ordinary Stmt plus these; NVPTX emission writes one
/// instruction, or one loop around it, for each, and the simulator executes exactly them.
///
/// A Launch holds up to three Block loops (outermost z, innermost x; or y, x; or x alone), then one Thread loop, then the
/// code of one thread. All threads of a warp run it together; a *collective* statement (Sync, Wait, warpgroup atoms,
/// SetRegisters) must be reached by every thread of the group it belongs to. Register buffers are the only mutable
/// scalars. Shared memory is one array of bytes per block, in which Shared buffers lie at fixed places.

#include "drawloom/ir/node.h"
#include "drawloom/ir/symbol.h"

namespace drawloom {

enum class SyncKind : uint8_t {
#define SYNC(name, text) name,
#include "drawloom/ir/device.def"
};
enum class FenceKind : uint8_t {
#define FENCE(name, text, ptx) name,
#include "drawloom/ir/device.def"
};
/// Who completes groups of asynchronous operations.
enum class AsyncGroup : uint8_t {
#define ASYNC_GROUP(name, text, commit, wait) name,
#include "drawloom/ir/device.def"
};
/// What a tensor map's box reads outside the tensor. Stores write nothing there.
enum class TensorFill : uint8_t { Zero, Nan };

/// The place of one element: for Shared its byte address in the block's shared memory (u32), for Argument its address in
/// device memory (u64). Of a Register buffer it stands for the registers from that subscript on, and may only be an
/// operand of Issue (type u32, without a value). Out of range is undefined only when the place is used.
struct Address : ExprNode {
  static constexpr Kind kKind = Kind::Address;
  BufferRef buffer;
  ExprList index;
  Address(Type t, BufferRef b, ExprList i, Loc l)
      : ExprNode(kKind, t, std::move(l)), buffer(std::move(b)), index(std::move(i)) {}
  void each_field(auto&& f) const { f("buffer", buffer), f("index", index); }
};

/// The bits of `value` as another type of the same width, lane by lane.
struct Reinterpret : ExprNode {
  static constexpr Kind kKind = Kind::Reinterpret;
  Expr value;
  Reinterpret(Type t, Expr v, Loc l) : ExprNode(kKind, t, std::move(l)), value(std::move(v)) {}
  void each_field(auto&& f) const { f("value", value); }
};

/// One kernel launch; a host statement. Asynchronous: it may still run when the program returns.
/// cluster_*: blocks of one cluster along x, y, z; the grid must be a multiple. shared_bytes: shared memory of a block.
/// registers: most per thread (0: what fits the block's threads). min_blocks: blocks that one multiprocessor must hold (0:
/// no demand). spills: bytes of local memory per thread that the kernel may spill; more is a target_limit.
/// Index arithmetic below it is done in 32 bits: the launch fails when a buffer spans 2^31 elements or more.
struct Launch : StmtNode {
  static constexpr Kind kKind = Kind::Launch;
  std::string name;
  int cluster_x, cluster_y, cluster_z;
  int shared_bytes, registers, min_blocks, spills;
  Stmt body;
  struct Attributes {
    int cluster_x = 1, cluster_y = 1, cluster_z = 1;
    int shared_bytes = 0, registers = 0, min_blocks = 0, spills = 0;
  };
  Launch(std::string n, const Attributes& a, Stmt b, Loc l)
      : StmtNode(kKind, std::move(l)), name(std::move(n)), cluster_x(a.cluster_x), cluster_y(a.cluster_y),
        cluster_z(a.cluster_z), shared_bytes(a.shared_bytes), registers(a.registers), min_blocks(a.min_blocks),
        spills(a.spills), body(std::move(b)) {}
  void each_field(auto&& f) const {
    f("name", name), f("cluster_x", cluster_x), f("cluster_y", cluster_y), f("cluster_z", cluster_z);
    f("shared_bytes", shared_bytes), f("registers", registers), f("min_blocks", min_blocks), f("spills", spills);
    f("body", body);
  }
};

/// Binds `symbol` (u64, opaque) to a tensor map over `buffer` for `body`; a host statement around a Launch.
/// base: subscripts of the element at coordinates 0. dims: elements in each dimension (1 to 5 of them, dimension 0 dense).
/// strides: of dimensions 1.., in elements. box: elements that one copy moves (constants). swizzle: 0, 32, 64 or 128 bytes.
/// promotion: 0, 64, 128 or 256 bytes of L2 sector promotion. Coordinates outside dims read `fill`.
/// Errors at the call: device_tensor_map, naming the dimension (alignment, stride or box that the hardware refuses).
struct TensorMap : StmtNode {
  static constexpr Kind kKind = Kind::TensorMap;
  SymbolRef symbol;
  BufferRef buffer;
  ExprList base, dims, strides, box;
  int swizzle, promotion;
  TensorFill fill;
  Stmt body;
  struct Shape {
    ExprList base, dims, strides, box;
    int swizzle = 0, promotion = 0;
    TensorFill fill = TensorFill::Zero;
  };
  TensorMap(SymbolRef s, BufferRef b, Shape shape, Stmt st, Loc l)
      : StmtNode(kKind, std::move(l)), symbol(std::move(s)), buffer(std::move(b)), base(std::move(shape.base)),
        dims(std::move(shape.dims)), strides(std::move(shape.strides)), box(std::move(shape.box)),
        swizzle(shape.swizzle), promotion(shape.promotion), fill(shape.fill), body(std::move(st)) {}
  void each_field(auto&& f) const {
    f("symbol", symbol), f("buffer", buffer), f("base", base), f("dims", dims), f("strides", strides), f("box", box);
    f("swizzle", swizzle), f("promotion", promotion), f("fill", fill), f("body", body);
  }
};

/// The warps of a block, shared out: the first role takes the first warps, and so on. Warps beyond them do nothing.
struct RoleSwitch : StmtNode {
  static constexpr Kind kKind = Kind::RoleSwitch;
  StmtList roles;  ///< each a Role
  RoleSwitch(StmtList r, Loc l) : StmtNode(kKind, std::move(l)), roles(std::move(r)) {}
  void each_field(auto&& f) const { f("roles", roles); }
};

/// What `warps` warps of a block run. `symbol` is the thread's number within the role.
struct Role : StmtNode {
  static constexpr Kind kKind = Kind::Role;
  std::string name;
  int warps;
  SymbolRef symbol;
  Stmt body;
  Role(std::string n, int w, SymbolRef s, Stmt b, Loc l)
      : StmtNode(kKind, std::move(l)), name(std::move(n)), warps(w), symbol(std::move(s)), body(std::move(b)) {}
  void each_field(auto&& f) const { f("name", name), f("warps", warps), f("symbol", symbol), f("body", body); }
};

/// `body` runs in one thread of each warp that comes here with all its threads, always the same one.
struct Elect : StmtNode {
  static constexpr Kind kKind = Kind::Elect;
  Stmt body;
  Elect(Stmt b, Loc l) : StmtNode(kKind, std::move(l)), body(std::move(b)) {}
  void each_field(auto&& f) const { f("body", body); }
};

/// A barrier among threads; see device.def. id: number of a named barrier, 1 to 15 (0 is Block's); threads: how many take
/// part in it, a multiple of 32. Both are for Named and Arrive only.
struct Sync : StmtNode {
  static constexpr Kind kKind = Kind::Sync;
  SyncKind how;
  Expr id;
  int threads;
  Sync(SyncKind h, Expr i, int t, Loc l) : StmtNode(kKind, std::move(l)), how(h), id(std::move(i)), threads(t) {}
  void each_field(auto&& f) const { f("how", how), f("id", id), f("threads", threads); }
};

/// Makes a Shared u64 element an mbarrier in phase 0 that `count` arrivals complete. Once, by one thread.
struct Init : StmtNode {
  static constexpr Kind kKind = Kind::Init;
  BufferRef barrier;
  ExprList index;
  Expr count;
  Init(BufferRef b, ExprList i, Expr c, Loc l)
      : StmtNode(kKind, std::move(l)), barrier(std::move(b)), index(std::move(i)), count(std::move(c)) {}
  void each_field(auto&& f) const { f("barrier", barrier), f("index", index), f("count", count); }
};

/// `count` arrivals at an mbarrier by this thread; what it did before is seen by those who wait. bytes (may be undefined):
/// the phase also waits for so many bytes of asynchronous copies, told before the arrival counts. rank (may be undefined):
/// the block of the cluster whose barrier is meant; with it, `bytes` must be undefined.
struct Arrive : StmtNode {
  static constexpr Kind kKind = Kind::Arrive;
  BufferRef barrier;
  ExprList index;
  Expr count, bytes, rank;
  Arrive(BufferRef b, ExprList i, Expr c, Expr by, Expr r, Loc l)
      : StmtNode(kKind, std::move(l)), barrier(std::move(b)), index(std::move(i)), count(std::move(c)),
        bytes(std::move(by)), rank(std::move(r)) {}
  void each_field(auto&& f) const {
    f("barrier", barrier), f("index", index), f("count", count), f("bytes", bytes), f("rank", rank);
  }
};

/// The current phase of an mbarrier also waits for `bytes` of asynchronous copies. No arrival.
struct Expect : StmtNode {
  static constexpr Kind kKind = Kind::Expect;
  BufferRef barrier;
  ExprList index;
  Expr bytes;
  Expect(BufferRef b, ExprList i, Expr by, Loc l)
      : StmtNode(kKind, std::move(l)), barrier(std::move(b)), index(std::move(i)), bytes(std::move(by)) {}
  void each_field(auto&& f) const { f("barrier", barrier), f("index", index), f("bytes", bytes); }
};

/// Waits until the phase of an mbarrier whose parity is `parity` (0 or 1) is complete: on a fresh barrier parity 1 falls
/// through. Sees what arrivals and copies of that phase wrote. cluster: arrivals of other blocks are seen too.
struct Wait : StmtNode {
  static constexpr Kind kKind = Kind::Wait;
  BufferRef barrier;
  ExprList index;
  Expr parity;
  bool cluster;
  Wait(BufferRef b, ExprList i, Expr p, bool c, Loc l)
      : StmtNode(kKind, std::move(l)), barrier(std::move(b)), index(std::move(i)), parity(std::move(p)), cluster(c) {}
  void each_field(auto&& f) const {
    f("barrier", barrier), f("index", index), f("parity", parity), f("cluster", cluster);
  }
};

/// Orders this thread's accesses as device.def says.
struct Fence : StmtNode {
  static constexpr Kind kKind = Kind::Fence;
  FenceKind how;
  Fence(FenceKind h, Loc l) : StmtNode(kKind, std::move(l)), how(h) {}
  void each_field(auto&& f) const { f("how", how); }
};

/// One instruction of atoms.def, by name. operands: as its row says; register operands are Addresses of Register buffers
/// with constant subscripts.
struct Issue : StmtNode {
  static constexpr Kind kKind = Kind::Issue;
  std::string atom;
  ExprList operands;
  Issue(std::string a, ExprList o, Loc l) : StmtNode(kKind, std::move(l)), atom(std::move(a)), operands(std::move(o)) {}
  void each_field(auto&& f) const { f("atom", atom), f("operands", operands); }
};

/// Closes a group of the asynchronous operations that this thread (warpgroup for Wgmma) issued since the last one.
struct Commit : StmtNode {
  static constexpr Kind kKind = Kind::Commit;
  AsyncGroup group;
  Commit(AsyncGroup g, Loc l) : StmtNode(kKind, std::move(l)), group(g) {}
  void each_field(auto&& f) const { f("group", group); }
};

/// Waits until at most `pending` of the groups that this thread committed are incomplete.
struct WaitGroup : StmtNode {
  static constexpr Kind kKind = Kind::WaitGroup;
  AsyncGroup group;
  int pending;
  WaitGroup(AsyncGroup g, int p, Loc l) : StmtNode(kKind, std::move(l)), group(g), pending(p) {}
  void each_field(auto&& f) const { f("group", group), f("pending", pending); }
};

/// From here on each thread of this role has `count` registers (24 to 256, a multiple of 8). Every warp of a warpgroup
/// runs it. More than before waits until others gave some back.
struct SetRegisters : StmtNode {
  static constexpr Kind kKind = Kind::SetRegisters;
  int count;
  SetRegisters(int c, Loc l) : StmtNode(kKind, std::move(l)), count(c) {}
  void each_field(auto&& f) const { f("count", count); }
};

}  // namespace drawloom
