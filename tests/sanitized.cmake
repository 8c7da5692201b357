# The library as clang's sanitizers see it, built once for each of them: asan (address, undefined) and
# tsan (thread). asan/<program> and tsan/<program> are test programs of the main build, linked with
# such a library in place of lathe::compiled: their own code is not sanitized, which takes longer to
# compile than the library; tests/run.sh --all does that (LATHE_SANITIZE). The libFuzzer programs
# link asan's, which has the coverage that they steer by.
set(sanitized_flags -std=c++20 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all
  -Wall -Wextra -Wpedantic -Wno-missing-field-initializers $<$<BOOL:${LATHE_WERROR}>:-Werror>
  -DLATHE_SEPARATE_COMPILATION -I${PROJECT_SOURCE_DIR}/include)
set(asan_flags -O1 -fsanitize=fuzzer-no-link,address,undefined)
# Few programs run with it: -O1 takes three times as long to compile as they lose.
set(tsan_flags -O0 -fsanitize=thread)
find_program(LATHE_CLANG clang++)

function(add_sanitized_object sanitizer source object)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${LATHE_CLANG} ${sanitized_flags} ${${sanitizer}_flags}
      -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d VERBATIM COMMAND_EXPAND_LISTS
    COMMENT "Building ${sanitizer} object of ${source}")
endfunction()

foreach(sanitizer asan tsan)
  set(${sanitizer}_objects "")
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${sanitizer})
  foreach(unit ${lathe_units})
    get_filename_component(layer ${unit} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${sanitizer}/${layer}.o)
    add_sanitized_object(${sanitizer} ${unit} ${object})
    list(APPEND ${sanitizer}_objects ${object})
  endforeach()
  add_custom_target(${sanitizer})
endforeach()

# The sanitized objects come first: of an inline function that both have, theirs is linked.
function(add_sanitized_program sanitizer name)
  set(program ${PROJECT_BINARY_DIR}/tests/${sanitizer}/${name})
  set(main $<FILTER:$<TARGET_OBJECTS:test_main>,EXCLUDE,[.]gch$>)
  set(objects ${${sanitizer}_objects} $<TARGET_OBJECTS:${name}> ${main})
  add_custom_command(OUTPUT ${program}
    COMMAND ${LATHE_CLANG} ${${sanitizer}_flags} ${objects} -o ${program} -pthread -ldl
    DEPENDS ${objects} VERBATIM COMMAND_EXPAND_LISTS COMMENT "Linking ${sanitizer} program ${name}")
  add_custom_target(${sanitizer}_${name} DEPENDS ${program})
  add_dependencies(${sanitizer} ${sanitizer}_${name})
endfunction()

foreach(name ${doctest_programs})
  if(NOT name IN_LIST whole_programs)
    add_sanitized_program(asan ${name})
  endif()
  if(name IN_LIST concurrent_programs)
    add_sanitized_program(tsan ${name})
  endif()
endforeach()

foreach(name parse_fuzz trace_fuzz)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/asan/${name}.o)
  set(program ${PROJECT_BINARY_DIR}/tests/asan/${name})
  add_sanitized_object(asan ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name}.cpp ${object})
  add_custom_command(OUTPUT ${program}
    COMMAND ${LATHE_CLANG} -fsanitize=fuzzer,address,undefined ${asan_objects} ${object} -o ${program} -pthread -ldl
    DEPENDS ${asan_objects} ${object} VERBATIM COMMENT "Linking ${name}")
  add_custom_target(${name} DEPENDS ${program})
  add_dependencies(asan ${name})
endforeach()
