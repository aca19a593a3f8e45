# perdure_embed_sql(store_sqlite src/store/sqlite/migrations): the numbered .sql files of a folder
# become the function of that name (db/embedded.h of the store that the folder belongs to).
function(perdure_embed_sql module dir)
  get_filename_component(function ${dir} NAME)
  get_filename_component(store ${dir} DIRECTORY)
  get_filename_component(store ${store} NAME)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/[0-9]*_*.sql)
  list(SORT files)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "^0*([0-9]+)_.*" "\\1" number ${name})
    file(READ ${file} text)
    string(APPEND entries "        {${number}, \"${name}\", R\"sql(${text})sql\"},\n")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/generated/${module}_${function}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// Made from @dir@ by cmake/embed_sql.cmake.
#include \"store/${store}/db/embedded.h\"

namespace perdure::store::${store} {

const std::vector<Migration>& @function@() {
    static const std::vector<Migration> all = {
@entries@    };
    return all;
}

}  // namespace perdure::store::${store}
")
  target_sources(perdure_${module} PRIVATE ${source})
endfunction()
