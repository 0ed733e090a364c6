// `semel records`: the operator's words as requests to the admin listener, and its answers as
// tables. Knows nothing of stores: the process that serves has the file.
#include "proxy/cli_records.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "config/load.h"
#include "core/json_object.h"
#include "core/json_reader.h"
#include "core/json_view.h"
#include "proxy/admin_client.h"
#include "proxy/audit_log.h"
#include "proxy/records_options.h"

namespace semel::proxy {
namespace {

using Verb = RecordsOptions::Verb;

constexpr int kDone = 0;
constexpr int kRefused = 1;
constexpr int kWrong = 2;

/// A text of a client on an operator's terminal: no control characters, in either of their forms.
std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (is_c1) ++i;
    shown += byte < 0x20 || byte == 0x7F || is_c1 ? '?' : text[i];
  }
  return shown;
}

/// A member as a cell of a table: a string's characters, a number's digits, `-` for none.
std::string cell(const JsonView& object, std::string_view member) {
  const auto value = object.member(member);
  if (!value || value->kind() == ValueKind::Null) return "-";
  if (value->kind() == ValueKind::True) return "yes";
  if (value->kind() == ValueKind::False) return "no";
  return printable(value->text());
}

struct Column {
  std::string_view title;
  std::string_view member;
};
constexpr std::array kColumns{
    Column{"REFERENCE", "reference"}, Column{"STATE", "state"},     Column{"ROUTE", "route"},
    Column{"TENANT", "tenant"},       Column{"CHANGED", "changed"}, Column{"REASON", "reason"},
};

using Row = std::array<std::string, kColumns.size()>;

/// Rows in columns that are as wide as anything printed so far: a page is printed when it is there.
class Table {
 public:
  explicit Table(std::ostream& out) : out_(out) {}
  void print(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        widths_[i] = std::max(widths_[i], static_cast<int>(row[i].size()));
      }
    }
    for (const Row& row : rows) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        out_ << std::left << std::setw(widths_[i] + 2) << row[i];
      }
      out_ << row.back() << '\n';
    }
  }

 private:
  std::ostream& out_;
  std::array<int, kColumns.size()> widths_{};
};

void print_members(std::ostream& out, const JsonView& object, const std::string& indent) {
  for (const auto& [name, value] : object.members()) {
    if (value.kind() == ValueKind::Object) {
      out << indent << name << '\n';
      print_members(out, value, indent + "  ");
      continue;
    }
    out << indent << std::left << std::setw(20) << name << ' ' << cell(object, name) << '\n';
  }
}

std::string with_author(std::string target, const RecordsOptions& options) {
  char separator = '?';
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (!value) return;
    target += separator + std::string(name) + "=" + percent_encoded(*value);
    separator = '&';
  };
  add("operator", options.author);
  add("note", options.note);
  return target;
}

/// A response, as the listener takes it, from a file of the operator's.
std::string read_response(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file);
  std::string json{std::istreambuf_iterator<char>(stream), {}};
  ValueTape tape;
  if (const auto fault = read_json(json, tape)) {
    throw std::runtime_error(file + ": is no JSON, it has " + std::string(fault->what) +
                             " at byte " + std::to_string(fault->offset));
  }
  return json;
}

std::string order_of(const RecordsOptions& options) {
  std::string body;
  JsonObject order(body);
  order.text("decision", options.decision);
  if (options.note) order.text("note", *options.note);
  if (options.author) order.text("operator", *options.author);
  if (options.response) {
    order.begin("response");
    body += read_response(*options.response);
  }
  order.end();
  return body;
}

/// One run of the command, once its words are known.
class Records {
 public:
  Records(const RecordsOptions& options, const AdminClient& client, std::ostream& out,
          std::ostream& err)
      : options_(options), client_(client), out_(out), err_(err) {}

  int run() {
    const std::string records = "/v1/records/" + percent_encoded(options_.subject);
    switch (options_.verb) {
      case Verb::List:
        return list();
      case Verb::Show:
        return ask("GET", records);
      case Verb::Resolve:
        return ask("POST", records + "/resolve", order_of(options_));
      case Verb::Forget:
        return ask(
            "DELETE",
            with_author("/v1/tenants/" + percent_encoded(options_.subject) + "/records", options_));
    }
    return kWrong;
  }

 private:
  int ask(std::string_view method, const std::string& target, std::string json = {}) {
    const AdminAnswer answer = client_.ask(method, target, std::move(json));
    if (!answer.is_success()) return refused(answer);
    if (options_.json) {
      out_ << answer.body;
      return kDone;
    }
    const ValueTape tape = read(answer.body);
    print_members(out_, JsonView(tape), "");
    return kDone;
  }

  /// Page after page, to the end. As JSON each is a line.
  int list() {
    std::string target = "/v1/records?limit=1000";
    if (options_.state) target += "&state=" + percent_encoded(*options_.state);
    if (options_.tenant) target += "&tenant=" + percent_encoded(*options_.tenant);
    Table table(out_);
    std::vector<Row> rows(1);
    for (std::size_t i = 0; i < kColumns.size(); ++i) rows[0][i] = kColumns[i].title;
    for (std::string after;;) {
      const AdminAnswer answer = client_.ask("GET", target + after);
      if (!answer.is_success()) return refused(answer);
      const ValueTape tape = read(answer.body);
      const JsonView page(tape);
      add_rows(page, rows);
      if (options_.json) {
        out_ << answer.body;
      } else {
        table.print(rows);
      }
      rows.clear();
      const auto next = page.member("next");
      if (!next || next->kind() != ValueKind::Text) break;
      after = "&after=" + percent_encoded(next->text());
    }
    return kDone;
  }

  static void add_rows(const JsonView& page, std::vector<Row>& rows) {
    const auto records = page.member("records");
    if (!records) return;
    for (const JsonView& record : records->items()) {
      Row& row = rows.emplace_back();
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = cell(record, kColumns[i].member);
    }
  }

  int refused(const AdminAnswer& answer) {
    const ValueTape tape = read(answer.body);
    err_ << "semel records: " << answer.status << ": " << cell(JsonView(tape), "detail");
    if (!answer.retry_after.empty()) err_ << " (Retry-After: " << answer.retry_after << " s)";
    err_ << '\n';
    return kRefused;
  }

  /// @owns The tape points into `body`.
  static ValueTape read(const std::string& body) {
    ValueTape tape;
    if (read_json(body, tape)) throw std::runtime_error("whoever answers there is no semel serve");
    return tape;
  }

  const RecordsOptions& options_;
  const AdminClient& client_;
  std::ostream& out_;
  std::ostream& err_;
};

/// Who is at the keyboard, where the command does not say it.
void fill_in_author(RecordsOptions& options) {
  if (options.author) return;
  const std::string user = user_at_the_keyboard();
  if (!user.empty()) options.author = user;
}

}  // namespace

int run_records(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
  auto parsed = parse_records_options(args);
  if (const auto* sentence = std::get_if<std::string>(&parsed)) {
    err << "semel records: " << *sentence << '\n' << kRecordsUsage;
    return kWrong;
  }
  auto& options = std::get<RecordsOptions>(parsed);
  fill_in_author(options);
  try {
    const config::Config config = config::load_file(options.config, config::process_environment());
    const AdminClient client(config);
    return Records(options, client, out, err).run();
  } catch (const std::exception& failure) {
    err << "semel records: " << failure.what() << '\n';
    return kWrong;
  }
}

}  // namespace semel::proxy
