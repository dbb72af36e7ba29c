#pragma once
/// The lines of device statements that hold no other statement; parse_device.h is the other direction.

#include <string>
#include <vector>

#include "drawloom/ir/print_expr.h"

namespace drawloom {

/// Device statements of one line.
template <typename T>
concept DeviceLine = __is_same(T, Sync) || __is_same(T, Init) || __is_same(T, Arrive) || __is_same(T, Expect) ||
                     __is_same(T, Wait) || __is_same(T, Fence) || __is_same(T, Issue) || __is_same(T, Commit) ||
                     __is_same(T, WaitGroup) || __is_same(T, SetRegisters);

/// All expressions of a node in the order of its fields; undefined ones too.
template <typename T>
auto field_exprs(const T& n) -> ExprList {
  ExprList out;
  n.each_field([&](std::string_view, const auto& field) {
    using F = std::decay_t<decltype(field)>;
    if constexpr (__is_same(F, Expr)) out.push_back(field);
    if constexpr (__is_same(F, ExprList)) out.insert(out.end(), field.begin(), field.end());
  });
  return out;
}

/// The line of `n`; `texts` are those of field_exprs(n).
using Texts = std::vector<std::string>;
auto device_line(const Sync& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const Init& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const Arrive& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const Expect& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const Wait& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const Fence& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const Issue& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const Commit& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const WaitGroup& n, const Texts& texts, const NameHooks& names) -> std::string;
auto device_line(const SetRegisters& n, const Texts& texts, const NameHooks& names) -> std::string;

/// The heads of those that do, without the brace.
auto launch_head(const Launch& n) -> std::string;
/// `symbol`: the name of what it binds.
auto tensor_map_head(const TensorMap& n, const std::string& symbol, const Texts& texts, const NameHooks& names)
    -> std::string;

auto word(SyncKind how) -> std::string_view;
auto word(FenceKind how) -> std::string_view;
auto word(AsyncGroup group) -> std::string_view;

}  // namespace drawloom
