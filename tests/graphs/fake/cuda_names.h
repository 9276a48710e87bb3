/* Other names for the functions of the CUDA runtime and for what graphs/cuda/table.c uses and
 * defines. The build includes this header in front of each file of test_gpu_table_memory, so that
 * graphs/cuda/table.c runs without a GPU, next to the library's own functions. The declarations of
 * the CUDA toolkit get the new names as well, so the compiler compares fake functions with them. */
#ifndef FAKE_CUDA_NAMES_H
#define FAKE_CUDA_NAMES_H

#define cudaMalloc               fake_malloc
#define cudaFree                 fake_free
#define cudaMemcpy               fake_memcpy
#define cudaMemset               fake_memset
#define cudaMallocArray          fake_malloc_array
#define cudaFreeArray            fake_free_array
#define cudaMemcpy2DToArray      fake_memcpy_array
#define cudaCreateTextureObject  fake_texture_create
#define cudaDestroyTextureObject fake_texture_destroy
#define cudaSetDevice            fake_set_device
#define cudaGetLastError         fake_last_error
#define cudaGetErrorName         fake_error_name
#define cudaGetErrorString       fake_error_string
#define cudaLibraryLoadData      fake_library_load
#define cudaLibraryUnload        fake_library_unload
#define cudaLibraryGetKernel     fake_library_kernel
#define cudaEventCreate          fake_event_create
#define cudaEventDestroy         fake_event_destroy
#define cudaEventRecord          fake_event_record
#define cudaEventElapsedTime     fake_event_elapsed
#define cudaLaunchKernel         fake_launch

#define ics_gpu_describe         fake_describe
#define ics_program_create       fake_program_create
#define ics_program_destroy      fake_program_destroy
#define ics_program_kernel       fake_program_kernel
#define ics_check_failed         fake_check_failed
#define ics_upload_tables        tested_upload
#define ics_upload_free          tested_upload_free
#define ics_upload_bytes         tested_upload_bytes
#define ics_gpu_table_create     tested_create
#define ics_gpu_table_destroy    tested_destroy
#define ics_gpu_table_fill       tested_fill
#define ics_gpu_table_collect    tested_collect
#define ics_gpu_table_plan       tested_plan
#define ics_gpu_table_facts_of   tested_facts_of

#endif
