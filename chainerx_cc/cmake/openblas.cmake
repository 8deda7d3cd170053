# OpenBLAS, from its Python package: CHAINERX_OPENBLAS_LIBRARY, its folder CHAINERX_OPENBLAS_DIR and its
# licence CHAINERX_OPENBLAS_LICENSE. It is loaded at run time from the folder of the code that uses it (see
# kernels/blas.h), so the build folder gets a link to it.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/python.cmake)

chainerx_ask_python(CHAINERX_OPENBLAS_LIBRARY scipy-openblas32
  "import scipy_openblas32 as s; print(s.get_lib_dir() + '/lib' + s.get_library() + '${CMAKE_SHARED_LIBRARY_SUFFIX}')")
chainerx_ask_python(CHAINERX_OPENBLAS_LICENSE scipy-openblas32
  "import importlib.metadata as m; print(next(f.locate() for f in m.files('scipy-openblas32') if 'LICENSE' in f.name))")
get_filename_component(CHAINERX_OPENBLAS_DIR ${CHAINERX_OPENBLAS_LIBRARY} DIRECTORY)
get_filename_component(CHAINERX_OPENBLAS_FILE ${CHAINERX_OPENBLAS_LIBRARY} NAME)
file(CREATE_LINK ${CHAINERX_OPENBLAS_LIBRARY} ${CMAKE_BINARY_DIR}/${CHAINERX_OPENBLAS_FILE} COPY_ON_ERROR SYMBOLIC)
