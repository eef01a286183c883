// A list that grows without copies, for events by the million. Private to this room.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

namespace roofline {

template <typename T>
class Chunks {
 public:
  void push_back(T item) {
    if (chunks_.empty() || chunks_.back().size() == kChunk) chunks_.emplace_back().reserve(kChunk);
    chunks_.back().push_back(std::move(item));
    ++size_;
  }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // All of them in one piece; the list is empty then. Each chunk is freed as soon as it is taken over, so that the
  // items never stand in memory twice.
  std::vector<T> take() {
    std::vector<T> out;
    out.reserve(size_);
    for (; !chunks_.empty(); chunks_.pop_front())
      std::move(chunks_.front().begin(), chunks_.front().end(), std::back_inserter(out));
    size_ = 0;
    return out;
  }

 private:
  static constexpr std::size_t kChunk = 1U << 14U;
  std::list<std::vector<T>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace roofline
