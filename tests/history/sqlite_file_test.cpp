// Files that are no store, may not be written, or do not fit on the disk; and a server that is not there.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "roofline/error.h"
#include "stores.h"

namespace roofline::testing {
namespace {

using history::Store;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class HistoryFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("roofline-history-file-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "history.db").string();
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  // A store of some pages, closed.
  void make_store() const {
    auto store = Store::open(path_, Store::Access::write);
    for (int i = 0; i < 20; ++i) store.record(new_record(to_json(decode_step())));
  }
  std::string open_kind(Store::Access access) const {
    return kind_of_error([&] { Store::open(path_, access).list(); });
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(HistoryFile, IsMadeWithItsFolders) {
  path_ = (folder_ / "a" / "b" / "history.db").string();
  Store::open("sqlite:" + path_, Store::Access::write).record(new_record(small_report()));
  EXPECT_THAT(Store::open(path_, Store::Access::read).list(), SizeIs(1));
}

TEST_F(HistoryFile, OfAnotherProgramIsLeftAlone) {
  history::sql::open_sqlite(path_, history::sql::Access::write)->run("CREATE TABLE theirs (a INTEGER)");
  const auto before = bytes();
  EXPECT_EQ(open_kind(Store::Access::write), "store-foreign");
  EXPECT_EQ(open_kind(Store::Access::read), "store-missing");
  EXPECT_EQ(bytes(), before);
}

TEST_F(HistoryFile, ThatIsNoDatabaseIsLeftAlone) {
  for (const std::string& text : {std::string(5000, 'x'), std::string("SQLite format 3"), std::string("{}")}) {
    write(text);
    EXPECT_EQ(open_kind(Store::Access::read), "store-damaged") << text.size();
    EXPECT_EQ(open_kind(Store::Access::write), "store-damaged") << text.size();
    EXPECT_EQ(bytes(), text);
  }
}

TEST_F(HistoryFile, DamagedAnywhereEndsInAClearErrorOrTheTruth) {
  make_store();
  const auto whole = bytes();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 60) {
    auto damaged = whole;
    for (std::size_t i = at; i < std::min(at + 600, damaged.size()); ++i) damaged[i] = static_cast<char>(~damaged[i]);
    write(damaged);
    for (const auto access : {Store::Access::read, Store::Access::write}) {
      const auto kind = kind_of_error([&] {
        auto store = Store::open(path_, access);
        for (const auto& record : store.list()) {
          static_cast<void>(store.step(record));
          EXPECT_EQ(store.report(record.id), to_json(decode_step()));
        }
      });
      refused += kind.empty() ? 0 : 1;
      EXPECT_THAT(
          kind, ::testing::AnyOf("", "store-damaged", "store-newer", "store-missing", "store-foreign", "store-error"));
    }
    fs::remove(path_ + "-wal");
    fs::remove(path_ + "-shm");
  }
  EXPECT_GT(refused, 30U);
  for (std::size_t size = 1; size < whole.size(); size += whole.size() / 20) {
    write(whole.substr(0, size));
    EXPECT_NE(kind_of_error([&] {
                const auto store = Store::open(path_, Store::Access::read);
                for (const auto& record : store.list()) static_cast<void>(store.report(record.id));
              }),
              "")
        << "cut at " << size;
  }
}

// Root may write anywhere: these tests give that up.
class Unprivileged {
 public:
  Unprivileged() : uid_(::geteuid()) {
    if (uid_ == 0 && ::seteuid(65534) != 0) throw std::runtime_error("seteuid");
  }
  ~Unprivileged() {
    if (uid_ == 0 && ::seteuid(0) != 0) std::abort();
  }

 private:
  uid_t uid_;
};

TEST_F(HistoryFile, ThatIsReadOnlyCanBeReadAndNothingElse) {
  make_store();
  fs::permissions(path_, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                               fs::perms::others_exec | fs::perms::group_read | fs::perms::group_exec);
  const auto before = bytes();
  {
    const Unprivileged someone;
    EXPECT_THAT(Store::open(path_, Store::Access::read).list(), SizeIs(20));
    EXPECT_EQ(open_kind(Store::Access::write), "store-read-only");
  }
  EXPECT_EQ(bytes(), before);
}

TEST_F(HistoryFile, InAFolderThatMayNotBeEnteredIsUnreachable) {
  fs::create_directories(folder_ / "closed");
  path_ = (folder_ / "closed" / "history.db").string();
  make_store();
  fs::permissions(folder_ / "closed", fs::perms::none);
  {
    const Unprivileged someone;
    EXPECT_THAT(open_kind(Store::Access::write), ::testing::AnyOf("store-unreachable", "store-read-only"));
    EXPECT_THAT(open_kind(Store::Access::read), ::testing::AnyOf("store-unreachable", "store-missing"));
  }
  fs::permissions(folder_ / "closed", fs::perms::owner_all);
}

TEST_F(HistoryFile, OnAFullDiskKeepsWhatItHad) {
  make_store();
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  auto store = Store::open(path_, Store::Access::write);
  rlimit limit = old;
  limit.rlim_cur = fs::file_size(path_) + 20000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string kind;
  std::size_t stored = 20;
  for (int i = 0; i < 200 && kind.empty(); ++i) {
    kind = kind_of_error([&] { store.record(new_record(to_json(decode_step()))); });
    stored += kind.empty() ? 1 : 0;
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_THAT(kind, ::testing::AnyOf("store-full", "store-io"));
  EXPECT_EQ(store.list().size(), stored);
  store.record(new_record(small_report()));  // and goes on as soon as there is room
  EXPECT_EQ(Store::open(path_, Store::Access::read).list().size(), stored + 1);
}

TEST_F(HistoryFile, ThatIsAFolderIsRefused) {
  path_ = folder_.string();
  EXPECT_EQ(open_kind(Store::Access::write), "store-unreachable");
  EXPECT_EQ(open_kind(Store::Access::read), "store-unreachable");
}

TEST(HistoryServer, ThatCannotBeReachedIsNamedWithoutItsPassword) {
  const auto refused = [](const std::string& url, const char* part) {
    try {
      Store::open(url, Store::Access::write);
      ADD_FAILURE() << url;
    } catch (const InputError& error) {
      EXPECT_EQ(error.problem().kind, "store-unreachable");
      EXPECT_THAT(error.what(), HasSubstr(part));
      EXPECT_THAT(error.what(), Not(HasSubstr("s3cret")));
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("libpq"));  // a build without
    }
  };
  refused("postgresql://me:s3cret@127.0.0.1:1/x", "me:***@127.0.0.1:1");
  refused("postgresql:///x?host=/nonexistent&password=s3cret", "password=***");
  refused("postgresql://me:s3cret@127.0.0.1:port/x", "port");
  // What libpq cannot read it quotes, password and all.
  refused("postgresql://me:s3cret@[bad", "me:***@[bad: this URL cannot be read");
  refused("postgresql://me:s3cret%zz@127.0.0.1/x", "cannot be read");
  refused("postgresql://me:1/s3cret@127.0.0.1/x", "me:***@127.0.0.1/x: this URL cannot be read");
  refused("postgresql://me:s3cret/1@127.0.0.1/x", "cannot be read");
  refused("postgresql://me:s3cret?1@127.0.0.1/x", "me:***@127.0.0.1/x");
  refused("postgresql://me:1?s3cret@127.0.0.1/x", "me:***@127.0.0.1/x");
  refused("postgresql:///x?password=s3cret=1", "cannot be read");
}

class HistoryServerTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Server, HistoryServerTest, ::testing::Values("postgresql"));

TEST_P(HistoryServerTest, ReadOnlyServerIsReadAndRefusesRecords) {
  const auto where = place();
  Store::open(where, Store::Access::write).record(new_record(small_report()));
  const auto read_only = where + "%20-cdefault_transaction_read_only%3Don";
  EXPECT_THAT(Store::open(read_only, Store::Access::read).list(), SizeIs(1));
  EXPECT_EQ(kind_of_error([&] { Store::open(read_only, Store::Access::write).record(new_record(small_report())); }),
            "store-read-only");
  EXPECT_THAT(Store::open(where, Store::Access::read).list(), SizeIs(1));
}

TEST_P(HistoryServerTest, AConnectionThatBreaksStoresNothing) {
  const auto where = place();
  // A name of its own: other tests use the same server at the same time.
  auto store = Store::open(where + "&application_name=breaks", Store::Access::write);
  store.record(new_record(small_report()));
  ASSERT_EQ(raw(where)
                ->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'breaks'")
                .size(),
            1U);
  EXPECT_EQ(kind_of_error([&] { store.record(new_record(small_report())); }), "store-unreachable");
  EXPECT_THAT(Store::open(where, Store::Access::read).list(), SizeIs(1));
}

}  // namespace
}  // namespace roofline::testing
