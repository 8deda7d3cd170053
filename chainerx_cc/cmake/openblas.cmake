# OpenBLAS, from its Python package: CHAINERX_OPENBLAS_LIBRARY, and the folder CHAINERX_OPENBLAS_DIR.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/python.cmake)

chainerx_ask_python(CHAINERX_OPENBLAS_LIBRARY scipy-openblas32
  "import scipy_openblas32 as s; print(s.get_lib_dir() + '/lib' + s.get_library() + '.so')")
get_filename_component(CHAINERX_OPENBLAS_DIR ${CHAINERX_OPENBLAS_LIBRARY} DIRECTORY)
