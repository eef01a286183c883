// Names of things on a timeline as people say them. Private to this room.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/machine.h"
#include "roofline/step.h"

namespace roofline {

std::string device_title(const Timeline& timeline, std::uint32_t device);  // "GPU 0, NVIDIA A100 80GB PCIe"
std::string kernel_label(const Timeline& timeline, std::uint32_t name, std::uint32_t full_name);
// The same for a list, where equal labels of different kernels get the part of the name that tells them apart.
std::vector<std::string> kernel_labels(const Timeline& timeline, std::span<const KernelShare> kernels);
std::string work_name(const Timeline& timeline,
                      const GpuActivity& activity);  // a kernel's label, "host to device copy"
std::string_view copy_words(GpuWork work, CopyKind kind);
// What ncu's -k takes to find this kernel: its function name.
std::string ncu_filter(const Timeline& timeline, const KernelShare& kernel);
// The catalogue's machine of this device, nullptr when unknown.
const Machine* machine_of(const std::vector<DeviceInfo>& devices, std::uint32_t device);
// The link that such a copy crosses, by the datasheet of the device's machine; nullopt for none or unknown.
std::optional<LinkBandwidth> link_of(const std::vector<DeviceInfo>& devices, std::uint32_t device, CopyKind kind);

}  // namespace roofline
