// Values of extensions that package opencl asks for.
#pragma once

enum { // cl_khr_icd
	CL_PLATFORM_NOT_FOUND_KHR = -1001,
};
enum { // cl_khr_device_uuid
	CL_DEVICE_UUID_KHR = 0x106A, CL_DRIVER_UUID_KHR,
};
enum { // cl_khr_pci_bus_info
	CL_DEVICE_PCI_BUS_INFO_KHR = 0x410F,
};
enum { // cl_nv_device_attribute_query
	CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000, CL_DEVICE_WARP_SIZE_NV = 0x4003,
	CL_DEVICE_PCI_BUS_ID_NV = 0x4008, CL_DEVICE_PCI_SLOT_ID_NV, CL_DEVICE_PCI_DOMAIN_ID_NV,
};
enum { // cl_intel_required_subgroup_size
	CL_DEVICE_SUB_GROUP_SIZES_INTEL = 0x4108,
};
enum { // cl_amd_device_attribute_query
	CL_DEVICE_TOPOLOGY_AMD = 0x4037,
};
