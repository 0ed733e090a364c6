#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace semel {

namespace asio = boost::asio;

/// The one executor of the project: concrete, so that nothing is type-erased on the data path.
using Executor = asio::io_context::executor_type;

/// A coroutine that resumes on the worker that started it.
template <class T = void>
using Task = asio::awaitable<T, Executor>;

/// Errors as values: `auto [error, n] = co_await op(kNoThrow);`
inline constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable_t<Executor>{});
inline constexpr asio::use_awaitable_t<Executor> kAwait{};

}  // namespace semel
