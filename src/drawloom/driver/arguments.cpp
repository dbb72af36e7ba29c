#include "drawloom/driver/arguments.h"

#include <cstring>

#include "drawloom/lang/param.h"

namespace drawloom {
namespace {

auto set_value(const Symbol& param) -> Result<const ParamValue*> {
  const auto* value = value_of(param);
  if (!value || !value->is_set)
    return Diag(DiagKind::call_unset, param.loc, "parameter", param.name)
        .with_help(str("call {}.set(value)", param.name));
  return value;
}

/// The first bytes are the value as its type lies in memory (this is a little-endian machine).
auto scalar_bits(const Symbol& param, const ParamValue& value) -> uint64_t {
  uint64_t bits = 0;
  if (!param.type.is_float()) {
    std::memcpy(&bits, &value.integer, sizeof bits);
  } else if (param.type.bits == 32) {
    const auto single = static_cast<float>(value.real);
    std::memcpy(&bits, &single, sizeof single);
  } else {
    std::memcpy(&bits, &value.real, sizeof bits);
  }
  return bits;
}

}  // namespace

auto integer_value(const Symbol& param) -> Result<int64_t> {
  DRAWLOOM_TRY(const ParamValue* value, set_value(param));
  return value->integer;
}

auto CallArguments::of(const PipelineDef& pipeline, const std::vector<AnyBuffer>& outputs) -> Result<CallArguments> {
  CallArguments out;
  for (const auto& b : pipeline.inputs) {
    auto* contents = contents_of(*b);
    if (!contents)
      return Diag(DiagKind::call_unset, b->loc, "image", b->name).with_help(str("call {}.set(buffer)", b->name));
    out.pointers_.push_back(&contents->raw);
  }
  out.scalars_.reserve(pipeline.params.size());
  for (const auto& p : pipeline.params) {
    DRAWLOOM_TRY(const ParamValue* value, set_value(*p));
    out.scalars_.push_back(scalar_bits(*p, *value));
    out.pointers_.push_back(&out.scalars_.back());
  }
  for (const auto& b : outputs) out.pointers_.push_back(b.raw());
  return out;
}

}  // namespace drawloom
