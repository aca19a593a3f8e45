# Run by `cmake --install`; cmake/install.cmake has set `program`, `man`, `data`, `doc` and `shim`.

# made(<folder> <name> <words>...): the output of the program, as a file.
function(made folder name)
  execute_process(COMMAND ${program} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "`${program} ${ARGN}` failed with ${code}: nothing was installed of it")
  endif()
  set(path ${CMAKE_INSTALL_PREFIX}/${folder}/${name})
  message(STATUS "Generating: $ENV{DESTDIR}${path}")
  file(WRITE $ENV{DESTDIR}${path} "${text}")
endfunction()

execute_process(COMMAND ${program} man-page --list OUTPUT_VARIABLE pages RESULT_VARIABLE code
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "`${program} man-page --list` failed with ${code}")
endif()
string(REPLACE "\n" ";" pages "${pages}")
foreach(page IN LISTS pages)
  made(${man} ${page}.1 man-page ${page})
endforeach()
made(${data}/bash-completion/completions perdure completion bash)
made(${data}/zsh/vendor-completions _perdure completion zsh)
made(${data}/fish/vendor_completions.d perdure.fish completion fish)
made(${doc}/examples perdure.toml config --example)

# CMake strips targets alone.
if(CMAKE_INSTALL_DO_STRIP)
  execute_process(COMMAND strip $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${shim}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
