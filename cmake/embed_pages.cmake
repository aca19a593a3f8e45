# perdure_embed_pages(cli docs/errors): the pages of a folder become error_pages()
# (cli/local/error_pages.h), so that the program explains its errors by itself.
function(perdure_embed_pages module dir)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.md)
  list(SORT files)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND entries "        {\"${name}\", R\"page(${text})page\"},\n")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/generated/${module}_error_pages.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// Made from @dir@ by cmake/embed_pages.cmake.
#include \"cli/local/error_pages.h\"

namespace perdure::cli {

const std::vector<ErrorPage>& error_pages() {
    static const std::vector<ErrorPage> all = {
@entries@    };
    return all;
}

}  // namespace perdure::cli
")
  target_sources(perdure_${module} PRIVATE ${source})
endfunction()
