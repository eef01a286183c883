#include "roofline/names.h"

#include <gtest/gtest.h>

namespace roofline {
namespace {

struct NameCase {
  const char* full;
  const char* expected;
};

class ShortName : public ::testing::TestWithParam<NameCase> {};

TEST_P(ShortName, IsTheFunctionName) { EXPECT_EQ(short_kernel_name(GetParam().full), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Names, ShortName,
    ::testing::Values(
        NameCase{"saxpy", "saxpy"}, NameCase{"saxpy(float *, int)", "saxpy"},
        NameCase{"void saxpy<float>(float *, int)", "saxpy"},
        NameCase{"void at::native::vectorized_elementwise_kernel<4, at::native::Add<float>, at::detail::Array<char *, "
                 "3>>(int, T2, T3)",
                 "vectorized_elementwise_kernel"},
        NameCase{"void Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128>(Params)",
                 "Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128>"},
        NameCase{"enable_if<!T7, void>::type kernel<int, float>(T13)", "kernel<int, float>"},
        NameCase{"(anonymous namespace)::softmax<float>(float *)", "softmax"},
        NameCase{"void <unnamed>::elementwise_kernel_with_index<int>(int)", "elementwise_kernel_with_index"},
        NameCase{"copy_blocked[v1,abc](Array<long long, 1, C>, long long)", "copy_blocked"},

        NameCase{"void unrolled_kernel<copy(TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() lambda() "
                 "(instance "
                 "7)]::operator ()() lambda(float) (instance 1)], array<char *, 2>, 4>(int, T1, T2)",
                 "unrolled_kernel"},
        NameCase{"_Z3fooPf", "_Z3fooPf"}, NameCase{"", ""}, NameCase{"<<<>>>", "<<<>>>"}, NameCase{"(((", "((("}));

}  // namespace
}  // namespace roofline
