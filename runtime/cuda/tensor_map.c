// Tensor maps: every constraint checked by us, with a message that names the dimension, before the driver is asked (its
// answer to all of them is "invalid argument"); equal maps encoded once per CUcontext.
//
// A kernel is launched with the same maps again and again, so encoded maps are cached by value: 64 sets of 4, no list
// to walk and no memory that grows. Equal maps must be equal bytes, so the key has one form for what means the same.
// Example, rank 2: extents and strides beyond dimension 1 are zeroed, an element step of 0 becomes 1, and the stride of
// a dimension with extent 1, which is never taken, becomes 16.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

enum { kUnit = 16, kMostBox = 256, kMostStep = 8 };
static const int64_t kMostExtent = INT64_C(1) << 32, kStrideLimit = INT64_C(1) << 40;

/// What is wrong with a map.
typedef struct fault_t {
  int dimension;  // -1: the map as a whole
  const char* what;
  int64_t value;
  const char* needs;  // null: nothing is wrong
} fault_t;

static const fault_t sound = {0};

static fault_t whole(const char* what, int64_t value, const char* needs) { return (fault_t){-1, what, value, needs}; }

// ---- Element types ------------------------------------------------------------------------------------------------

/// CUtensorMapDataType; signed numbers of 8 and 16 bits travel as unsigned ones. -1: there is none.
static int type_number(const drawloom_tensor_map_t* map) {
  enum { u8, u16, u32, i32, u64, i64, f16, f32, f64, bf16, f32_ftz, tf32 };
  const int bits = map->type.bits;
  if (map->type.lanes != 1) return -1;
  switch (map->type.code) {
    case drawloom_type_uint:
      return bits == 1 || bits == 8 ? u8 : bits == 16 ? u16 : bits == 32 ? u32 : bits == 64 ? u64 : -1;
    case drawloom_type_int: return bits == 8 ? u8 : bits == 16 ? u16 : bits == 32 ? i32 : bits == 64 ? i64 : -1;
    case drawloom_type_float: return bits == 16 ? f16 : bits == 32 ? (map->tf32 ? tf32 : f32) : bits == 64 ? f64 : -1;
    case drawloom_type_bfloat: return bits == 16 ? bf16 : -1;
  }
  return -1;
}

static int is_floating(drawloom_type_t type) {
  return type.code == drawloom_type_float || type.code == drawloom_type_bfloat;
}

// ---- Constraints --------------------------------------------------------------------------------------------------

static fault_t fault_of_whole(const drawloom_tensor_map_t* map) {
  if (map->rank < 1 || map->rank > drawloom_tensor_ranks) return whole("the rank", map->rank, "1 to 5");
  if (type_number(map) < 0) {
    return whole("the number of bits of its elements", map->type.bits,
                 "int or uint of 8, 16, 32 or 64, float of 16, 32 or 64, bfloat of 16");
  }
  if (map->tf32 && !(map->type.code == drawloom_type_float && map->type.bits == 32)) {
    return whole("tf32", map->tf32, "elements of type float32");
  }
  if (map->address == 0 || map->address % kUnit != 0) {
    return whole("the device address", (int64_t)map->address, "a multiple of 16 bytes that is not 0");
  }
  const int swizzle = map->swizzle, promotion = map->l2_promotion;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) {
    return whole("the swizzle", swizzle, "0, 32, 64 or 128 bytes");
  }
  if (promotion != 0 && promotion != 64 && promotion != 128 && promotion != 256) {
    return whole("the L2 promotion", promotion, "0, 64, 128 or 256 bytes");
  }
  if (map->fill != drawloom_tensor_fill_zero && map->fill != drawloom_tensor_fill_nan) {
    return whole("the fill", map->fill, "zero (0) or NaN (1)");
  }
  if (map->fill == drawloom_tensor_fill_nan && !is_floating(map->type)) {
    return whole("the fill", map->fill, "zero (0) where elements are integers");
  }
  return sound;
}

static fault_t fault_of_stride(const drawloom_tensor_map_t* map, int i) {
  const int64_t stride = map->stride[i], element = (int64_t)drawloom_type_bytes(map->type);
  if (i == 0) {
    return stride == element ? sound : (fault_t){i, "the stride in bytes", stride, "the size of one element"};
  }
  if (map->extent[i] == 1) return sound;  // never taken
  if (stride > 0 && stride < kStrideLimit && stride % kUnit == 0) return sound;
  return (fault_t){i, "the stride in bytes", stride, "a positive multiple of 16 below 2^40"};
}

static fault_t fault_of_box(const drawloom_tensor_map_t* map, int i) {
  const int64_t box = map->box[i], bytes = box * (int64_t)drawloom_type_bytes(map->type);
  if (box < 1 || box > kMostBox) return (fault_t){i, "the box", box, "1 to 256 elements"};
  if (i > 0) return sound;
  if (bytes % kUnit != 0) return (fault_t){i, "the box in bytes", bytes, "a multiple of 16"};
  if (map->swizzle && bytes > map->swizzle) return (fault_t){i, "the box in bytes", bytes, "at most the swizzle"};
  return sound;
}

static fault_t fault_of_dimension(const drawloom_tensor_map_t* map, int i) {
  if (map->extent[i] < 1 || map->extent[i] > kMostExtent) {
    return (fault_t){i, "the extent", map->extent[i], "1 to 2^32"};
  }
  fault_t fault = fault_of_stride(map, i);
  if (!fault.needs) fault = fault_of_box(map, i);
  if (fault.needs) return fault;
  const int step = map->element_step[i];
  if (step < 0 || step > kMostStep) return (fault_t){i, "the element step", step, "1 to 8"};
  if (i == 0 && step > 1) return (fault_t){i, "the element step", step, "1"};
  return sound;
}

static fault_t fault_of(const drawloom_tensor_map_t* map) {
  fault_t fault = fault_of_whole(map);
  for (int i = 0; i < map->rank && !fault.needs; i++) fault = fault_of_dimension(map, i);
  return fault;
}

int drawloom_cuda_tensor_map_fits(drawloom_context_t* ctx, const drawloom_tensor_map_t* map) {
  (void)ctx;
  return !fault_of(map).needs;
}

static int report(call_t* call, const drawloom_tensor_map_t* map, const fault_t* fault) {
  drawloom_site_t site = call->site;
  site.name = map->name;
  site.text = fault->what;
  const message_t message = {.site = &site, .other = fault->needs, .a = fault->dimension, .b = fault->value};
  return drawloom_report(
      call->ctx, fault->dimension < 0 ? drawloom_error_bad_tensor_map : drawloom_error_bad_tensor_dimension, &message);
}

// ---- The cache ----------------------------------------------------------------------------------------------------

enum { kCacheSets = 64, kCacheWays = 4 };

typedef struct entry_t {
  drawloom_tensor_map_t key;
  cu_tensor_map_t map;
} entry_t;

/// Which entry a map may take follows from its hash; within a set the oldest goes.
struct tensor_cache_t {
  entry_t entry[kCacheSets][kCacheWays];
  uint8_t used[kCacheSets], oldest[kCacheSets];
};

/// The map as a value: equal bytes mean equal maps.
static drawloom_tensor_map_t key_of(const drawloom_tensor_map_t* map) {
  drawloom_tensor_map_t key = *map;
  key.name = NULL;
  key.param = key.reserved = 0;
  for (int i = 0; i < drawloom_tensor_ranks; i++) {
    if (i >= map->rank) {
      key.extent[i] = key.stride[i] = 0;
      key.box[i] = key.element_step[i] = 0;
      continue;
    }
    if (key.element_step[i] == 0) key.element_step[i] = 1;
    if (i > 0 && key.extent[i] == 1) key.stride[i] = kUnit;
  }
  return key;
}

static uint64_t hash_of(const drawloom_tensor_map_t* key) {
  uint64_t words[sizeof *key / sizeof(uint64_t)], hash = 0;
  memcpy(words, key, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

static cu_result_t encode(const driver_t* driver, const drawloom_tensor_map_t* key, cu_tensor_map_t* out) {
  uint64_t extents[drawloom_tensor_ranks], strides[drawloom_tensor_ranks];
  uint32_t box[drawloom_tensor_ranks], steps[drawloom_tensor_ranks];
  for (int i = 0; i < drawloom_tensor_ranks; i++) {
    extents[i] = (uint64_t)key->extent[i];
    strides[i] = (uint64_t)key->stride[i];
    box[i] = (uint32_t)key->box[i];
    steps[i] = (uint32_t)key->element_step[i];
  }
  const int swizzle = key->swizzle == 0 ? 0 : key->swizzle == 32 ? 1 : key->swizzle == 64 ? 2 : 3;
  const int promotion = key->l2_promotion == 0 ? 0 : key->l2_promotion == 64 ? 1 : key->l2_promotion == 128 ? 2 : 3;
  // Strides are those of dimensions 1 and up.
  return driver->encode_tiled(out, type_number(key), (uint32_t)key->rank, (void*)(uintptr_t)key->address, extents,
                              strides + 1, box, steps, 0, swizzle, promotion, key->fill);
}

/// The state's mutex is held. Null: no memory for a cache.
static entry_t* entry_for(device_state_t* state, const drawloom_tensor_map_t* key, int* found) {
  tensor_cache_t* cache = state->tensor_cache;
  *found = 0;
  if (!cache) {
    cache = aligned_alloc(_Alignof(tensor_cache_t), sizeof *cache);
    if (!cache) return NULL;
    memset(cache, 0, sizeof *cache);
    state->tensor_cache = cache;
  }
  const uint64_t set = hash_of(key) % kCacheSets;
  for (int i = 0; i < cache->used[set]; i++) {
    *found = memcmp(&cache->entry[set][i].key, key, sizeof *key) == 0;
    if (*found) return &cache->entry[set][i];
  }
  if (cache->used[set] < kCacheWays) return &cache->entry[set][cache->used[set]++];
  const int way = cache->oldest[set];
  cache->oldest[set] = (uint8_t)((way + 1) % kCacheWays);
  return &cache->entry[set][way];
}

int drawloom_cuda_tensor_map(call_t* call, const drawloom_tensor_map_t* map, cu_tensor_map_t* out) {
  const fault_t fault = fault_of(map);
  if (fault.needs) return report(call, map, &fault);
  const drawloom_tensor_map_t key = key_of(map);
  cu_result_t result = cu_success;
  int found = 0;
  pthread_mutex_lock(&call->state->mutex);
  entry_t* entry = entry_for(call->state, &key, &found);
  if (!found) result = encode(call->driver, &key, out);
  if (entry && found) *out = entry->map;
  if (entry && !found) {
    // After a failure the entry is one that equals no map.
    memset(&entry->key, 0, sizeof entry->key);
    if (result == cu_success) *entry = (entry_t){key, *out};
  }
  pthread_mutex_unlock(&call->state->mutex);
  return drawloom_cuda_check(call, "cuTensorMapEncodeTiled", result);
}
