// What XLA's sources ask about ROCm. Written when this repository was fetched.
#ifndef ROCM_ROCM_CONFIG_H_
#define ROCM_ROCM_CONFIG_H_

#define TF_ROCM_TOOLKIT_PATH "%{toolkit_path}"
#define TF_ROCM_VERSION %{rocm_version}
#define TF_MIOPEN_VERSION %{miopen_version}
#define TF_HIPRUNTIME_VERSION %{hip_version}
#define TF_HIPBLASLT 1

#endif  // ROCM_ROCM_CONFIG_H_
