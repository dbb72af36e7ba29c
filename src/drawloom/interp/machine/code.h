#pragma once
/// A Program in the form the machine executes. Expressions evaluate both sides of everything, so each is a straight
/// list of instructions over registers, every shared node once; statements stay a tree.

#include <unordered_map>
#include <vector>

#include "drawloom/interp/scalar/value.h"
#include "drawloom/ir/program.h"
#include "drawloom/support/result.h"

namespace drawloom::machine {

/// The first of the `lanes` consecutive registers of a value.
using Register = int;
inline constexpr int kNone = -1;

struct Instruction {
  Kind kind;       ///< Cast Unary Binary Select Call Load Ramp Broadcast
  uint8_t op = 0;  ///< UnaryOp, BinaryOp or Intrinsic
  Type type;       ///< of the result
  Register to = kNone;
  Register from[3] = {kNone, kNone, kNone};
  int access = kNone;  ///< of Load
};

/// A Load or a Store.
struct ElementAccess {
  bool is_store = false;
  int storage = kNone;
  int lanes = 1;
  std::vector<Register> index, origin;
  Register mask = kNone;   ///< none: all lanes
  Register value = kNone;  ///< what a Store writes
  int stage = 0;           ///< into Code::stages
  int scope = kNone;
  Loc loc;
};

/// An enclosing loop, for messages.
struct Scope {
  int parent = kNone;
  Register symbol = kNone;
  const Symbol* name = nullptr;
};

struct Statement {
  Kind kind;
  int first = 0, last = 0;  ///< instructions that compute its operands
  std::vector<Register>
      operands;               ///< For: min, extent; If, Check: condition (, args); Allocate: extents; LetStmt: value
  std::vector<int> children;  ///< statements; If: then, else (or kNone)
  Register symbol = kNone;    ///< For, LetStmt
  Type type;                  ///< LetStmt: of the value
  ForKind how = ForKind::Serial;
  int storage = kNone;  ///< Allocate
  int access = kNone;   ///< Store
  int scope = kNone;    ///< For: the one it opens
  int stage = 0;
  const Check* check = nullptr;
  Loc loc;
};

struct StorageDecl {
  const BufferDecl* buffer = nullptr;
  int argument = kNone;  ///< position among the program's arguments, or kNone for an Allocate
  bool writable = true;
  int origin_rank = 0;
};

struct Constant {
  Register to;
  Value value;
  int lanes;
};

struct Code {
  int root = kNone;
  int registers = 0;
  bool flat_storage = false;  ///< of the program
  std::vector<Instruction> instructions;
  std::vector<ElementAccess> accesses;
  std::vector<Scope> scopes;
  std::vector<Statement> statements;
  std::vector<StorageDecl> storages;  ///< those of the arguments first
  std::vector<Constant> constants;
  std::vector<std::string> stages;  ///< the first is empty: outside any
  std::unordered_map<const Symbol*, Register> runtime_symbols;
};

/// `program` must outlive the code. Errors: ir_malformed, ir_type_mismatch.
auto compile(const Program& program) -> Result<Code>;

}  // namespace drawloom::machine
