#pragma once
/// Definitions in the form that is evaluated: per stage a DAG of small nodes with all names resolved.

#include <unordered_map>
#include <vector>

#include "drawloom/interp/oracle/oracle.h"

namespace drawloom::oracle {

inline constexpr int kNone = -1;
inline constexpr size_t kMaxRank = 16, kMaxComponents = 16;

/// What a node does with its operands.
enum class What : uint8_t { Constant, Arg, RVar, Cast, Unary, Binary, Select, Call, OwnRead, FuncRead, InputRead };

struct Node {
  What what;
  uint8_t op = 0;  ///< UnaryOp, BinaryOp, Intrinsic
  Type type;
  std::vector<int> operands;
  int target = 0;     ///< Arg, RVar: which; FuncRead: Func; InputRead: input
  int component = 0;  ///< OwnRead, FuncRead
  int slot = kNone;   ///< where the value is kept during one evaluation; none: used once
  Value value;        ///< Constant
  Loc loc;
};

/// What the values of an update read of their own Func.
enum class SelfReads : uint8_t {
  none,
  same_point,  ///< only where they write: an accumulation
  elsewhere,
};

struct StageCode {
  std::vector<Node> nodes;
  int slots = 0;
  std::vector<int> values;  ///< nodes, one per component
  std::vector<int> lhs;     ///< update: nodes of the dimensions in `free_dims`
  std::vector<size_t> pure_dims, free_dims;
  std::vector<int64_t> rdom_min, rdom_extent;
  int64_t iterations = 1;  ///< 1 for a stage without reduction domain
  SelfReads self_reads = SelfReads::none;
  Loc loc;
};

struct FuncCode {
  const FunctionDef* def;
  std::vector<StageCode> stages;
};

struct PipelineCode {
  std::vector<FuncCode> funcs;
  std::unordered_map<const FunctionDef*, int> func_ids;
  std::vector<const BufferDecl*> inputs;
  std::vector<const Array*> arrays;
};

/// Every Func that the outputs reach. Errors: oracle_argument.
auto compile(const PipelineDef& pipeline, const OracleInputs& inputs, bool has_fma) -> Result<PipelineCode>;

}  // namespace drawloom::oracle
