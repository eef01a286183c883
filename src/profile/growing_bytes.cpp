#include "profile/growing_bytes.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace roofline {
namespace {

class Owned final : public FileView {
 public:
  Owned(std::shared_ptr<const char> data, std::size_t size) : data_(std::move(data)) { set_bytes({data_.get(), size}); }

 private:
  std::shared_ptr<const char> data_;
};

}  // namespace

void GrowingBytes::Free::operator()(char* p) const { std::free(p); }

std::span<char> GrowingBytes::room(std::size_t least) {
  if (capacity_ - size_ < least) {
    const std::size_t wanted = std::max({size_ + least, capacity_ * 2, std::size_t{1} << 16});
    auto* grown = static_cast<char*>(std::realloc(data_.get(), wanted));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());  // realloc has freed or kept it
    data_.reset(grown);
    capacity_ = wanted;
  }
  return {data_.get() + size_, capacity_ - size_};
}

std::shared_ptr<const FileView> GrowingBytes::view() && {
  const auto size = std::exchange(size_, 0);
  capacity_ = 0;
  return std::make_shared<Owned>(std::shared_ptr<const char>(std::move(data_)), size);
}

}  // namespace roofline
