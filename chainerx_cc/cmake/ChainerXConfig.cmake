include("${CMAKE_CURRENT_LIST_DIR}/ChainerXTargets.cmake")
