# cmake -D program=.. -D nm=.. -P symbols_test.cmake: the program needs nothing of LLVM, C++ or the compiler.
execute_process(COMMAND "${nm}" -D -u "${program}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n" ";" lines "${symbols}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^ *[Uwv] *" "" symbol "${line}")
  if(symbol AND NOT symbol MATCHES "@GLIBC_|@GOMP_|@OMP_|^(_ITM_|__gmon_start__|__cxa_finalize|GOMP_|omp_)")
    message(FATAL_ERROR "${program} needs ${symbol}")
  endif()
endforeach()
