// Files that people hand over by mistake.
#pragma once

#include <optional>
#include <string_view>

#include "roofline/error.h"

namespace roofline {

// What a file is that no reader takes, with what to do about it; nullopt when it is nothing we know. `path` stands in
// the message only: nothing is decided by its extension, but where the content says little the message mentions it.

// By bytes at fixed places: Git LFS pointers, web pages, databases, programs, archives. Safe to ask before any reader
// of text is asked.
std::optional<InputProblem> recognise_foreign(std::string_view head, std::string_view path);

// Tables of other tools, asked after the readers of profiler exports but before that of tables; and whatever is left.
std::optional<InputProblem> recognise_foreign_text(std::string_view head, std::string_view path);
InputProblem unknown_format(std::string_view head, std::string_view path);

}  // namespace roofline
