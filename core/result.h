#pragma once

#include <boost/system/result.hpp>
#include <boost/throw_exception.hpp>
#include <stdexcept>
#include <string>

#include "core/fault.h"

namespace semel {

/// A value, or news from the environment. `std::expected` is not in C++20.
template <class T>
using Result = boost::system::result<T, Fault>;

/// Found by boost::system::result::value(): asking a failed result for its value is a broken
/// program.
[[noreturn]] inline void throw_exception_from_error(Fault fault, const boost::source_location&) {
  throw std::logic_error("value() of a failed result: " + std::string(name(fault)));
}

}  // namespace semel
