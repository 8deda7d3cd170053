# Sources that are compiled once for each instruction set (see backends/native/kernels/isa.h).
include_guard(GLOBAL)

# The root of #include "chainerx/..."
get_filename_component(CHAINERX_INCLUDE_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)

# Lets the compiler vectorize square roots and conditional expressions; results depend neither on errno nor on
# floating-point traps.
set(CHAINERX_KERNEL_OPTIONS -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND CHAINERX_KERNEL_OPTIONS -fno-thread-jumps)  # see math/elementary.h
  list(APPEND CHAINERX_KERNEL_OPTIONS -Wno-maybe-uninitialized)  # false alarms of GCC 12 in its own AVX-512 headers
endif()
if(NOT CHAINERX_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
  list(APPEND CHAINERX_KERNEL_OPTIONS -O3)
endif()

# Whether the assembler knows the instructions of AMX. Sources have them as assembly, so the compiler need not.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles(
    "int main() { __asm__ volatile(\"tdpbf16ps %tmm2, %tmm1, %tmm0\"); }" CHAINERX_HAS_AMX)
endif()

# Adds sources to a target that are compiled with its options and those of kernels.
function(chainerx_add_objects target name)
  set(objects ${target}_${name})
  add_library(${objects} OBJECT ${ARGN})
  target_include_directories(${objects} PRIVATE ${CHAINERX_INCLUDE_ROOT})
  target_compile_options(${objects} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS> ${CHAINERX_KERNEL_OPTIONS})
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
endfunction()

# Adds sources named *_isa.cc to a target, once for each instruction set and in namespaces named after them; those named
# *_vnni_isa.cc for VNNI, too, and those named *_bf16_isa.cc only for AVX512-BF16. `header`, which most of them include,
# is precompiled.
function(chainerx_add_isa_sources target header)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(isas base v3 v4 vnni bf16)
    set(options_base -march=x86-64-v2)
    set(options_v3 -march=x86-64-v3)
    set(options_v4 -march=x86-64-v4 -mprefer-vector-width=512)
    set(options_vnni ${options_v4} -mavx512vnni)
    set(options_bf16 ${options_v4} -mavx512bf16)
  else()
    set(isas base)
  endif()
  foreach(isa ${isas})
    set(sources ${ARGN})
    if(isa MATCHES "^(vnni|bf16)$")
      list(FILTER sources INCLUDE REGEX "_${isa}_isa\\.cc$")
    else()
      list(FILTER sources EXCLUDE REGEX "_bf16_isa\\.cc$")
    endif()
    if(NOT sources)
      continue()
    endif()
    chainerx_add_objects(${target} ${isa} ${sources})
    target_compile_definitions(${target}_${isa} PRIVATE CHAINERX_ISA=${isa})
    target_compile_options(${target}_${isa} PRIVATE -fvisibility=hidden ${options_${isa}})
    # These take longer to optimize than to read.
    set_target_properties(${target}_${isa} PROPERTIES UNITY_BUILD_BATCH_SIZE 4)
    if(NOT isa MATCHES "^(vnni|bf16)$")  # of few sources
      target_precompile_headers(${target}_${isa} PRIVATE ${CHAINERX_INCLUDE_ROOT}/${header})
    endif()
  endforeach()
endfunction()
