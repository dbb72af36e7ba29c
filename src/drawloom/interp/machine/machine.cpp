#include "drawloom/interp/machine/machine.h"

#include <algorithm>

#include "drawloom/interp/machine/run.h"

namespace drawloom {
namespace machine {

Run::Run(const Code& code, const Program& program, const MachineOptions& options)
    : code_(code), program_(program), options_(options), random_(options.parallel_seed) {
  values_.resize(static_cast<size_t>(code.registers));
  causes_of_.resize(static_cast<size_t>(code.registers));
  for (const auto& c : code.constants) {
    for (int l = 0; l < c.lanes; ++l) values_[static_cast<size_t>(c.to + l)] = c.value;
  }
  for (const auto& decl : code.storages) storages_.emplace_back(decl);
  peak_bytes_.resize(code.storages.size());
  moved_.resize(code.accesses.size());
  masked_cause_.resize(code.accesses.size());
  last_cause_.resize(code.accesses.size());
  causes_.resize(2);  // 0: none, 1: reported
}

auto Run::bind(const MachineArguments& arguments) -> Status {
  const auto wrong = [&](const std::string& which, const std::string& what) {
    return Diag(DiagKind::machine_argument, {}, which, program_.name, what);
  };
  if (arguments.size() != program_.arguments.size()) {
    return wrong("list", str("{} given, {} wanted", arguments.size(), program_.arguments.size()));
  }
  const auto set = [&](const SymbolRef& s, Value v) {
    values_[static_cast<size_t>(code_.runtime_symbols.at(s.get()))] = v;
  };
  size_t next_storage = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (const auto* scalar = std::get_if<ScalarArgument>(&program_.arguments[i])) {
      const auto& s = *scalar->symbol;
      const Value v = arguments[i].scalar;
      if (v.type != s.type) return wrong(s.name, str("a {}, not {}", v.type, s.type));
      set(scalar->symbol, v);
      continue;
    }
    const auto& argument = std::get<BufferArgument>(program_.arguments[i]);
    const auto& buffer = *argument.buffer;
    const Array* array = arguments[i].array;
    if (!array) return wrong(buffer.name, "no array");
    if (array->element != buffer.element)
      return wrong(buffer.name, str("elements are {}, not {}", array->element, buffer.element));
    if (array->rank() != buffer.rank) return wrong(buffer.name, str("rank {}, not {}", array->rank(), buffer.rank));
    for (size_t d = 0; d < array->dims.size(); ++d) {
      set(buffer.min[d], int_value(kIndex, array->dims[d].min));
      set(buffer.extent[d], int_value(kIndex, array->dims[d].extent));
      set(buffer.stride[d], int_value(kIndex, array->dims[d].stride));
    }
    storages_[next_storage++].attach(*array, argument.role == ArgumentRole::Input);
  }
  return Done{};
}

auto Run::finish(const MachineArguments& arguments) -> MachineReport {
  for (const auto& storage : storages_) {
    const auto& decl = storage.decl();
    if (decl.argument != kNone && decl.writable) {
      report_.unwritten_outputs += storage.detach(*arguments[static_cast<size_t>(decl.argument)].array);
    }
    if (decl.argument == kNone) {
      report_.peaks.push_back({decl.buffer->name, peak_bytes_[static_cast<size_t>(&storage - storages_.data())]});
    }
  }
  for (size_t i = 0; i < moved_.size(); ++i) {
    const auto& a = code_.accesses[i];
    const auto& stage = code_.stages[static_cast<size_t>(a.stage)];
    const auto& buffer = code_.storages[static_cast<size_t>(a.storage)].buffer->name;
    auto row = std::find_if(report_.counts.begin(), report_.counts.end(),
                            [&](const auto& c) { return c.stage == stage && c.buffer == buffer; });
    if (row == report_.counts.end()) row = report_.counts.insert(row, {.stage = stage, .buffer = buffer});
    (a.is_store ? row->stores : row->loads) += moved_[i];
  }
  std::sort(report_.counts.begin(), report_.counts.end(),
            [](const auto& a, const auto& b) { return a.stage != b.stage ? a.stage < b.stage : a.buffer < b.buffer; });
  return std::move(report_);
}

}  // namespace machine

auto MachineReport::stores_of(std::string_view stage) const -> int64_t {
  int64_t n = 0;
  for (const auto& c : counts) n += c.stage == stage ? c.stores : 0;
  return n;
}
auto MachineReport::loads_of(std::string_view stage) const -> int64_t {
  int64_t n = 0;
  for (const auto& c : counts) n += c.stage == stage ? c.loads : 0;
  return n;
}

auto run(const Program& program, const MachineArguments& arguments, const MachineOptions& options)
    -> Result<MachineReport> {
  DRAWLOOM_TRY(const machine::Code code, machine::compile(program));
  machine::Run r(code, program, options);
  DRAWLOOM_REQUIRE(r.bind(arguments));
  r.execute();
  return r.finish(arguments);
}

}  // namespace drawloom
