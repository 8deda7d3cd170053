# The Python whose packages the build uses: the one that the caller gives, or the first that is found.
include_guard(GLOBAL)

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)

# Sets `result` to what a Python expression prints, which needs a package. A build for another processor sets it itself:
# the package is not one for this machine then.
function(chainerx_ask_python result requirement expression)
  if(DEFINED ${result})
    return()
  endif()
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "${expression}"
    OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${Python_EXECUTABLE} does not have ${requirement}: pip install ${requirement}")
  endif()
  set(${result} ${output} PARENT_SCOPE)
endfunction()
