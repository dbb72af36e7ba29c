#include "drawloom/ir/print_device.h"

#include "drawloom/support/lexer.h"

namespace drawloom {
namespace {

/// `%b[i, j]` of the first `index.size()` texts.
auto element(const BufferRef& buffer, const ExprList& index, const Texts& texts, const NameHooks& names)
    -> std::string {
  const auto end = texts.begin() + static_cast<long>(index.size());
  return str("{}[{}]", names.buffer(names.context, *buffer), join({texts.begin(), end}, ", "));
}

/// ` word text` where there is something to say.
auto part(std::string_view word, const std::string& text) -> std::string {
  return text.empty() ? std::string() : str(" {} {}", word, text);
}
auto part(std::string_view word, int value, int usual = 0) -> std::string {
  return value == usual ? std::string() : str(" {} {}", word, value);
}

}  // namespace

auto word(SyncKind how) -> std::string_view {
  switch (how) {
#define SYNC(name, text) \
  case SyncKind::name: return text;
#include "drawloom/ir/device.def"
  }
  return "?";
}
auto word(FenceKind how) -> std::string_view {
  switch (how) {
#define FENCE(name, text, ptx) \
  case FenceKind::name: return text;
#include "drawloom/ir/device.def"
  }
  return "?";
}
auto word(AsyncGroup group) -> std::string_view {
  switch (group) {
#define ASYNC_GROUP(name, text, commit, wait) \
  case AsyncGroup::name: return text;
#include "drawloom/ir/device.def"
  }
  return "?";
}

auto device_line(const Sync& n, const Texts& texts, const NameHooks&) -> std::string {
  return n.id ? str("sync {} {} threads {}", word(n.how), texts[0], n.threads) : str("sync {}", word(n.how));
}
auto device_line(const Init& n, const Texts& texts, const NameHooks& names) -> std::string {
  return str("init {} count {}", element(n.barrier, n.index, texts, names), texts.back());
}
auto device_line(const Arrive& n, const Texts& texts, const NameHooks& names) -> std::string {
  const size_t at = n.index.size();
  return str("arrive {} count {}", element(n.barrier, n.index, texts, names), texts[at]) +
         part("bytes", texts[at + 1]) + part("rank", texts[at + 2]);
}
auto device_line(const Expect& n, const Texts& texts, const NameHooks& names) -> std::string {
  return str("expect {} bytes {}", element(n.barrier, n.index, texts, names), texts.back());
}
auto device_line(const Wait& n, const Texts& texts, const NameHooks& names) -> std::string {
  return str("wait {} parity {}{}", element(n.barrier, n.index, texts, names), texts.back(),
             n.cluster ? " cluster" : "");
}
auto device_line(const Fence& n, const Texts&, const NameHooks&) -> std::string { return str("fence {}", word(n.how)); }
auto device_line(const Issue& n, const Texts& texts, const NameHooks&) -> std::string {
  return str("issue {} ({})", quoted(n.atom), join(texts, ", "));
}
auto device_line(const Commit& n, const Texts&, const NameHooks&) -> std::string {
  return str("commit {}", word(n.group));
}
auto device_line(const WaitGroup& n, const Texts&, const NameHooks&) -> std::string {
  return str("wait_group {} {}", word(n.group), n.pending);
}
auto device_line(const SetRegisters& n, const Texts&, const NameHooks&) -> std::string {
  return str("set_registers {}", n.count);
}

auto launch_head(const Launch& n) -> std::string {
  std::string out = "launch " + quoted(n.name);
  const bool cluster = n.cluster_x != 1 || n.cluster_y != 1 || n.cluster_z != 1;
  if (cluster) out += str(" cluster {}, {}, {}", n.cluster_x, n.cluster_y, n.cluster_z);
  return out + part("shared", n.shared_bytes) + part("registers", n.registers) + part("min_blocks", n.min_blocks) +
         part("spills", n.spills);
}

auto tensor_map_head(const TensorMap& n, const std::string& symbol, const Texts& texts, const NameHooks& names)
    -> std::string {
  auto at = texts.begin() + static_cast<long>(n.base.size());
  const auto list = [&](const ExprList& field) {
    const auto first = at;
    at += static_cast<long>(field.size());
    return join({first, at}, ", ");
  };
  std::string out = str("tensor_map {} = {}", symbol, element(n.buffer, n.base, texts, names));
  out += str(" dims ({})", list(n.dims));
  out += str(" strides ({})", list(n.strides));
  out += str(" box ({})", list(n.box));
  return out + part("swizzle", n.swizzle) + part("promotion", n.promotion) +
         (n.fill == TensorFill::Nan ? " fill nan" : "");
}

}  // namespace drawloom
