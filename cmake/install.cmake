# `cmake --install build --strip`: programs, manual, completion, examples. What is generated comes
# from the built program itself, at the time of the installation: a build costs nothing more.
include(GNUInstallDirs)

# What the program was built from; looked up at each build, written when it has changed.
set(build_facts ${PROJECT_BINARY_DIR}/generated/build_facts.cpp)
add_custom_target(perdure_build_facts BYPRODUCTS ${build_facts}
                  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${build_facts}
                          -P ${PROJECT_SOURCE_DIR}/cmake/build_facts.cmake VERBATIM)
add_library(perdure_build OBJECT ${build_facts})
target_include_directories(perdure_build PRIVATE ${PROJECT_BINARY_DIR}/include/app)
add_dependencies(perdure_build perdure_build_facts)
target_link_libraries(perdure PRIVATE perdure_build)

# The shim is started by the program alone, and found from where that lies.
target_compile_definitions(perdure PRIVATE PERDURE_LIBEXECDIR="${CMAKE_INSTALL_LIBEXECDIR}/perdure")

install(TARGETS perdure RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS $<TARGET_FILE_DIR:perdure>/perdure-shim
        DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/perdure)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ops/prometheus/perdure.rules.yml ops/grafana/perdure.json
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(CODE "
  set(program $<TARGET_FILE:perdure>)
  set(man ${CMAKE_INSTALL_MANDIR}/man1)
  set(data ${CMAKE_INSTALL_DATADIR})
  set(doc ${CMAKE_INSTALL_DOCDIR})
  set(shim ${CMAKE_INSTALL_LIBEXECDIR}/perdure/perdure-shim)")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_generated.cmake)
