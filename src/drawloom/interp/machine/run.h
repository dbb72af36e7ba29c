#pragma once
/// One run of a Code: registers with a cause per lane, storages, tasks, and the report being written.

#include <unordered_set>

#include "drawloom/interp/machine/code.h"
#include "drawloom/interp/machine/machine.h"
#include "drawloom/interp/machine/storage.h"
#include "drawloom/support/hash.h"

namespace drawloom::machine {

/// Why some lanes mean nothing, with what is needed to tell the user when one is used.
struct Cause {
  enum class Kind : uint8_t {
    reported,       ///< an error was reported already
    masked_off,     ///< a lane that a masked load did not read
    unwritten,      ///< loaded from an element that nothing wrote
    wrong_element,  ///< loaded from an element that holds other coordinates
  };
  Kind kind = Kind::reported;
  int access = kNone;
  std::vector<int64_t> loops;  ///< values of the access' scopes, innermost first
  std::vector<int64_t> wanted, found;
};

class Run {
 public:
  Run(const Code& code, const Program& program, const MachineOptions& options);
  /// Binds the arguments. Error: machine_argument.
  auto bind(const MachineArguments& arguments) -> Status;
  void execute();
  auto finish(const MachineArguments& arguments) -> MachineReport;

 private:
  // execute.cpp: statements
  void statement(int id);
  void loop(const Statement& s);
  void iterations(const Statement& s, int64_t min, int64_t extent);
  void parallel_iterations(const Statement& s, int64_t min, int64_t extent);
  void allocate(const Statement& s);
  void check(const Statement& s);
  void store(const ElementAccess& a);
  void store_lane(const ElementAccess& a, int lane);
  void step(uint64_t count, int stage, int scope);
  /// A scalar that decides something, so must mean something.
  auto decide(Register r, const char* what, const Statement& s) -> int64_t;

  // execute.cpp: expressions
  void evaluate(int first, int last);
  void instruction(const Instruction& i);
  void load(const Instruction& i);
  void load_lane(const ElementAccess& a, Register to, int lane);
  /// Position of a lane's element, or -1 when it has been reported.
  auto locate(const ElementAccess& a, int lane) -> int64_t;
  auto active(const ElementAccess& a, int lane) -> bool;
  auto holds_wanted(const ElementAccess& a, int lane, int64_t position, const Element& e) -> bool;

  // report.cpp
  auto new_cause(Cause::Kind kind, int access, int lane, const int64_t* found) -> CauseId;
  void use(CauseId cause, const std::string& what, const Loc& loc, int scope, int stage);
  void report_bounds(const ElementAccess& a, int lane);
  void report_race(const ElementAccess& a, int lane);
  void report_store_to_input(const ElementAccess& a);
  void add_error(const Diag& d);
  /// True the first time an access reports this kind.
  auto first_time(int access, DiagKind kind) -> bool;
  auto loop_values(int scope) const -> std::vector<int64_t>;
  auto place_text(int stage, int scope, const std::vector<int64_t>& loops) const -> std::string;
  auto place_text(int stage, int scope) const -> std::string { return place_text(stage, scope, loop_values(scope)); }
  auto lane_coords(const std::vector<Register>& list, int lane) const -> std::vector<int64_t>;
  auto element_text(const ElementAccess& a, const std::vector<int64_t>& coords) const -> std::string;
  /// The element by its logical coordinates where they are known, else by subscripts.
  auto element_text(const ElementAccess& a, int lane) const -> std::string;
  auto access_id(const ElementAccess& a) const -> int { return static_cast<int>(&a - code_.accesses.data()); }

  const Code& code_;
  const Program& program_;
  const MachineOptions& options_;
  std::vector<Value> values_;
  std::vector<CauseId> causes_of_;  ///< per register
  std::vector<Storage> storages_;
  std::vector<int64_t> moved_;       ///< lanes per access
  std::vector<int64_t> peak_bytes_;  ///< per storage
  std::vector<Cause> causes_;
  std::vector<CauseId> masked_cause_;  ///< per access, made when first needed
  std::vector<CauseId> last_cause_;    ///< per access
  std::unordered_set<uint64_t> told_;  ///< access and kind
  TaskTree tasks_;
  TaskId task_ = kRootTask;
  CounterRandom random_;
  bool stopped_ = false;
  MachineReport report_;
};

}  // namespace drawloom::machine
