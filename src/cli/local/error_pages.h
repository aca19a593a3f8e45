// The pages of docs/errors, as the build has put them into the program (cmake/embed_pages.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace perdure::cli {

struct ErrorPage {
    std::string_view code;
    std::string_view text;  // Markdown
};
const std::vector<ErrorPage>& error_pages();

}  // namespace perdure::cli
