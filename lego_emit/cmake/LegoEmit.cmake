# Index functions of memory layouts, generated while a CMake project is built.
#
#   lego_emit_generate(
#     TARGET target                   what includes or compiles the files
#     LAYOUTS layouts.py:name...      relative to the current source folder
#     LANGUAGE cpp                    or several
#     [SIZES BM=32...] [ASSUME "M % BM == 0"...] [DEPENDS sizes.json...]
#     [FILE tiles]                    one file of all layouts and copies, of that name
#     [COPY layouts.py:a layouts.py:b...]  a copy from a's memory to b's, for each two names
#     [PACK] [UNPACK] [OF 32 32]      copies between each layout's memory and rows
#     [ELEMENT uint8] [ZERO OFF] [THREADS] [VALUE "v ^ 0x88"]  of all copies
#     ...)                            and the other keys of lego-emit.toml in capitals: INDEX_TYPE int32
#
# The files go to a folder of the call's own in the build tree, which the target includes from, and
# what links an INTERFACE library; Fortran's are compiled as its sources. They are made again when a
# layout file changes, or a module that it imports, and what depends on them is compiled again when a
# text has changed. What holds for some layouts only, such as VIEW, is a call of their own.

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

# Append a text or a number to the caller's variable.
function(_lego_emit_value variable prefix item)
  if(NOT item MATCHES "^[0-9]+$")
    string(REGEX REPLACE [[(["\\])]] [[\\\1]] item "${item}")
    set(item "\"${item}\"")
  endif()
  set(${variable} "${${variable}}${prefix}${item}" PARENT_SCOPE)
endfunction()

# Append layouts and copies to the toml of lego_emit_generate(), with what it says of copies.
function(_lego_emit_copies)
  set(moved "")
  if(DEFINED arg_ELEMENT)
    _lego_emit_value(moved ", element = " "${arg_ELEMENT}")
  endif()
  if(DEFINED arg_ZERO)
    if(arg_ZERO)
      string(APPEND moved ", zero = true")
    else()
      string(APPEND moved ", zero = false")
    endif()
  endif()
  if(arg_THREADS)
    string(APPEND moved ", threads = true")
  endif()
  if(DEFINED arg_VALUE)
    if(arg_VALUE MATCHES "\\.py:[A-Za-z_0-9]+$")
      cmake_path(ABSOLUTE_PATH arg_VALUE)
    endif()
    _lego_emit_value(moved ", value = " "${arg_VALUE}")
  endif()
  set(packed "")
  foreach(way PACK UNPACK)
    if(arg_${way})
      string(TOLOWER ${way} key)
      string(APPEND packed ", ${key} = true")
    endif()
  endforeach()
  if(packed)
    string(APPEND packed "${moved}")
    if(arg_OF)
      set(sizes "")
      foreach(item IN LISTS arg_OF)
        _lego_emit_value(sizes " " "${item}")
        string(APPEND sizes ",")
      endforeach()
      string(APPEND packed ", of = [${sizes}]")
    endif()
  endif()
  if(arg_LAYOUTS)
    string(APPEND toml "layouts = [\n")
    foreach(item IN LISTS arg_LAYOUTS)
      _lego_emit_value(toml "  { source = " "${item}")
      string(APPEND toml "${packed} },\n")
    endforeach()
    string(APPEND toml "]\n")
  endif()
  list(LENGTH arg_COPY count)
  if(count)
    math(EXPR odd "${count} % 2")
    if(odd)
      message(FATAL_ERROR "lego_emit_generate: COPY takes two layouts for each copy, from and to")
    endif()
    string(APPEND toml "copies = [\n")
    while(arg_COPY)
      list(POP_FRONT arg_COPY from to)
      _lego_emit_value(toml "  { from = " "${from}")
      _lego_emit_value(toml ", to = " "${to}")
      string(APPEND toml "${moved} },\n")
    endwhile()
    string(APPEND toml "]\n")
  endif()
  set(toml "${toml}" PARENT_SCOPE)
endfunction()

# What there is beside the layouts: the arguments by how lego-emit.toml writes their values.
execute_process(COMMAND "${LEGO_EMIT_EXECUTABLE}" --cmake-options OUTPUT_VARIABLE _lego_emit_lines
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" "|" _lego_emit_lines "${_lego_emit_lines}|")
foreach(kind text bare flag list table)
  string(REGEX MATCH "${kind};([^|]*)" _lego_emit_found "${_lego_emit_lines}")
  set(LEGO_EMIT_${kind} "${CMAKE_MATCH_1}" CACHE INTERNAL "arguments of lego_emit_generate()")
endforeach()

function(lego_emit_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PACK;UNPACK;THREADS;${LEGO_EMIT_flag}"
                        "TARGET;FILE;ELEMENT;ZERO;VALUE;${LEGO_EMIT_text};${LEGO_EMIT_bare}"
                        "LAYOUTS;COPY;OF;LANGUAGE;DEPENDS;${LEGO_EMIT_list};${LEGO_EMIT_table}")
  foreach(needed TARGET LANGUAGE)
    if(NOT arg_${needed})
      message(FATAL_ERROR "lego_emit_generate needs ${needed}")
    endif()
  endforeach()
  if(NOT arg_LAYOUTS AND NOT arg_COPY)
    message(FATAL_ERROR "lego_emit_generate needs LAYOUTS, or COPY")
  endif()
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lego_emit_generate has no argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(DEFINED arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "lego_emit_generate: no value for ${arg_KEYWORDS_MISSING_VALUES}")
  endif()

  foreach(list LAYOUTS COPY DEPENDS)
    set(paths "")
    foreach(path IN LISTS arg_${list})
      cmake_path(ABSOLUTE_PATH path)
      list(APPEND paths "${path}")
    endforeach()
    set(arg_${list} "${paths}")
  endforeach()
  set(toml "output = \"{name}.{ext}\"\n")
  _lego_emit_add(targets ${arg_LANGUAGE})
  _lego_emit_add(depends ${arg_DEPENDS})
  foreach(option IN LISTS LEGO_EMIT_text LEGO_EMIT_bare LEGO_EMIT_flag LEGO_EMIT_list LEGO_EMIT_table)
    string(TOLOWER "${option}" key)
    string(REPLACE "_" "-" key "${key}")
    if(option IN_LIST LEGO_EMIT_flag)
      if(arg_${option})
        string(APPEND toml "${key} = true\n")
      endif()
    elseif(NOT DEFINED arg_${option})
      continue()
    elseif(option IN_LIST LEGO_EMIT_list)
      _lego_emit_add(${key} ${arg_${option}})
    elseif(option IN_LIST LEGO_EMIT_table)
      foreach(item IN LISTS arg_${option})
        if(NOT item MATCHES "^[A-Za-z_][A-Za-z_0-9]* *= *-?[0-9]+$")
          message(FATAL_ERROR "lego_emit_generate: ${option} has ${item}; write ${option} BM=32 BN=16")
        endif()
      endforeach()
      list(JOIN arg_${option} ", " value)
      string(APPEND toml "${key} = { ${value} }\n")
    elseif(option IN_LIST LEGO_EMIT_bare AND arg_${option} MATCHES "^[0-9]+$")
      string(APPEND toml "${key} = ${arg_${option}}\n")
    else()
      string(REGEX REPLACE [[(["\\])]] [[\\\1]] value "${arg_${option}}")
      string(APPEND toml "${key} = \"${value}\"\n")
    endif()
  endforeach()
  if(DEFINED arg_FILE)
    string(APPEND toml "[[files]]\nname = \"${arg_FILE}\"\n")
  endif()
  if(arg_PACK OR arg_UNPACK OR arg_COPY)
    _lego_emit_copies()
  else()
    _lego_emit_add(layouts ${arg_LAYOUTS})
  endif()

  list(JOIN arg_LANGUAGE "-" languages)
  set(name "${arg_TARGET}-${languages}")
  set(number 1)
  while(TARGET "${name}-lego-emit")
    math(EXPR number "${number} + 1")
    set(name "${arg_TARGET}-${languages}-${number}")
  endwhile()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/lego-emit/${name}")
  set(stamp "${folder}/stamp")
  set(before "")
  if(EXISTS "${folder}/lego-emit.toml")
    file(READ "${folder}/lego-emit.toml" before)
  endif()
  if(NOT toml STREQUAL before)
    file(WRITE "${folder}/lego-emit.toml" "${toml}")
  endif()
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
  list(FILTER outputs INCLUDE REGEX "\\.f90$")
  get_target_property(type "${arg_TARGET}" TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    if(outputs)
      message(FATAL_ERROR "lego_emit_generate: ${arg_TARGET} is an INTERFACE library, which compiles no "
                          "Fortran; name a target that does")
    endif()
    target_include_directories("${arg_TARGET}" INTERFACE "${folder}")
  else()
    target_include_directories("${arg_TARGET}" PRIVATE "${folder}")
    target_sources("${arg_TARGET}" PRIVATE ${outputs})
  endif()
endfunction()
