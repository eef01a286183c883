// The tables of a store, and how older ones become those of today.
#pragma once

#include <string>

#include "history/sql.h"

namespace roofline::history {

inline constexpr std::int64_t kSchemaVersion = 2;

// Makes or migrates the tables where `access` allows it, each step in a transaction of its own. Throws InputError:
// store-newer, store-older (cannot be migrated without writing), store-missing (no tables to read).
void prepare_schema(sql::Connection& connection, const std::string& store, sql::Access access);

}  // namespace roofline::history
