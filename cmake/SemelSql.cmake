# The SQL of a room as one C++ text: the files of a folder, one behind the other in the order of their names.

# semel_sql(ROOM FOLDER FUNCTION HEADER): defines `std::string_view FUNCTION()`, declared in HEADER.
function(semel_sql room folder function header)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/${folder}/*.sql)
  list(SORT files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(script "")
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(APPEND script "${text}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${room}/${function}.cc @ONLY CONTENT
"// Made by cmake/SemelSql.cmake out of ${room}/${folder}.
#include \"@header@\"

namespace semel {

std::string_view @function@() { return R\"sql(@script@)sql\"; }

}  // namespace semel
")
  target_sources(semel_${room} PRIVATE ${CMAKE_BINARY_DIR}/generated/${room}/${function}.cc)
endfunction()
