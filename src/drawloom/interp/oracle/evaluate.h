#pragma once
/// Demand-driven evaluation of compiled definitions, every value computed once.
///
/// Pure stages are a memo per point. An update of stage s is a list of writes: iteration k of its reduction domain
/// writes, for given pure coordinates, one point. The state of a point before iteration k is then its last write before
/// k, or its value after stage s - 1. Which iterations write a point is found by evaluating the left side alone,
/// iteration by iteration and only as far as asked: so a left side may read the very Func, whose earlier state needs
/// only earlier iterations. Writes of one point are computed in order, which keeps accumulations from recursing.

#include <deque>

#include "drawloom/interp/oracle/code.h"
#include "drawloom/interp/oracle/point_map.h"

namespace drawloom::oracle {

/// Ends an evaluation; caught where it began.
struct Stop {
  Diag diag;
};

class Evaluator {
 public:
  Evaluator(const PipelineCode& code, uint64_t max_steps, size_t max_stack_bytes);
  /// The final value. Throws Stop.
  auto value(int func, const int64_t* point, int component) -> Value;
  auto reads() const -> std::vector<InputRead>;
  auto ambiguous() const -> bool { return ambiguous_; }
  auto steps() const -> uint64_t { return steps_; }

 private:
  /// One evaluation of one stage: its names and the values of shared nodes.
  struct Frame {
    int func, stage;
    const StageCode* code;
    const int64_t* args;
    const int64_t* rvars;
    int64_t iteration;
    size_t slots;  ///< first of its slots
  };
  struct PureMemo {
    explicit PureMemo(size_t rank) : points(rank) {}
    PointMap points;
    std::vector<Value> values;
    std::vector<bool> done;
  };
  /// The writes of one point by one update.
  struct Writes {
    std::vector<int64_t> iterations;  ///< ascending; unused when every iteration writes here
    std::vector<Value> values;        ///< of the last computed write, or (SelfReads::elsewhere) of all computed ones
    int64_t known = 0;                ///< writes computed, from the first; without self reads, the one held, plus 1
  };
  /// The writes for one choice of pure coordinates.
  struct Scatter {
    explicit Scatter(size_t free_rank) : points(free_rank) {}
    PointMap points;  ///< by the other coordinates
    std::deque<Writes> writes;
    int64_t built = 0;  ///< iterations whose left side is known
  };
  struct UpdateMemo {
    explicit UpdateMemo(size_t pure_rank) : points(pure_rank) {}
    PointMap points;  ///< by pure coordinates
    std::deque<Scatter> scatters;
  };
  struct FuncMemo {
    PureMemo pure;
    std::vector<UpdateMemo> updates;
  };

  auto value_after(int func, int stage, const int64_t* point, int component) -> Value;
  auto value_before(int func, int stage, int64_t iteration, const int64_t* point, int component) -> Value;
  auto pure_value(int func, const int64_t* point, int component) -> Value;
  auto scatter_of(int func, int stage, const int64_t* point) -> Scatter&;
  void build(Scatter& scatter, const Frame& at, int64_t upto);
  /// Makes write `j` the last known one, at least.
  void compute_upto(Writes& writes, int64_t j, const Frame& at);
  void compute(Writes& writes, int64_t j, const Frame& at);

  /// f(frame) with slots of its own and the reduction variables of `iteration`.
  template <typename F>
  void with_frame(Frame frame, int64_t iteration, F&& f);
  auto eval(int node, const Frame& frame) -> Value;
  auto eval_node(const Node& n, const Frame& frame) -> Value;
  auto eval_binary_node(const Node& n, const Frame& frame) -> Value;
  void eval_coords(const Node& n, const Frame& frame, int64_t* out);
  auto read_input(const Node& n, const Frame& frame) -> Value;
  void guard(const Frame& frame, const Loc& loc);
  auto point_text(int func, const int64_t* point) const -> std::string;
  auto place_text(const Frame& frame) const -> std::string;

  const PipelineCode& code_;
  std::vector<FuncMemo> memos_;
  std::vector<Value> slots_;
  std::vector<uint8_t> slot_known_;
  struct Touched {
    std::vector<int64_t> lo, hi;
  };
  std::vector<Touched> touched_;  ///< per input
  uint64_t steps_ = 0, max_steps_;
  const char* stack_base_;
  size_t max_stack_bytes_;
  bool ambiguous_ = false;
};

}  // namespace drawloom::oracle
