/*
 * A stand-in for libcuda.so.1: cuInit answers what it is told, so that TensorFlow and gpudoctor
 * meet every start-up fault of a driver, and the devices it lists can be asked who they are.
 *
 * It never pretends to compute: making a context fails with FAKE_CUDA_CONTEXT. A fake that went
 * further would be tempting, and TensorFlow would "train" on it and prove nothing.
 *
 * FAKE_CUDA_INIT     code of cuInit (default 0), or "hang", or "segfault"
 * FAKE_CUDA_VERSION  what cuDriverGetVersion tells (default 13000)
 * FAKE_CUDA_DEVICES  name|major.minor|pci bus id|bytes|uuid as 32 hex digits|multiprocessors, ';' between
 *                    devices, fastest first: CUDA's own order. CUDA_DEVICE_ORDER=PCI_BUS_ID sorts them,
 *                    CUDA_VISIBLE_DEVICES filters them, both as the real library does.
 * FAKE_CUDA_CONTEXT  code of every call that needs a context (default 46, device unavailable)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define API __attribute__((visibility("default"))) int
#define MAX_DEVICES 16

enum { OK = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_FOUND = 500 };

struct device { char name[96], pci[32], uuid[40]; int major, minor, multiprocessors, domain, bus, slot; unsigned long long bytes; };
static struct device listed[MAX_DEVICES], seen[MAX_DEVICES];
static int seen_count, initialised;

static const struct { int code; const char *name, *text; } errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int number_in(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text && *text ? atoi(text) : otherwise;
}

static int by_pci(const void *a, const void *b) {
    const struct device *x = a, *y = b;
    return x->domain != y->domain ? x->domain - y->domain : x->bus != y->bus ? x->bus - y->bus : x->slot - y->slot;
}

static int read_devices(void) {
    char *text = getenv("FAKE_CUDA_DEVICES"), *next, *part;
    int count = 0;
    if (!text || !(text = strdup(text))) return 0;
    for (part = strtok_r(text, ";", &next); part && count < MAX_DEVICES; part = strtok_r(NULL, ";", &next)) {
        struct device *d = &listed[count];
        memset(d, 0, sizeof *d);
        if (sscanf(part, "%95[^|]|%d.%d|%31[^|]|%llu|%39[^|]|%d", d->name, &d->major, &d->minor, d->pci, &d->bytes, d->uuid, &d->multiprocessors) < 4) break;
        sscanf(d->pci, "%x:%x:%x", (unsigned *)&d->domain, (unsigned *)&d->bus, (unsigned *)&d->slot);
        count++;
    }
    free(text);
    const char *order = getenv("CUDA_DEVICE_ORDER");
    if (order && !strcmp(order, "PCI_BUS_ID")) qsort(listed, (size_t)count, sizeof *listed, by_pci);
    return count;
}

/* An index or the beginning of "GPU-uuid"; -1 ends the list, as in the real library. */
static int pick(const char *wanted, int count) {
    char plain[40] = "";
    if (strncmp(wanted, "GPU-", 4)) {
        char *end;
        long index = strtol(wanted, &end, 10);
        return end != wanted && !*end && index >= 0 && index < count ? (int)index : -1;
    }
    for (const char *c = wanted + 4; *c && strlen(plain) < 32; c++)
        if (*c != '-') plain[strlen(plain)] = *c;
    for (int i = 0; plain[0] && i < count; i++)
        if (!strncasecmp(listed[i].uuid, plain, strlen(plain))) return i;
    return -1;
}

static void apply_visible_devices(int count) {
    char *text = getenv("CUDA_VISIBLE_DEVICES"), *next, *part;
    seen_count = 0;
    if (!text) {
        memcpy(seen, listed, sizeof listed), seen_count = count;
        return;
    }
    text = strdup(text);
    for (part = strtok_r(text, ",", &next); part && seen_count < MAX_DEVICES; part = strtok_r(NULL, ",", &next)) {
        int index = pick(part + strspn(part, " "), count), repeated = 0;
        for (int i = 0; index >= 0 && i < seen_count; i++) repeated |= !strcmp(seen[i].pci, listed[index].pci);
        if (index < 0 || repeated) {
            if (repeated) seen_count = 0;              /* a device named twice hides all of them */
            break;
        }
        seen[seen_count++] = listed[index];
    }
    free(text);
}

API cuInit(unsigned flags) {
    const char *told = getenv("FAKE_CUDA_INIT");
    if (flags) return INVALID_VALUE;
    if (told && !strcmp(told, "hang")) {               /* no signal but KILL ends it, like a stuck driver */
        sigset_t every;
        sigfillset(&every);
        pthread_sigmask(SIG_BLOCK, &every, NULL);
        for (;;) pause();
    }
    if (told && !strcmp(told, "segfault")) raise(SIGSEGV);
    int code = number_in("FAKE_CUDA_INIT", 0);
    if (code) return code;
    apply_visible_devices(read_devices());
    return seen_count ? (initialised = 1, OK) : NO_DEVICE;
}
API cuDriverGetVersion(int *out) { return out ? (*out = number_in("FAKE_CUDA_VERSION", 13000), OK) : INVALID_VALUE; }

static int error_text(int code, const char **out, int wants_name) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return *out = wants_name ? errors[i].name : errors[i].text, OK;
    return *out = NULL, INVALID_VALUE;
}
API cuGetErrorName(int code, const char **out) { return error_text(code, out, 1); }
API cuGetErrorString(int code, const char **out) { return error_text(code, out, 0); }

static int check(int device) { return !initialised ? NOT_INITIALIZED : device < 0 || device >= seen_count ? INVALID_DEVICE : OK; }

API cuDeviceGetCount(int *out) { return initialised ? (*out = seen_count, OK) : NOT_INITIALIZED; }
API cuDeviceGet(int *out, int ordinal) {
    int rc = check(ordinal);
    return rc ? rc : (*out = ordinal, OK);
}
API cuDeviceGetName(char *out, int size, int device) {
    int rc = check(device);
    return rc ? rc : (snprintf(out, (size_t)size, "%s", seen[device].name), OK);
}
API cuDeviceGetPCIBusId(char *out, int size, int device) {
    int rc = check(device);
    return rc ? rc : (snprintf(out, (size_t)size, "%04x:%02x:%02x.0", seen[device].domain, seen[device].bus, seen[device].slot), OK);
}
API cuDeviceTotalMem_v2(size_t *out, int device) {
    int rc = check(device);
    return rc ? rc : (*out = seen[device].bytes, OK);
}
API cuDeviceGetUuid(unsigned char *out, int device) {
    int rc = check(device);
    for (int i = 0; !rc && i < 16; i++) {
        unsigned byte = 0;
        sscanf(seen[device].uuid + 2 * i, "%2x", &byte);
        out[i] = (unsigned char)byte;
    }
    return rc;
}
API cuDeviceGetUuid_v2(unsigned char *out, int device) { return cuDeviceGetUuid(out, device); }
API cuDeviceComputeCapability(int *major, int *minor, int device) {
    int rc = check(device);
    return rc ? rc : (*major = seen[device].major, *minor = seen[device].minor, OK);
}
API cuDeviceGetAttribute(int *out, int attribute, int device) {
    int rc = check(device);
    if (rc) return rc;
    const struct device *d = &seen[device];
    switch (attribute) {
        case 1: return *out = 1024, OK;                /* threads per block */
        case 10: return *out = 32, OK;                 /* warp size */
        case 16: return *out = d->multiprocessors, OK;
        case 20: return *out = 0, OK;                  /* compute mode: default */
        case 33: return *out = d->bus, OK;
        case 34: return *out = d->slot, OK;
        case 50: return *out = d->domain, OK;
        case 75: return *out = d->major, OK;
        case 76: return *out = d->minor, OK;
        default: return *out = 0, attribute > 0 && attribute < 160 ? OK : INVALID_VALUE;
    }
}

static int no_context(void) { return initialised ? number_in("FAKE_CUDA_CONTEXT", 46) : NOT_INITIALIZED; }
API cuDevicePrimaryCtxRetain(void **out, int device) { return (void)out, (void)device, no_context(); }
API cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { return *flags = 0, *active = 0, check(device); }
API cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { return (void)flags, check(device); }
API cuDevicePrimaryCtxRelease_v2(int device) { return check(device); }
API cuCtxCreate_v2(void **out, unsigned flags, int device) { return (void)out, (void)flags, (void)device, no_context(); }
API cuCtxGetCurrent(void **out) { return *out = NULL, OK; }
API cuCtxSetCurrent(void *context) { return (void)context, OK; }
API cuMemGetInfo_v2(size_t *free_bytes, size_t *total) { return *free_bytes = *total = 0, no_context(); }

/* The CUDA runtime library asks for its functions by this call, never by dlsym, gives up when one is
 * missing, and then blames the driver's version. So whatever is not known here is a call that needs a
 * context; only the empty name, by which it tests the call, is refused. */
#define ENTRY(name) {#name, (void *)name}
API cuGetProcAddress_v2(const char *symbol, void **out, int version, unsigned long long flags, int *status) {
    static const struct { const char *name; void *function; } known[] = {
        {"cuGetProcAddress", (void *)cuGetProcAddress_v2}, ENTRY(cuInit), ENTRY(cuDriverGetVersion), ENTRY(cuGetErrorName),
        ENTRY(cuGetErrorString), ENTRY(cuDeviceGetCount), ENTRY(cuDeviceGet), ENTRY(cuDeviceGetName), ENTRY(cuDeviceGetPCIBusId),
        ENTRY(cuDeviceGetUuid), ENTRY(cuDeviceGetAttribute), {"cuDeviceTotalMem", (void *)cuDeviceTotalMem_v2},
        ENTRY(cuDevicePrimaryCtxRetain), ENTRY(cuDevicePrimaryCtxGetState), ENTRY(cuCtxGetCurrent), ENTRY(cuCtxSetCurrent),
        {"cuDevicePrimaryCtxRelease", (void *)cuDevicePrimaryCtxRelease_v2},
    };
    (void)version, (void)flags, *out = *symbol ? (void *)no_context : NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, symbol)) *out = known[i].function;
    if (status) *status = *out ? 0 : 1;
    return *out ? OK : NOT_FOUND;
}
API cuGetProcAddress(const char *symbol, void **out, int version, unsigned long long flags) {
    return cuGetProcAddress_v2(symbol, out, version, flags, NULL);
}
API cuGetExportTable(const void **out, const void *id) { return (void)id, *out = NULL, NOT_FOUND; }
