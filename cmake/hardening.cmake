# What makes a bug in memory harder to use, in every program that is built. tests/e2e/hardening.py
# reads the programs and fails when one of these is missing. The sanitizers have checks of their own
# and do not go with some of these.
if(SANITIZED)
  return()
endif()

# Stack: a word before each return address, and no jump over the guard page below it.
add_compile_options(-fstack-protector-strong -fstack-clash-protection)
# The C library's calls know how large their buffers are. Some compilers define it by themselves.
add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
# Where a call or return may go, for processors and C libraries that look (x86 and ARM).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
  add_compile_options(-fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  add_compile_options(-mbranch-protection=standard)
endif()

# Programs lie at an address of chance (module.cmake has -pie and -static-pie), and what the loader
# has filled in is read-only.
add_compile_options($<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>>:-fPIE>)
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
