// Stacks and the switch between them. ucontext makes the first step onto a stack; after it
// _setjmp and _longjmp switch, because swapcontext makes two system calls each time.
#include "tests/sim/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <boost/asio/detail/thread_context.hpp>
#include <boost/asio/detail/thread_info_base.hpp>
#include <boost/asio/detail/tss_ptr.hpp>
#include <utility>
#include <vector>

#include "core/check.h"

namespace semel::sim {
namespace {

constexpr std::size_t kStackBytes = 512 * 1024;
constexpr std::size_t kGuardBytes = 4096;

Fiber* running = nullptr;

/// Asio's note of which loop this thread is in. Every pointer of this type is the same variable.
using AsioStack = boost::asio::detail::call_stack<boost::asio::detail::thread_context,
                                                  boost::asio::detail::thread_info_base>;
using AsioTop = boost::asio::detail::tss_ptr<AsioStack::context>;
#if !defined(BOOST_ASIO_HAS_THREAD_KEYWORD_EXTENSION)
#error "Asio keeps its call stack elsewhere here: Fiber must save it with each switch"
#endif

/// The first two members of the C++ ABI's __cxa_eh_globals.
struct ExceptionState {
  void* caught;
  unsigned int uncaught;
};

std::vector<void*>& spare_stacks() {
  static std::vector<void*> spare;
  return spare;
}

}  // namespace

struct Fiber::Stack {
  Stack() {
    if (!spare_stacks().empty()) {
      memory = spare_stacks().back();
      spare_stacks().pop_back();
      return;
    }
    memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    SEMEL_CHECK(memory != MAP_FAILED);
    SEMEL_CHECK(mprotect(memory, kGuardBytes, PROT_NONE) == 0);
  }
  ~Stack() { spare_stacks().push_back(memory); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void* memory = nullptr;
};

void Fiber::ThreadState::exchange() {
  AsioTop top;
  AsioStack::context* const asio_was = top;
  top = static_cast<AsioStack::context*>(std::exchange(asio_top, asio_was));
  auto* language = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  std::swap(caught, language->caught);
  std::swap(uncaught, language->uncaught);
}

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), stack_(std::make_unique<Stack>()) {}

Fiber::~Fiber() { SEMEL_CHECK(running != this); }

Fiber* Fiber::current() { return running; }

void Fiber::enter() {
  Fiber* self = running;
  self->body_();
  self->ended_ = true;
  self->yield();
}

void Fiber::resume() {
  SEMEL_CHECK(running == nullptr && !ended_);
  state_.exchange();
  running = this;
  if (_setjmp(outside_) == 0) {
    if (started_) _longjmp(inside_, 1);
    started_ = true;
    SEMEL_CHECK(getcontext(&start_) == 0);
    start_.uc_stack.ss_sp = static_cast<char*>(stack_->memory) + kGuardBytes;
    start_.uc_stack.ss_size = kStackBytes - kGuardBytes;
    start_.uc_link = nullptr;
    makecontext(&start_, &Fiber::enter, 0);
    setcontext(&start_);
  }
  running = nullptr;
  state_.exchange();
}

void Fiber::yield() {
  SEMEL_CHECK(running == this);
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
}

}  // namespace semel::sim
