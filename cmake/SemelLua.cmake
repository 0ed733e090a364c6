# The Lua scripts of a room as C++ text: each file whose first line does not say that it is a piece is a
# script, made of the pieces that its first line `-- needs: ...` names and of itself.

# semel_lua(ROOM FOLDER FUNCTION HEADER): defines `std::string_view FUNCTION(std::string_view name)`.
function(semel_lua room folder function header)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/${folder}/*.lua)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(rows "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} own)
    set(whole "")
    if(own MATCHES "^-- needs: ([a-z ]+)\n")
      string(REPLACE " " ";" pieces "${CMAKE_MATCH_1}")
      foreach(piece IN LISTS pieces)
        file(READ ${CMAKE_SOURCE_DIR}/${room}/${folder}/${piece}.lua text)
        string(APPEND whole "${text}")
      endforeach()
    endif()
    string(APPEND rows "    {\"${name}\", R\"lua(${whole}${own})lua\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${room}/${function}.cc @ONLY CONTENT
"// Made by cmake/SemelLua.cmake out of ${room}/${folder}.
#include \"@header@\"

#include <utility>

#include \"core/check.h\"

namespace semel {

std::string_view @function@(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kScripts[] = {
@rows@  };
  for (const auto& [known, text] : kScripts) {
    if (known == name) return text;
  }
  SEMEL_CHECK(false && \"no such script\");
  return {};
}

}  // namespace semel
")
  target_sources(semel_${room} PRIVATE ${CMAKE_BINARY_DIR}/generated/${room}/${function}.cc)
endfunction()
