# cpack reads this file: kernels that were not compiled make no package.
if(NOT EXISTS "${CPACK_ICS_KERNELS_STAMP}")
    list(REMOVE_ITEM CPACK_COMPONENTS_ALL kernels)
endif()
