#pragma once
/// A launch in the form that warps execute: one list of instructions, with jumps where the statement tree had branches.
/// Each value is a slot of 32 lanes, or one number where all lanes agree by construction; what the host knows is constant.

#include <unordered_map>
#include <vector>

#include "drawloom/interp/scalar/value.h"
#include "drawloom/ir/atoms.h"
#include "drawloom/ir/program.h"
#include "drawloom/ir/verify_device.h"
#include "drawloom/support/result.h"

namespace drawloom::simt {

inline constexpr int kNone = -1;

enum class Op : uint8_t {
  Cast,
  Reinterpret,
  Unary,
  Binary,
  Select,
  Call,
  Load,
  Address,  // values
  If,
  Else,
  EndIf,
  Loop,
  Next,
  Role,
  Elect,
  EndElect,
  End,  // who goes on, and where
  Store,
  Allocate,
  Sync,
  Init,
  Arrive,
  Expect,
  Wait,
  Fence,
  Issue,
  Commit,
  WaitGroup,
  SetRegisters
};

/// Where an instruction finds a value.
struct Operand {
  enum class Where : uint8_t { none, slot, constant };
  Where where = Where::none;
  bool uniform = false;  ///< a slot of which lane 0 stands for all
  Type type;
  int index = 0;  ///< into slots or constants
  auto defined() const -> bool { return where != Where::none; }
  auto same_in_all_lanes() const -> bool { return uniform || where == Where::constant; }
};

struct Instruction {
  Op op;
  uint8_t sub = 0;       ///< UnaryOp, BinaryOp, Intrinsic, SyncKind, FenceKind or AsyncGroup
  bool uniform = false;  ///< computed once for all lanes
  bool flag = false;     ///< Wait: cluster
  Type type;             ///< of the result
  int to = kNone;        ///< slot
  Operand from[3];       ///< operands in the order of the node's fields
  int place = kNone;     ///< into Code::places: Load, Store, Address, Allocate and the mbarrier statements
  int target = kNone;  ///< If: its Else; Else: its EndIf; Loop: behind its Next; Next: its first; Role, Elect: the end
  int number = 0;      ///< Role: index into roles; Issue: into issues; Sync: threads; WaitGroup, SetRegisters: count
  int site = 0;
};

/// An element of a buffer by its subscripts.
struct Place {
  const BufferDecl* buffer = nullptr;
  int argument = kNone;          ///< memory of an argument
  int registers = kNone;         ///< number of a Register buffer
  std::vector<int64_t> extents;  ///< of Register and Shared buffers
  std::vector<Operand> index;
  int site = 0;
};

struct IssueOperand {
  const AtomOperand* row = nullptr;
  std::vector<Operand> values;  ///< of Value, Values, Descriptor, Predicate, Immediate, Shared, Global, Barrier
  /// Of Registers: the buffer, and the subscript of the first, which all lanes agree on.
  int registers = kNone;
  Operand first;
  const Symbol* map = nullptr;
};
struct IssueCode {
  const DeviceAtom* atom = nullptr;
  std::vector<IssueOperand> operands;
};

struct RoleCode {
  std::string name;
  int first_warp = 0, warps = 0;
};

struct RegisterBuffer {
  const BufferDecl* buffer = nullptr;
  int64_t elements = 0;
};
struct SharedBuffer {
  const BufferDecl* buffer = nullptr;
  int64_t at = 0, bytes = 0;
};

/// A statement, for messages.
struct Site {
  Loc loc;
  std::string words;  ///< what it is, empty for plain accesses
};

struct Code {
  const Launch* launch = nullptr;
  LaunchShape shape;
  int threads = 0, slots = 0;
  int thread_slot = 0;
  int block_slots[3] = {kNone, kNone, kNone};  ///< x, y, z
  std::vector<Value> constants;
  std::vector<Instruction> instructions;
  std::vector<Place> places;
  std::vector<IssueCode> issues;
  std::vector<RoleCode> roles;
  std::vector<RegisterBuffer> registers;
  std::vector<SharedBuffer> shared;
  std::vector<Site> sites;
  bool flat_storage = false;
  int shared_granule = 4;
};

/// What the host has bound when it comes to the launch.
struct HostNames {
  std::unordered_map<const Symbol*, Value> values;
  std::unordered_map<const BufferDecl*, int> arguments;
  bool flat_storage = false;  ///< of the program
};

/// Errors: ir_malformed, at what device code cannot hold.
auto compile_launch(const Launch& launch, const HostNames& host) -> Result<Code>;

}  // namespace drawloom::simt
