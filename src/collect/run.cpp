// Starting the profiler, following it, ending it.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "roofline/collect.h"
#include "roofline/error.h"

namespace roofline::collect {
namespace {

constexpr int kExecFailed = 127;
constexpr int kPatienceSeconds = 10;  // between a signal that was handed on and SIGKILL

// The only state that a signal handler may touch.
volatile std::sig_atomic_t g_child = 0;
volatile std::sig_atomic_t g_signal = 0;

void hand_on(int signal) {
  g_signal = signal;
  if (g_child > 0) kill(-static_cast<pid_t>(g_child), signal);
}

void end_hard(int) {
  if (g_child > 0) kill(-static_cast<pid_t>(g_child), SIGKILL);
}

// While it lives, signals that end us go to the child's process group instead.
class Forwarding {
 public:
  Forwarding() {
    g_signal = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) install(kSignals[i], hand_on, old_[i]);
    install(SIGALRM, end_hard, old_alarm_);
  }
  ~Forwarding() {
    alarm(0);
    g_child = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
    sigaction(SIGALRM, &old_alarm_, nullptr);
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

 private:
  static void install(int signal, void (*handler)(int), struct sigaction& old) {
    struct sigaction action = {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, &old);  // without SA_RESTART: waits wake up
  }
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> old_{};
  struct sigaction old_alarm_ = {};
};

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

// In the child, between fork and exec: nothing here may allocate.
[[noreturn]] void become(const std::vector<char*>& arguments, int output, int failure, bool own_terminal) {
  setpgid(0, 0);
  if (own_terminal) {
    // A background group may take the terminal only while SIGTTOU is ignored.
    std::signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(STDIN_FILENO, getpid());
    std::signal(SIGTTOU, SIG_DFL);
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM}) std::signal(signal, SIG_DFL);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvp(arguments.front(), arguments.data());
  const int error = errno;
  [[maybe_unused]] const auto written = write(failure, &error, sizeof(error));
  _exit(kExecFailed);
}

class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}
  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      pending_ += bytes.substr(0, end);
      if (end == std::string_view::npos) {
        if (pending_.size() > kLongest) flush();
        return;
      }
      flush();
      bytes.remove_prefix(end + 1);
    }
  }
  void finish() {
    if (!pending_.empty()) flush();
  }

 private:
  void flush() {
    if (pending_.ends_with('\r')) pending_.pop_back();
    on_line_(pending_);
    pending_.clear();
  }
  static constexpr std::size_t kLongest = std::size_t{1} << 20;  // a program that prints no line ends
  const std::function<void(std::string_view)>& on_line_;
  std::string pending_;
};

// 0 at the end of the stream, -1 where nothing came in time.
ssize_t read_some(int from, char* buffer, std::size_t size, int patience_ms) {
  pollfd wait = {from, POLLIN, 0};
  const int ready = poll(&wait, 1, patience_ms);
  if (ready <= 0) return -1;
  const auto count = read(from, buffer, size);
  return count < 0 ? -1 : count;
}

int wait_for(pid_t child, Lines& lines, int output, const std::function<void()>& on_pause) {
  constexpr int kGlance = 200;  // milliseconds
  std::array<char, 1U << 16> buffer{};
  int status = 0;
  bool ended = false;
  bool open = true;
  bool warned = false;
  while (open || !ended) {
    if (g_signal != 0 && !warned) alarm(kPatienceSeconds);
    warned = g_signal != 0;
    ssize_t count = -1;
    if (open) count = read_some(output, buffer.data(), buffer.size(), kGlance);
    if (count > 0) {
      lines.add({buffer.data(), static_cast<std::size_t>(count)});
      if (on_pause) on_pause();
    }
    if (count == 0) open = false;
    if (!ended && waitpid(child, &status, open ? WNOHANG : 0) == child) ended = true;
    // What the child left running may keep the pipe open for ever.
    if (ended && count < 0) break;
  }
  if (g_signal != 0) kill(-child, SIGKILL);  // whoever of the group did not listen
  return status;
}

std::vector<char*> as_argv(std::span<const std::string> arguments) {
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));  // exec does not write
  argv.push_back(nullptr);
  return argv;
}

}  // namespace

Exit run_program(std::span<const std::string> arguments, const std::function<void(std::string_view)>& on_line,
                 const std::function<void()>& on_pause) {
  const auto argv = as_argv(arguments);
  Pipe output, failure;
  const bool terminal = isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) == getpgrp();
  const Forwarding forwarding;
  const pid_t child = fork();
  if (child < 0) throw UsageError(fmt::format("cannot start {}: {}", arguments.front(), std::strerror(errno)));
  if (child == 0) become(argv, output.write, failure.write, terminal);
  setpgid(child, child);  // whichever of us is first
  g_child = child;
  Pipe::close_end(output.write);
  Pipe::close_end(failure.write);
  Lines lines(on_line);
  const int status = wait_for(child, lines, output.read, on_pause);
  lines.finish();
  if (on_pause) on_pause();
  if (terminal) {
    std::signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(STDIN_FILENO, getpgrp());
    std::signal(SIGTTOU, SIG_DFL);
  }
  int error = 0;
  if (read(failure.read, &error, sizeof(error)) == static_cast<ssize_t>(sizeof(error)))
    throw UsageError(fmt::format("cannot start {}: {}", arguments.front(), std::strerror(error)));
  Exit exit;
  exit.interrupted_by = g_signal;
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  return exit;
}

}  // namespace roofline::collect
