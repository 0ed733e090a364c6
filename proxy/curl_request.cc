// Reads curl's command line, so that a call that is at hand can be explained as it stands.
#include "proxy/curl_request.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/ascii.h"
#include "core/header_rules.h"

namespace semel::proxy {
namespace {

/// What an option's argument is for.
enum class Option : std::uint8_t { Request, Header, Data, DataRaw, DataBinary, Url };

struct OptionName {
  std::string_view text;
  Option option;
};
constexpr OptionName kOptions[] = {{"-X", Option::Request},
                                   {"--request", Option::Request},
                                   {"-H", Option::Header},
                                   {"--header", Option::Header},
                                   {"-d", Option::Data},
                                   {"--data", Option::Data},
                                   {"--data-ascii", Option::Data},
                                   {"--data-raw", Option::DataRaw},
                                   {"--data-binary", Option::DataBinary},
                                   {"--url", Option::Url}};

/// Switches of curl's that do not change the request, alone or several in one word: `-sS`.
constexpr std::string_view kSilentSwitches = "sSivkfN#";
constexpr std::string_view kSilentWords[] = {
    "--silent", "--show-error", "--include", "--verbose", "--insecure", "--fail", "--no-buffer"};

bool changes_nothing(std::string_view word) {
  if (std::find(std::begin(kSilentWords), std::end(kSilentWords), word) != std::end(kSilentWords)) {
    return true;
  }
  return word.size() > 1 && word[0] == '-' &&
         word.find_first_not_of(kSilentSwitches, 1) == std::string_view::npos;
}

/// A wrong command line, said in one sentence. Caught in parse_explain_options.
struct UsageError {
  std::string sentence;
};

std::string read_body_file(const std::string& name) {
  std::ifstream stream(name == "-" ? "/dev/stdin" : name, std::ios::binary);
  std::ostringstream text;
  if (stream.peek() != std::ifstream::traits_type::eof()) text << stream.rdbuf();
  if (!stream.is_open() || stream.bad() || text.fail()) {
    throw UsageError{"the body's file " + name + " cannot be read"};
  }
  return text.str();
}

std::string body_of(Option option, const std::string& argument) {
  if (option == Option::DataRaw || !argument.starts_with("@")) return argument;
  std::string body = read_body_file(argument.substr(1));
  if (option == Option::Data) {  // curl's -d @file leaves line ends and NUL out.
    body.erase(std::remove_if(body.begin(), body.end(),
                              [](char c) { return c == '\r' || c == '\n' || c == '\0'; }),
               body.end());
  }
  return body;
}

/// Builds the request from one option after the other.
class Reader {
 public:
  explicit Reader(std::span<const std::string> args) : args_(args) {}

  ExplainOptions read() {
    while (at_ < args_.size()) read_word(args_[at_++]);
    if (options_.config.empty()) throw UsageError{"CONFIG is missing"};
    if (url_.empty()) throw UsageError{"the request's URL is missing, such as /tools/book"};
    complete();
    return std::move(options_);
  }

 private:
  void read_word(const std::string& word) {
    if (word == "--json") {
      options_.json = true;
    } else if (word.size() > 1 && word[0] == '-') {
      read_option(word);
    } else if (options_.config.empty()) {
      options_.config = word;
    } else {
      set_url(word);
    }
  }

  void read_option(const std::string& word) {
    if (changes_nothing(word)) return;
    for (const OptionName& known : kOptions) {
      if (word == known.text) {
        if (at_ == args_.size()) throw UsageError{word + " needs an argument"};
        take(known.option, args_[at_++]);
        return;
      }
      const bool is_short = known.text.size() == 2;
      if (is_short && word.starts_with(known.text)) {  // As in -XPOST.
        take(known.option, word.substr(2));
        return;
      }
    }
    throw UsageError{"unknown option " + word};
  }

  void take(Option option, const std::string& argument) {
    switch (option) {
      case Option::Request:
        options_.request.method = argument;
        return;
      case Option::Header:
        add_header(argument);
        return;
      case Option::Url:
        set_url(argument);
        return;
      case Option::Data:
      case Option::DataRaw:
      case Option::DataBinary: {
        auto& body = options_.request.body;
        body = (body ? *body + "&" : std::string()) + body_of(option, argument);
        return;
      }
    }
  }

  /// `Name: value`; `Name;` is an empty one; `Name:` takes a header away that curl adds by itself.
  void add_header(const std::string& line) {
    const std::size_t end = line.find_first_of(":;");
    if (end == std::string::npos || !is_token(std::string_view(line).substr(0, end))) {
      throw UsageError{"\"" + line + "\" is no header; write \"Name: value\""};
    }
    const std::string name = line.substr(0, end);
    const std::string_view value = trimmed(std::string_view(line).substr(end + 1));
    if (line[end] == ':' && value.empty()) {
      removed_.push_back(name);
    } else if (same_name(name, "Host")) {
      options_.request.host = value;
    } else {
      options_.request.headers.emplace_back(name, value);
    }
  }

  void set_url(const std::string& url) {
    if (!url_.empty()) throw UsageError{"two URLs: " + url_ + " and " + url};
    if (url.empty()) throw UsageError{"the request's URL is empty"};
    url_ = url;
  }

  void complete() {
    CurlRequest& request = options_.request;
    std::string target = url_.substr(0, url_.find('#'));
    const std::size_t scheme = target.find("://");
    if (!target.starts_with('/') && scheme != std::string::npos) {
      const std::size_t authority = scheme + 3;
      const std::size_t path = std::min(target.find_first_of("/?", authority), target.size());
      if (request.host.empty()) request.host = target.substr(authority, path - authority);
      target = target.substr(path);
    }
    if (target.empty() || target[0] == '?') target.insert(0, "/");
    request.target = target;
    if (request.host.empty()) request.host = "localhost";
    if (request.method.empty()) request.method = request.body ? "POST" : "GET";
    if (request.body) add_content_type();
  }

  void add_content_type() {
    CurlRequest& request = options_.request;
    const auto is_named = [](const std::string& name) { return same_name(name, "Content-Type"); };
    const bool is_given = std::any_of(request.headers.begin(), request.headers.end(),
                                      [&](const auto& header) { return is_named(header.first); }) ||
                          std::any_of(removed_.begin(), removed_.end(), is_named);
    if (is_given) return;
    const std::size_t first = request.body->find_first_not_of(" \t\r\n");
    request.is_json_guessed = first != std::string::npos &&
                              ((*request.body)[first] == '{' || (*request.body)[first] == '[');
    request.headers.emplace_back("Content-Type", request.is_json_guessed
                                                     ? "application/json"
                                                     : "application/x-www-form-urlencoded");
  }

  std::span<const std::string> args_;
  std::size_t at_ = 0;
  std::string url_;
  std::vector<std::string> removed_;
  ExplainOptions options_;
};

}  // namespace

std::string CurlRequest::head() const {
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  if (body) text += "Content-Length: " + std::to_string(body->size()) + "\r\n";
  return text + "\r\n";
}

std::variant<ExplainOptions, std::string> parse_explain_options(std::span<const std::string> args) {
  try {
    return Reader(args).read();
  } catch (const UsageError& error) {
    return error.sentence;
  }
}

}  // namespace semel::proxy
