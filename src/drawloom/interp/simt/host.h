#pragma once
/// The host's side of a program.

#include "drawloom/interp/simt/code.h"
#include "drawloom/interp/simt/world.h"

namespace drawloom::simt {

class Host {
 public:
  Host(const Program& program, const SimOptions& options) : program_(program), world_(options) {
    names_.flat_storage = program.flat_storage;
  }
  /// Error: machine_argument.
  auto bind(const std::vector<SimArgument>& arguments) -> Status;
  /// Errors: ir_malformed, at what a host statement or a launch cannot be.
  auto run() -> Result<SimReport>;

 private:
  void statement(const Stmt& s);
  template <typename T>
  void execute(const T& n);
  void execute(const Block& n);
  void execute(const Stage& n);
  void execute(const For& n);
  void execute(const If& n);
  void execute(const LetStmt& n);
  void execute(const Check& n);
  void execute(const TensorMap& n);
  void execute(const Launch& n);
  auto map_value(const TensorMap& n) -> MapValue;
  auto map_problem(const MapValue& m) const -> std::string;

  auto expr(const Expr& e) -> Value;
  template <typename T>
  auto evaluate(const T& n) -> Value;
  auto evaluate(const IntImm& n) -> Value;
  auto evaluate(const FloatImm& n) -> Value;
  auto evaluate(const VarRef& n) -> Value;
  auto evaluate(const Cast& n) -> Value;
  auto evaluate(const Reinterpret& n) -> Value;
  auto evaluate(const Unary& n) -> Value;
  auto evaluate(const Binary& n) -> Value;
  auto evaluate(const Select& n) -> Value;
  auto evaluate(const Call& n) -> Value;
  auto evaluate(const Let& n) -> Value;
  auto evaluate(const Address& n) -> Value;
  auto address(const BufferDecl& buffer, const ExprList& index) -> uint64_t;
  auto fail(const Node& n, std::string_view what) -> Value;
  auto going() const -> bool { return !problem_ && !world_.stopped && !world_.report.check_failure; }

  const Program& program_;
  World world_;
  HostNames names_;
  std::optional<Diag> problem_;
};

}  // namespace drawloom::simt
