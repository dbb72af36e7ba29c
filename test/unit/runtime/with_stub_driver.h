/// Tests of the CUDA runtime over the stand-in for libcuda.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "drawloom/device.h"
#include "drawloom/stub_driver.h"
#include "listening_context.h"

extern "C" void drawloom_cuda_reset(const char* library);

/// The runtime with a fresh stand-in for the length of a scope; afterwards it looks for the system's driver again.
class WithStubDriver {
 public:
  explicit WithStubDriver(const char* library = DRAWLOOM_STUB_DRIVER) : library_(dlopen(library, RTLD_NOW)) {
    REQUIRE(library_);
    using Get = drawloom_stub_driver_t* (*)();
    stub_ = reinterpret_cast<Get>(dlsym(library_, "drawloom_stub_driver"))();
    stub_->reset();
    drawloom_cuda_reset(library);
  }
  ~WithStubDriver() {
    drawloom_cuda_reset(nullptr);
    stub_->reset();
    dlclose(library_);
  }
  WithStubDriver(const WithStubDriver&) = delete;
  WithStubDriver& operator=(const WithStubDriver&) = delete;

  drawloom_stub_driver_t* operator->() const { return stub_; }

 private:
  void* library_;
  drawloom_stub_driver_t* stub_;
};

/// Kernels that the stand-in takes; the runtime's record of them ends with the scope.
struct Kernels : drawloom_kernels_t {
  Kernels() : drawloom_kernels_t{"blur", "cubin", 5, ".version 8.0", 90, 0, nullptr} {}
  ~Kernels() { drawloom_cuda_table()->unload(drawloom_default_context(), this); }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;
};

/// A launch of one block of 32 threads without parameters.
inline drawloom_launch_t launch_of(Kernels& kernels, const char* kernel = "blur_y") {
  drawloom_launch_t launch = {};
  launch.kernels = &kernels;
  launch.kernel = kernel;
  launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
  launch.threads = 32;
  return launch;
}

inline const drawloom_device_table_t& cuda() { return *drawloom_cuda_table(); }

/// The stand-in's device memory is host memory: tests read and write the device copy through this.
template <typename T>
T* on_device(const drawloom_buffer_t& buffer) {
  return reinterpret_cast<T*>(buffer.device);
}
