# One function per kind of thing we build, so that a room's CMakeLists.txt is only a list.

set_property(GLOBAL PROPERTY ROOFLINE_ROOMS "")
add_custom_target(roofline_data COMMENT "Files that are compiled in")

# roofline_room(NAME SOURCES a.cpp ... [ROOMS other ...] [LINK target ...] [DATA file ...])
# ROOMS are the rooms this one may include (see docs/architecture.md); DATA files are compiled in, each as
# `std::string_view roofline::data::<file name with _ for other characters>()`, declared in "data/<file>.h". A file that
# the build makes is named by its whole path.
function(roofline_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;ROOMS;LINK;DATA" ${ARGN})
  set(target roofline_${name})
  set(generated "")
  foreach(file ${ROOM_DATA})
    get_filename_component(base ${file} NAME)
    get_filename_component(path ${file} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" symbol ${base})
    set(header ${CMAKE_BINARY_DIR}/generated/data/${base}.h)
    set(source ${CMAKE_BINARY_DIR}/generated/data/${base}.cpp)
    add_custom_command(
      OUTPUT ${source} ${header}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${path} -DSYMBOL=${symbol} -DSOURCE=${source}
              -DHEADER=${header} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedData.cmake
      DEPENDS ${path} ${PROJECT_SOURCE_DIR}/cmake/EmbedData.cmake
      COMMENT "Embedding ${file}" VERBATIM)
    list(APPEND generated ${source} ${header})
  endforeach()
  add_library(${target} OBJECT ${ROOM_SOURCES} ${generated})
  if(generated)
    add_custom_target(${target}_data DEPENDS ${generated})
    add_dependencies(${target} ${target}_data)
    add_dependencies(roofline_data ${target}_data)
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
                                       PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
  target_compile_definitions(${target} PRIVATE ROOFLINE_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE fmt::fmt ${ROOM_LINK})
  foreach(room ${ROOM_ROOMS})
    target_link_libraries(${target} PUBLIC roofline_${room})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ROOFLINE_ROOMS ${name})
endfunction()

# The library people link: every room in one archive, installed with its headers, CMake package and pkg-config file.
function(roofline_library)
  get_property(rooms GLOBAL PROPERTY ROOFLINE_ROOMS)
  set(objects "")
  foreach(room ${rooms})
    list(APPEND objects $<TARGET_OBJECTS:roofline_${room}>)
  endforeach()
  add_library(roofline STATIC ${objects})
  add_library(roofline::roofline ALIAS roofline)
  target_include_directories(roofline PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(roofline PUBLIC cxx_std_20)
  target_link_libraries(roofline PRIVATE fmt::fmt ZLIB::ZLIB PkgConfig::ZSTD PkgConfig::RE2 PkgConfig::SIMDJSON PkgConfig::RSVG PkgConfig::CAIRO
                                         PkgConfig::SQLITE Threads::Threads)
  # Histories in PostgreSQL, where its client library is there.
  set(ROOFLINE_FIND_PQ "")
  set(ROOFLINE_PC_PQ "")
  if(PQ_FOUND)
    target_link_libraries(roofline PRIVATE PkgConfig::PQ)
    set(ROOFLINE_FIND_PQ "pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)")
    set(ROOFLINE_PC_PQ "libpq")
  endif()

  include(CMakePackageConfigHelpers)
  install(TARGETS roofline EXPORT roofline-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/roofline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/schema/report-1.json DESTINATION ${CMAKE_INSTALL_DATADIR}/roofline/schema)
  install(EXPORT roofline-targets NAMESPACE roofline:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roofline)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/roofline-config.cmake.in ${CMAKE_BINARY_DIR}/roofline-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roofline)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/roofline-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/roofline-config.cmake ${CMAKE_BINARY_DIR}/roofline-config-version.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roofline)
  # The installed tree may be moved, so its pkg-config file finds the prefix from where it lies.
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(ROOFLINE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
    set(ROOFLINE_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
  else()
    file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(ROOFLINE_PC_PREFIX "\${pcfiledir}/${up}")
    set(ROOFLINE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  endif()
  if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(ROOFLINE_PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
  else()
    set(ROOFLINE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/roofline.pc.in ${CMAKE_BINARY_DIR}/roofline.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/roofline.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# roofline_test(NAME SOURCES a.cpp ... [ROOMS room ...] [LINK target ...] [PROPERTIES name value ...]): one GoogleTest binary per room, linked
# against just the rooms it names (name all that are needed), so that a fault in another room does not stop it.
function(roofline_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;ROOMS;LINK;PROPERTIES" ${ARGN})
  set(target test_${name})
  add_executable(${target} ${TEST_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                               ${PROJECT_SOURCE_DIR}/tests ${CMAKE_BINARY_DIR}/generated)
  foreach(room ${TEST_ROOMS})
    target_link_libraries(${target} PRIVATE roofline_${room})
  endforeach()
  target_compile_definitions(${target} PRIVATE ROOFLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE fmt::fmt ZLIB::ZLIB PkgConfig::ZSTD PkgConfig::RE2 Threads::Threads GTest::gtest
                                          GTest::gtest_main GTest::gmock ${TEST_LINK})
  include(GoogleTest)
  # Values of parameters are left out of the names: many print as bytes that differ from run to run.
  gtest_discover_tests(${target} TEST_PREFIX "${name}." NO_PRETTY_VALUES
                       PROPERTIES LABELS ${name} ${TEST_PROPERTIES} DISCOVERY_TIMEOUT 60)
endfunction()
