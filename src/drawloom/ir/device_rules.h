#pragma once
/// What is wrong with one device node by itself; type_rules.h asks for all nodes.

#include <optional>

#include "drawloom/ir/nodes.h"
#include "drawloom/support/diag.h"

namespace drawloom {

using NodeProblem = std::optional<Diag>;

auto device_problem(const Address& n) -> NodeProblem;
auto device_problem(const Reinterpret& n) -> NodeProblem;
auto device_problem(const Launch& n) -> NodeProblem;
auto device_problem(const TensorMap& n) -> NodeProblem;
auto device_problem(const RoleSwitch& n) -> NodeProblem;
auto device_problem(const Role& n) -> NodeProblem;
auto device_problem(const Elect& n) -> NodeProblem;
auto device_problem(const Sync& n) -> NodeProblem;
auto device_problem(const Init& n) -> NodeProblem;
auto device_problem(const Arrive& n) -> NodeProblem;
auto device_problem(const Expect& n) -> NodeProblem;
auto device_problem(const Wait& n) -> NodeProblem;
auto device_problem(const Fence& n) -> NodeProblem;
/// Errors: atom_unknown, atom_operand.
auto device_problem(const Issue& n) -> NodeProblem;
auto device_problem(const Commit& n) -> NodeProblem;
auto device_problem(const WaitGroup& n) -> NodeProblem;
auto device_problem(const SetRegisters& n) -> NodeProblem;

/// The type of a place: u64 in device memory, else u32.
auto address_type(const Address& n) -> Type;

}  // namespace drawloom
