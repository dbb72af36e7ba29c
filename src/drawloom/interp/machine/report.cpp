#include "drawloom/interp/machine/run.h"

namespace drawloom::machine {
namespace {

/// Garbage lanes can be many and are mostly never used: beyond this, an access tells only its last cause.
constexpr size_t kMaxCauses = 100'000;

auto coords_text(const std::vector<int64_t>& coords) -> std::string {
  std::vector<std::string> parts;
  for (const int64_t c : coords) parts.push_back(to_text(c));
  return "(" + join(parts, ", ") + ")";
}

}  // namespace

auto Run::new_cause(Cause::Kind kind, int access, int lane, const int64_t* found) -> CauseId {
  CauseId& last = last_cause_[static_cast<size_t>(access)];
  if (causes_.size() > kMaxCauses && last != 0 && kind != Cause::Kind::masked_off) return last;
  const auto& a = code_.accesses[static_cast<size_t>(access)];
  Cause c{.kind = kind, .access = access, .loops = loop_values(a.scope), .wanted = {}, .found = {}};
  // Kept as numbers: when the value is used, the loops that it was loaded in have gone on.
  c.wanted = lane_coords(a.origin.empty() ? a.index : a.origin, lane);
  if (found) c.found.assign(found, found + a.origin.size());
  causes_.push_back(std::move(c));
  last = static_cast<CauseId>(causes_.size() - 1);
  return last;
}

void Run::use(CauseId cause, const std::string& what, const Loc& loc, int scope, int stage) {
  Cause c = causes_[cause];
  causes_[cause].kind = Cause::Kind::reported;
  if (c.kind == Cause::Kind::reported) return;
  const auto& a = code_.accesses[static_cast<size_t>(c.access)];
  const auto wanted = element_text(a, c.wanted);
  const auto reader = place_text(a.stage, a.scope, c.loops);
  const auto user_place = str("used in {}", place_text(stage, scope));
  switch (c.kind) {
    case Cause::Kind::reported: return;
    case Cause::Kind::masked_off:
      if (!first_time(c.access, DiagKind::machine_garbage_used)) return;
      return add_error(Diag(DiagKind::machine_garbage_used, loc, place_text(stage, scope), what,
                            "`" + storages_[static_cast<size_t>(a.storage)].decl().buffer->name + "`")
                           .with_note(a.loc, "the masked load"));
    case Cause::Kind::unwritten:
      if (!first_time(c.access, DiagKind::machine_unwritten)) return;
      return add_error(Diag(DiagKind::machine_unwritten, a.loc, reader, wanted, what).with_note(loc, user_place));
    case Cause::Kind::wrong_element:
      if (!first_time(c.access, DiagKind::machine_wrong_element)) return;
      return add_error(Diag(DiagKind::machine_wrong_element, a.loc, reader, wanted, coords_text(c.found), what)
                           .with_note(loc, user_place));
  }
}

void Run::report_bounds(const ElementAccess& a, int lane) {
  if (!first_time(access_id(a), DiagKind::machine_out_of_bounds)) return;
  const auto& storage = storages_[static_cast<size_t>(a.storage)];
  auto d = Diag(DiagKind::machine_out_of_bounds, a.loc, place_text(a.stage, a.scope), a.is_store ? "writes" : "reads",
                element_text(a, lane_coords(a.index, lane)), storage.bounds_text(a.index.size(), code_.flat_storage));
  if (!a.origin.empty()) d = d.with_note({}, str("that should be {}", element_text(a, lane)));
  add_error(d);
}

void Run::report_race(const ElementAccess& a, int lane) {
  if (!first_time(access_id(a), DiagKind::machine_race)) return;
  add_error(Diag(DiagKind::machine_race, a.loc, place_text(a.stage, a.scope), a.is_store ? "writes" : "reads",
                 element_text(a, lane), a.is_store ? "reads or writes" : "writes"));
}

void Run::report_store_to_input(const ElementAccess& a) {
  if (!first_time(access_id(a), DiagKind::machine_store_to_input)) return;
  const auto& name = storages_[static_cast<size_t>(a.storage)].decl().buffer->name;
  add_error(Diag(DiagKind::machine_store_to_input, a.loc, place_text(a.stage, a.scope), name));
}

void Run::add_error(const Diag& d) {
  if (stopped_) return;
  report_.errors.push_back(options_.pass.empty() ? d : d.with_note({}, str("in the program after {}", options_.pass)));
  if (static_cast<int>(report_.errors.size()) >= options_.max_errors) stopped_ = true;
}

/// One wrong bound gives the same error at every iteration.
auto Run::first_time(int access, DiagKind kind) -> bool {
  return told_.insert((static_cast<uint64_t>(access) << 16) | static_cast<uint64_t>(kind)).second;
}

// --- words

auto Run::loop_values(int scope) const -> std::vector<int64_t> {
  std::vector<int64_t> out;
  for (int s = scope; s != kNone; s = code_.scopes[static_cast<size_t>(s)].parent) {
    out.push_back(values_[static_cast<size_t>(code_.scopes[static_cast<size_t>(s)].symbol)].i);
  }
  return out;
}

auto Run::place_text(int stage, int scope, const std::vector<int64_t>& loops) const -> std::string {
  std::vector<std::string> parts;
  size_t k = 0;
  for (int s = scope; s != kNone; s = code_.scopes[static_cast<size_t>(s)].parent) {
    parts.insert(parts.begin(), str("{} = {}", code_.scopes[static_cast<size_t>(s)].name->name, loops[k++]));
  }
  const auto& name = code_.stages[static_cast<size_t>(stage)];
  const auto where = name.empty() ? program_.name : name;
  return parts.empty() ? where : str("{} ({})", where, join(parts, ", "));
}

auto Run::lane_coords(const std::vector<Register>& list, int lane) const -> std::vector<int64_t> {
  std::vector<int64_t> out;
  for (const Register r : list) out.push_back(values_[static_cast<size_t>(r + lane)].i);
  return out;
}

auto Run::element_text(const ElementAccess& a, const std::vector<int64_t>& coords) const -> std::string {
  return str("`{}`{}", storages_[static_cast<size_t>(a.storage)].decl().buffer->name, coords_text(coords));
}
auto Run::element_text(const ElementAccess& a, int lane) const -> std::string {
  return element_text(a, lane_coords(a.origin.empty() ? a.index : a.origin, lane));
}

}  // namespace drawloom::machine
