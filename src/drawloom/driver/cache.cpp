#include <map>
#include <mutex>

#include "drawloom/driver/compile.h"

namespace drawloom {
namespace {

/// A pipeline cannot be reused for another while the cache holds it, so its address is its identity.
struct CacheKey {
  const PipelineDef* pipeline;
  std::string schedule, target;
  friend auto operator<=>(const CacheKey&, const CacheKey&) = default;
};

auto key_of(const PipelineDef& pipeline, const Schedule& schedule, const Target& target) -> CacheKey {
  return {&pipeline, print(schedule), target.text()};
}

}  // namespace

struct CompileCache::Body {
  mutable std::mutex mutex;
  std::map<CacheKey, CompiledPipelineRef> entries;
};

CompileCache::CompileCache() : body_(std::make_shared<Body>()) {}

auto CompileCache::size() const -> size_t {
  const std::lock_guard lock(body_->mutex);
  return body_->entries.size();
}

auto CompileCache::find(const PipelineDef& pipeline, const Schedule& schedule, const Target& target) const
    -> CompiledPipelineRef {
  const std::lock_guard lock(body_->mutex);
  const auto hit = body_->entries.find(key_of(pipeline, schedule, target));
  return hit == body_->entries.end() ? CompiledPipelineRef() : hit->second;
}

void CompileCache::insert(CompiledPipelineRef compiled) {
  const auto key = key_of(compiled->pipeline(), compiled->schedule(), compiled->target());
  const std::lock_guard lock(body_->mutex);
  body_->entries.insert_or_assign(key, std::move(compiled));
}

}  // namespace drawloom
