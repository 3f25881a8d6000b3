# Index functions of memory layouts, generated while a CMake project is built.
#
#   lego_emit_generate(
#     TARGET target                   what includes or compiles the files
#     LAYOUTS layouts.py:name...      relative to the current source folder
#     LANGUAGE cpp                    or several
#     [SIZES BM=32...] [ASSUME "M % BM == 0"...] [DEPENDS sizes.json...]
#     [INDEX_TYPE auto] [BASE 0] [COST latency]
#     [NAMESPACE acme::tiles] [PREFIX acme_] [NAMES camelCase]
#     [FILE tiles])                   one file of all layouts, of that name
#
# The files go to a folder of the target's own in the build tree, which the target includes from;
# Fortran's are compiled as its sources. They are made again when a layout file changes, or a module
# that it imports, and what depends on them is compiled again when a text has changed.

cmake_minimum_required(VERSION 3.20)

find_program(LEGO_EMIT_EXECUTABLE lego-emit REQUIRED)

# Append a list of texts to the caller's toml.
function(_lego_emit_add key)
  set(items "")
  foreach(item IN LISTS ARGN)
    string(REGEX REPLACE [[(["\\])]] [[\\\1]] item "${item}")
    string(APPEND items "  \"${item}\",\n")
  endforeach()
  set(toml "${toml}${key} = [\n${items}]\n" PARENT_SCOPE)
endfunction()

function(lego_emit_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;INDEX_TYPE;BASE;COST;NAMESPACE;PREFIX;NAMES;FILE"
                        "LAYOUTS;LANGUAGE;SIZES;ASSUME;DEPENDS")
  foreach(needed TARGET LAYOUTS LANGUAGE)
    if(NOT arg_${needed})
      message(FATAL_ERROR "lego_emit_generate needs ${needed}")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lego_emit_generate has no argument ${arg_UNPARSED_ARGUMENTS}")
  endif()

  foreach(list LAYOUTS DEPENDS)
    set(paths "")
    foreach(path IN LISTS arg_${list})
      cmake_path(ABSOLUTE_PATH path)
      list(APPEND paths "${path}")
    endforeach()
    set(arg_${list} "${paths}")
  endforeach()
  list(JOIN arg_SIZES ", " sizes)
  set(toml "output = \"{name}.{ext}\"\nsizes = { ${sizes} }\n")
  _lego_emit_add(targets ${arg_LANGUAGE})
  _lego_emit_add(assume ${arg_ASSUME})
  _lego_emit_add(depends ${arg_DEPENDS})
  foreach(option INDEX_TYPE COST NAMESPACE PREFIX NAMES)
    if(DEFINED arg_${option})
      string(TOLOWER "${option}" key)
      string(REPLACE "_" "-" key "${key}")
      string(APPEND toml "${key} = \"${arg_${option}}\"\n")
    endif()
  endforeach()
  if(DEFINED arg_BASE)
    string(APPEND toml "base = ${arg_BASE}\n")
  endif()
  if(DEFINED arg_FILE)
    string(APPEND toml "[[files]]\nname = \"${arg_FILE}\"\n")
  endif()
  _lego_emit_add(layouts ${arg_LAYOUTS})

  list(JOIN arg_LANGUAGE "-" languages)
  set(name "${arg_TARGET}-${languages}")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/lego-emit/${name}")
  set(stamp "${folder}/stamp")
  file(CONFIGURE OUTPUT "${folder}/lego-emit.toml" CONTENT "${toml}" @ONLY)
  set(command "${LEGO_EMIT_EXECUTABLE}" build --config "${folder}/lego-emit.toml")
  execute_process(COMMAND ${command} --list-outputs OUTPUT_VARIABLE outputs
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" outputs "${outputs}")

  # An unchanged text keeps its time stamp, so that a stamp says when it was last looked at.
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${outputs}
    COMMAND ${command} --depfile "${stamp}.d" --depfile-target "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${folder}/lego-emit.toml"
    DEPFILE "${stamp}.d"
    COMMENT "Generating index functions for ${arg_TARGET}"
    VERBATIM)
  add_custom_target("${name}-lego-emit" DEPENDS "${stamp}")
  add_dependencies("${arg_TARGET}" "${name}-lego-emit")
  target_include_directories("${arg_TARGET}" PRIVATE "${folder}")
  list(FILTER outputs INCLUDE REGEX "\\.f90$")
  target_sources("${arg_TARGET}" PRIVATE ${outputs})
endfunction()
