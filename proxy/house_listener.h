#pragma once

#include <functional>
#include <string>

#include "config/config.h"
#include "io/task.h"

namespace semel::proxy {

/// What the metrics listener answers (spec 4, `metrics`).
struct HousePages {
  std::function<Task<std::string>()> metrics;    ///< Exposition text.
  std::function<Task<std::string>()> not_ready;  ///< Empty: ready. Else why not.
};

/// Serves `/metrics`, `/healthz` and `/readyz` until the io_context stops. Not on the data path, so
/// a library reads the requests (Beast).
/// @throws std::runtime_error when the address cannot be listened on.
class HouseListener {
 public:
  HouseListener(asio::io_context& io, const config::Address& address, HousePages pages);
  ~HouseListener();
  HouseListener(const HouseListener&) = delete;
  HouseListener& operator=(const HouseListener&) = delete;
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace semel::proxy
