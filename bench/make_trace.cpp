// Writes a trace as the PyTorch profiler does, of any size: per operator a span with shapes, stack frames around it, a
// launch call, a kernel and the arrows between, in the proportions of real traces with stacks and shapes.
#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

class Output {
 public:
  Output(const char* path, bool packed) {
    if (packed)
      packed_ = gzopen(path, "wb6");
    else
      plain_ = std::fopen(path, "wb");
  }
  ~Output() {
    if (packed_ != nullptr) gzclose(packed_);
    if (plain_ != nullptr) std::fclose(plain_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool is_open() const { return packed_ != nullptr || plain_ != nullptr; }
  void write(const std::string& text) {
    if (packed_ != nullptr) gzwrite(packed_, text.data(), static_cast<unsigned>(text.size()));
    if (plain_ != nullptr) std::fwrite(text.data(), 1, text.size(), plain_);
    bytes_ += text.size();
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  gzFile packed_ = nullptr;
  std::FILE* plain_ = nullptr;
  std::uint64_t bytes_ = 0;
};

std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33U;
}

// A kernel as a trace without stacks and shapes holds it, in as few bytes as profilers write.
std::string kernel_event(std::uint64_t i, std::uint64_t& random) {
  return fmt::format(
      ",\n{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"nvjet_tst_{}x{}_64x4_1x2_h_bz_TNT\", \"pid\": 0, \"tid\": "
      "7, "
      "\"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{\"External id\": {}, \"device\": 0, \"context\": 1, \"stream\": 7, "
      "\"correlation\": {}, \"grid\": [{}, 1, 1], \"block\": [128, 1, 1]}}}}",
      64 * (1 + next_random(random) % 4), 8 * (1 + next_random(random) % 32),
      1428625731622.25 + 37.5 * static_cast<double>(i), 2.0 + static_cast<double>(next_random(random) % 30000) / 1000,
      i + 1, i + 1, 1 + next_random(random) % 256);
}

// One operator and all that belongs to it: nine events.
std::string operator_events(std::uint64_t i, std::uint64_t& random) {
  const double start = 1428625731622.25 + 37.5 * static_cast<double>(i);
  const auto m = 128 * (1 + next_random(random) % 64);
  const auto n = 256 * (1 + next_random(random) % 16);
  std::string text;
  for (int frame = 0; frame < 4; ++frame)
    text += fmt::format(
        ",\n  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"model/layers/block_{}.py({}): "
        "forward\", "
        "\"pid\": 851, \"tid\": 851,\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"Python parent "
        "id\": "
        "{}, \"Python id\": {}, \"Ev Idx\": {}\n    }}\n  }}",
        next_random(random) % 40, next_random(random) % 900, start, 20.0 + frame, 4 * i + 1, 4 * i + 2, 9 * i);
  text += fmt::format(
      ",\n  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 851, \"tid\": 851,\n    "
      "\"ts\": "
      "{:.3f}, \"dur\": 18.402,\n    \"args\": {{\n      \"External id\": {}, \"Record function id\": 0, \"Concrete "
      "Inputs\": [\"\", \"\"], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"], \"Input Strides\": [[1024, 1], "
      "[1, 1024]], \"Input Dims\": [[{}, 1024], [1024, {}]], \"Ev Idx\": {}\n    }}\n  }}",
      start + 1, i + 1, m, n, 9 * i + 4);
  text += fmt::format(
      ",\n  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 851, \"tid\": "
      "851,\n    \"ts\": {:.3f}, \"dur\": 5.271,\n    \"args\": {{\n      \"External id\": {}, \"cbid\": 211, "
      "\"correlation\": {}\n    }}\n  }}",
      start + 8, i + 1, i + 1);
  text += fmt::format(
      ",\n  {{\n    \"ph\": \"s\", \"id\": {}, \"pid\": 851, \"tid\": 851, \"ts\": {:.3f},\n    \"cat\": \"ac2g\", "
      "\"name\": \"ac2g\"\n  }}",
      i + 1, start + 8);
  text += fmt::format(
      ",\n  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::vectorized_elementwise_kernel<{}, "
      "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda(float)#1}}, std::array<char*, 2ul> "
      ">(int, "
      "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda(float)#1}}, std::array<char*, 2ul>)\", "
      "\"pid\": 0, \"tid\": 7,\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {}, "
      "\"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, \"correlation\": {},\n      \"registers per "
      "thread\": 16, \"shared memory\": 0,\n      \"blocks per SM\": 135.515152,\n      \"warps per SM\": "
      "542.060608,\n      \"grid\": [{}, 1, 1],\n      \"block\": [128, 1, 1],\n      \"est. achieved occupancy %\": "
      "100\n    }}\n  }}",
      next_random(random) % 200, start + 14, 2.0 + static_cast<double>(next_random(random) % 30000) / 1000, i + 1,
      i + 1, m);
  text += fmt::format(
      ",\n  {{\n    \"ph\": \"f\", \"id\": {}, \"pid\": 0, \"tid\": 7, \"ts\": {:.3f},\n    \"cat\": \"ac2g\", "
      "\"name\": "
      "\"ac2g\", \"bp\": \"e\"\n  }}",
      i + 1, start + 14);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const bool kernels = argc == 4 && std::string_view(argv[3]) == "--kernels";
  if (argc != 3 && !kernels) {
    fmt::print(stderr, "usage: make_trace FILE[.gz] MEGABYTES [--kernels]\n--kernels: kernels alone\n");
    return 2;
  }
  Output out(argv[1], std::string_view(argv[1]).ends_with(".gz"));
  if (!out.is_open()) {
    fmt::print(stderr, "{}: cannot be written\n", argv[1]);
    return 1;
  }
  const std::uint64_t wanted = std::strtoull(argv[2], nullptr, 10) * 1'000'000;
  out.write(
      "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", "
      "\"computeMajor\": 9, \"computeMinor\": 0, \"warpSize\": 32, \"numSms\": 132}],\n  \"cupti_version\": 22,\n  "
      "\"traceEvents\": [\n  {\n    \"ph\": \"M\", \"name\": \"process_name\", \"pid\": 851, \"args\": {\"name\": "
      "\"python3\"}\n  }");
  std::uint64_t random = 1;
  for (std::uint64_t i = 0; out.bytes() < wanted; ++i)
    out.write(kernels ? kernel_event(i, random) : operator_events(i, random));
  out.write("\n  ],\n  \"traceName\": \"bench\"\n}\n");
  return 0;
}
