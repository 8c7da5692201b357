// docs/schedule.md, put together from the primitives' records and the rows of this folder.
#pragma once

#include "row.hpp"

namespace docs {

/// All rows, in the order of the page.
std::vector<Row> all_rows();
/// The row of a primitive; null if it has none.
const Row* find_row(const std::vector<Row>& rows, std::string_view name);

/// What is wrong with a row: an empty field, an id without a heading in docs/errors.d, an example
/// that does not end with the primitive or does not do what the row says. Empty: nothing.
std::string problem(const Row& row);

std::string page();

}  // namespace docs
