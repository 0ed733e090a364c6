#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace semel::sim {

/// A piece of the program with a stack of its own, so that it can be stopped anywhere, for a while
/// or for good. All run on one thread, one at a time.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  /// What stands on the stack of one that has not ended is not destroyed: that is how a process
  /// dies. Never from inside.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs it until it yields or ends. Never from inside a fiber.
  void resume();
  /// From inside: goes back to whoever resumed it.
  void yield();
  [[nodiscard]] bool has_ended() const { return ended_; }

  /// Who runs, or null.
  [[nodiscard]] static Fiber* current();

 private:
  struct Stack;
  /// What the thread keeps for whoever runs on it: Asio's and the language's own.
  struct ThreadState {
    void* asio_top = nullptr;
    void* caught = nullptr;
    unsigned int uncaught = 0;
    void exchange();
  };
  static void enter();

  std::function<void()> body_;
  std::unique_ptr<Stack> stack_;
  ucontext_t start_{};
  jmp_buf inside_{};
  jmp_buf outside_{};
  ThreadState state_;
  bool started_ = false;
  bool ended_ = false;
};

}  // namespace semel::sim
