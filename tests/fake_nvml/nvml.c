/*
 * A stand-in for libnvidia-ml.so.1 that plays the machine told by the text file FAKE_NVML_SCENARIO,
 * so that the real pynvml can be driven through every state of a driver without a GPU.
 *
 * It holds no figure of its own: a field that the scenario leaves out answers NOT_SUPPORTED, as a
 * driver does. Built-in defaults would be tempting, and would hide a collector that reads the
 * wrong field. The file is read again at each nvmlInit, so one process can play several machines; with
 * FAKE_NVML_LIVE set also at a call of nvmlDeviceGetCount after it was changed, so a machine can change.
 *
 * Lines are key=value; '#' starts a comment line; a later line overrides an earlier one.
 *   gpus=N  driver=TEXT  nvml=TEXT  cuda=13000  wave=1 (figures move)  pcie_sleep_ms=20
 *   D.FIELD=number  D.TEXT=text (\xNN for raw bytes)     FIELD, TEXT: the tables below
 *   D.LIST=a,b,...  (repeatable)                          LIST: the table below
 *   D.rc.CALL=code  D.hang=CALL  D.segfault=CALL  D.slow=CALL,ms  D.fail_after=calls,code
 *   D.fail_after_ms=ms,code                               CALL: the table below, or all
 * A number may also be na (NVML_VALUE_NOT_AVAILABLE), self (the caller's pid) or job (the pid in FAKE_NVML_JOB).
 * D is gpuN, gpu* (every GPU), gpuN.migM, or nothing for the calls without a device.
 * FAKE_NVML_LOG names a file that receives one line a call ("CALL D"): what was called is testable.
 * Build variants: -DOLD_SYMBOLS (the symbols of driver 450), -DNO_THROTTLE_NAMES (what CUDA 14
 * announces as removed is gone), -DWIDE_PROCESS_V3 (the 32-byte v3 record of drivers 535.43-535.86).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default"))) int
#define MAX_GPUS 16
#define MAX_MIGS 8
#define MAX_ROWS 64
#define ROW_WIDTH 6
#define TEXT_SIZE 128
#define NOT_AVAILABLE (~0ULL)

enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6,
       INSUFFICIENT_SIZE = 7, VERSION_MISMATCH = 25, UNKNOWN = 999 };

#ifdef OLD_SYMBOLS
#define AFTER_R450(...)
#else
#define AFTER_R450(...) __VA_ARGS__
#endif
#ifdef NO_THROTTLE_NAMES
#define UNTIL_CUDA14(...)
#else
#define UNTIL_CUDA14(...) __VA_ARGS__
#endif

/* FIELD(name, share in percent by which wave=1 moves it, largest value while it moves; 0: none) */
#define FIELDS(F) \
    F(index, 0, 0) F(minor, 0, 0) F(cc_major, 0, 0) F(cc_minor, 0, 0) F(board_id, 0, 0) \
    F(memory_total, 0, 0) F(memory_reserved, 0, 0) F(memory_used, 10, 0) \
    F(bar1_total, 0, 0) F(bar1_used, 0, 0) \
    F(util_gpu, 30, 100) F(util_memory, 40, 100) \
    F(power_mw, 20, 0) F(power_enforced_mw, 0, 0) F(power_limit_mw, 0, 0) F(power_default_mw, 0, 0) \
    F(power_min_mw, 0, 0) F(power_max_mw, 0, 0) F(power_mode, 0, 0) F(power_source, 0, 0) \
    F(temperature_c, 8, 0) F(shutdown_c, 0, 0) F(slowdown_c, 0, 0) F(memory_max_c, 0, 0) F(gpu_max_c, 0, 0) \
    F(clock_graphics, 10, 0) F(clock_sm, 10, 0) F(clock_memory, 0, 0) F(clock_video, 10, 0) \
    F(max_graphics, 0, 0) F(max_sm, 0, 0) F(max_memory, 0, 0) F(max_video, 0, 0) \
    F(app_graphics, 0, 0) F(app_sm, 0, 0) F(app_memory, 0, 0) F(app_video, 0, 0) \
    F(boost_graphics, 0, 0) F(boost_sm, 0, 0) F(boost_memory, 0, 0) F(boost_video, 0, 0) \
    F(reasons, 0, 0) F(reasons_supported, 0, 0) \
    F(pcie_gen, 0, 0) F(pcie_gen_max, 0, 0) F(pcie_gpu_gen_max, 0, 0) F(pcie_width, 0, 0) \
    F(pcie_width_max, 0, 0) F(pcie_speed_mbps, 0, 0) F(pcie_tx_kbps, 50, 0) F(pcie_rx_kbps, 50, 0) \
    F(pcie_replays, 0, 0) \
    F(ecc_current, 0, 0) F(ecc_pending, 0, 0) F(ecc_default, 0, 0) \
    F(ecc_corrected_volatile, 0, 0) F(ecc_corrected_aggregate, 0, 0) \
    F(ecc_uncorrected_volatile, 0, 0) F(ecc_uncorrected_aggregate, 0, 0) \
    F(retired_sbe, 0, 0) F(retired_dbe, 0, 0) F(retired_pending, 0, 0) \
    F(remap_corrected, 0, 0) F(remap_uncorrected, 0, 0) F(remap_pending, 0, 0) F(remap_failed, 0, 0) \
    F(mig_current, 0, 0) F(mig_pending, 0, 0) F(mig_max, 0, 0) F(gpu_instance, 0, 0) F(compute_instance, 0, 0) \
    F(compute_mode, 0, 0) F(persistence, 0, 0) F(fans, 0, 0) F(fan_percent, 20, 100) F(fan_rpm, 20, 0) \
    F(pstate, 0, 0) F(encoder, 40, 100) F(decoder, 40, 100) F(jpeg, 40, 100) F(ofa, 40, 100) \
    F(sample_period_us, 0, 0) F(energy_mj, 0, 0) F(cores, 0, 0) F(architecture, 0, 0) F(brand, 0, 0) \
    F(bus_type, 0, 0) F(bus_width, 0, 0) F(irq, 0, 0) F(display_mode, 0, 0) F(display_active, 0, 0) \
    F(nvlinks, 0, 0) F(nvlinks_active, 0, 0) F(nvlink_version, 0, 0) F(topology, 0, 0) F(p2p, 0, 0) \
    F(gpm, 0, 0) F(multi_gpu, 0, 0) F(cpu_affinity, 0, 0) F(numa_node, 0, 0) F(accounting, 0, 0) \
    F(auto_boost, 0, 0) F(auto_boost_default, 0, 0) F(multiprocessors, 0, 0) F(driver_model, 0, 0) \
    F(pci_domain, 0, 0) F(pci_bus, 0, 0) F(pci_device, 0, 0) F(pci_id, 0, 0) F(pci_subsystem, 0, 0)

#define TEXTS(T) T(name) T(uuid) T(serial) T(part_number) T(gpu_part_number) T(vbios) T(inforom) \
    T(driver) T(nvml)

#define LISTS(L) L(process) L(graphics) L(mps) L(field) L(memory_clock) L(graphics_clock) \
    L(violation) L(memory_error) L(process_sample)

/* What can be told to fail, hang or crash; the versions of one call share a name. */
#define CALLS(C) \
    C(init) C(shutdown) C(driver_version) C(nvml_version) C(cuda_driver) C(count) C(handle) C(index) \
    C(process_name) C(name) C(uuid) C(serial) C(minor) C(pci) C(capability) C(memory) C(bar1) C(utilization) \
    C(power) C(power_enforced) C(power_limit) C(power_default) C(power_limits) C(power_mode) C(power_source) \
    C(temperature) C(threshold) C(clock) C(max_clock) C(app_clock) C(boost_clock) C(clock_list) \
    C(reasons) C(reasons_supported) C(pcie_gen) C(pcie_gen_max) C(pcie_gpu_gen_max) C(pcie_width) \
    C(pcie_width_max) C(pcie_speed) C(pcie_throughput) C(pcie_replays) C(ecc_mode) C(ecc_errors) \
    C(memory_errors) C(retired_pages) C(remapped_rows) C(mig_mode) C(mig_devices) C(compute_mode) \
    C(persistence) C(compute_processes) C(graphics_processes) C(mps_processes) C(process_utilization) \
    C(fan) C(pstate) C(encoder) C(decoder) C(jpeg) C(ofa) C(energy) C(fields) C(cores) C(architecture) \
    C(brand) C(bus) C(irq) C(display) C(nvlink) C(topology) C(gpm) C(attributes) C(board) C(affinity) \
    C(accounting) C(auto_boost) C(violation) C(part_number) C(vbios) C(inforom) C(driver_model) C(confidential)

#define AS_FIELD(n, a, m) V_##n,
#define AS_TEXT(n) S_##n,
#define AS_LIST(n) L_##n,
#define AS_CALL(n) C_##n,
enum field { FIELDS(AS_FIELD) FIELD_COUNT };
enum text { TEXTS(AS_TEXT) TEXT_COUNT };
enum list { LISTS(AS_LIST) LIST_COUNT };
enum call { CALLS(AS_CALL) CALL_COUNT };
#define FIELD_NAME(n, a, m) #n,
#define NAME(n) #n,
#define SWING(n, a, m) {a, m},
static const char *field_names[] = {FIELDS(FIELD_NAME)}, *text_names[] = {TEXTS(NAME)};
static const char *list_names[] = {LISTS(NAME)}, *call_names[] = {CALLS(NAME)};
static const int swing[][2] = {FIELDS(SWING)};

struct row { enum list list; int width; unsigned long long v[ROW_WIDTH]; };
typedef struct device {
    int place, mig;                       /* mig: -1 for a whole GPU */
    unsigned char has[FIELD_COUNT], has_text[TEXT_COUNT], hang[CALL_COUNT], crash[CALL_COUNT];
    long long v[FIELD_COUNT];
    char text[TEXT_COUNT][TEXT_SIZE];
    int rc[CALL_COUNT], slow_ms[CALL_COUNT];
    long calls, fail_calls, fail_ms;
    int fail_calls_rc, fail_ms_rc, rows, migs;
    struct row row[MAX_ROWS];
} Device;

static Device machine, gpu[MAX_GPUS], mig[MAX_GPUS][MAX_MIGS];
static int gpu_count, cuda_version, wave, pcie_sleep_ms, initialised, log_fd = -1;
static struct timespec started;

/* ---- reading the scenario ---- */

static int find(const char *name, const char **names, int count) {
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i])) return i;
    return -1;
}

static void unescape(char *out, const char *in) {
    int used = 0;
    while (*in && used < TEXT_SIZE - 1) {
        unsigned byte;
        if (in[0] == '\\' && in[1] == 'x' && sscanf(in + 2, "%2x", &byte) == 1) out[used++] = (char)byte, in += 4;
        else out[used++] = *in++;
    }
    out[used] = 0;
}

static unsigned long long number(const char *text) {
    if (!strcmp(text, "na")) return NOT_AVAILABLE;
    if (!strcmp(text, "self")) return (unsigned long long)getpid();
    if (!strcmp(text, "job")) return getenv("FAKE_NVML_JOB") ? strtoull(getenv("FAKE_NVML_JOB"), NULL, 10) : (unsigned long long)getppid();
    return strtoull(text, NULL, 0);
}

static int add_row(Device *d, enum list list, char *value) {
    if (d->rows == MAX_ROWS) return 0;
    struct row *row = &d->row[d->rows++];
    row->list = list, row->width = 0;
    for (char *next, *part = strtok_r(value, ",", &next); part && row->width < ROW_WIDTH; part = strtok_r(NULL, ",", &next))
        row->v[row->width++] = number(part);
    return 1;
}

static void fail_every_call(Device *d, int code) {
    for (int i = 0; i < CALL_COUNT; i++)
        if (i != C_handle && i != C_index && i != C_count) d->rc[i] = code;
}

static int set_behaviour(Device *d, const char *key, char *value) {
    int first = 0, second = 0;
    char *comma = strchr(value, ',');
    if (comma) second = atoi(comma + 1), *comma = 0;
    if (!strncmp(key, "rc.", 3)) {
        if (!strcmp(key + 3, "all")) return fail_every_call(d, atoi(value)), 1;
        if ((first = find(key + 3, call_names, CALL_COUNT)) < 0) return 0;
        return d->rc[first] = atoi(value), 1;
    }
    if (!strcmp(key, "fail_after")) return d->fail_calls = atol(value), d->fail_calls_rc = second, 1;
    if (!strcmp(key, "fail_after_ms")) return d->fail_ms = atol(value), d->fail_ms_rc = second, 1;
    if ((first = find(value, call_names, CALL_COUNT)) < 0) return 0;
    if (!strcmp(key, "hang")) return d->hang[first] = 1, 1;
    if (!strcmp(key, "segfault")) return d->crash[first] = 1, 1;
    if (!strcmp(key, "slow")) return d->slow_ms[first] = second, 1;
    return 0;
}

static int set(Device *d, const char *key, char *value) {
    int i;
    if ((i = find(key, field_names, FIELD_COUNT)) >= 0) return d->v[i] = (long long)number(value), d->has[i] = 1, 1;
    if ((i = find(key, text_names, TEXT_COUNT)) >= 0) return unescape(d->text[i], value), d->has_text[i] = 1, 1;
    if ((i = find(key, list_names, LIST_COUNT)) >= 0) return add_row(d, (enum list)i, value);
    return set_behaviour(d, key, value);
}

static int set_on_device(char *key, char *value) {
    char copy[1024], *rest = strchr(key, '.');
    int n = -1, m = -1, used = 0;
    if (!rest) return 0;
    if (sscanf(key, "gpu%d.mig%d.%n", &n, &m, &used) == 2 && used) {
        if (n < 0 || n >= MAX_GPUS || m < 0 || m >= MAX_MIGS) return 0;
        if (m >= gpu[n].migs) gpu[n].migs = m + 1;
        return set(&mig[n][m], key + used, value);
    }
    if (sscanf(key, "gpu%d.", &n) == 1) return n >= 0 && n < MAX_GPUS && set(&gpu[n], rest + 1, value);
    for (n = 0; n < MAX_GPUS; n++) {
        snprintf(copy, sizeof copy, "%s", value);      /* a list or a code is split in place */
        if (!set(&gpu[n], rest + 1, copy)) return 0;
    }
    return 1;
}

static int set_line(char *key, char *value) {
    if (!strncmp(key, "gpu", 3) && strcmp(key, "gpus")) return set_on_device(key, value);
    if (!strcmp(key, "gpus")) return gpu_count = atoi(value), gpu_count >= 0 && gpu_count <= MAX_GPUS;
    if (!strcmp(key, "cuda")) return cuda_version = atoi(value), 1;
    if (!strcmp(key, "wave")) return wave = atoi(value), 1;
    if (!strcmp(key, "pcie_sleep_ms")) return pcie_sleep_ms = atoi(value), 1;
    return set(&machine, key, value);
}

static void forget(void) {
    memset(&machine, 0, sizeof machine), memset(gpu, 0, sizeof gpu), memset(mig, 0, sizeof mig);
    gpu_count = cuda_version = wave = 0, pcie_sleep_ms = 20;
    machine.place = machine.mig = -1;
    for (int i = 0; i < MAX_GPUS; i++) {
        gpu[i].place = i, gpu[i].mig = -1;
        for (int j = 0; j < MAX_MIGS; j++) mig[i][j].place = i, mig[i][j].mig = j;
    }
}

static int read_scenario(void) {
    char line[1024], *path = getenv("FAKE_NVML_SCENARIO"), *log = getenv("FAKE_NVML_LOG");
    FILE *file = path ? fopen(path, "r") : NULL;
    forget();
    if (log && log_fd < 0) log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (!file) return fprintf(stderr, "fake nvml: FAKE_NVML_SCENARIO=%s cannot be read\n", path ? path : ""), UNKNOWN;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *equals = strchr(line, '=');
        if (!line[0] || line[0] == '#') continue;
        if (equals) *equals = 0;
        if (!equals || !set_line(line, equals + 1)) {
            fprintf(stderr, "fake nvml: no such key or value: %s\n", line);
            return fclose(file), INVALID_ARGUMENT;
        }
    }
    fclose(file);
    return OK;
}

/* ---- answering ---- */

static long elapsed_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - started.tv_sec) * 1000 + (now.tv_nsec - started.tv_nsec) / 1000000;
}

static void sleep_ms(long ms) {
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&wait, NULL);
}

/* Like a driver stuck in the kernel: no signal but KILL ends the thread. */
static void hang_for_ever(void) {
    sigset_t every;
    sigfillset(&every);
    pthread_sigmask(SIG_BLOCK, &every, NULL);
    for (;;) pause();
}

static int gate(Device *d, enum call call) {
    if (log_fd >= 0) dprintf(log_fd, "%s %d\n", call_names[call], d ? d->place : -1);
    if (!initialised && call != C_init) return UNINITIALIZED;
    if (!d) return INVALID_ARGUMENT;
    if (d->hang[call]) hang_for_ever();
    if (d->crash[call]) raise(SIGSEGV);
    if (d->slow_ms[call]) sleep_ms(d->slow_ms[call]);
    if (d->fail_calls_rc && d->calls++ >= d->fail_calls) return d->fail_calls_rc;
    if (d->fail_ms_rc && elapsed_ms() >= d->fail_ms) return d->fail_ms_rc;
    return d->rc[call];
}

static long long value(Device *d, enum field field) {
    long long still = d->v[field], moved;
    if (!wave || !swing[field][0]) return still;
    long phase = (elapsed_ms() + d->place * 1700 + (long)field * 900) % 20000;
    long triangle = phase < 10000 ? phase - 5000 : 15000 - phase;           /* -5000 .. 5000 */
    moved = still + still / 100 * swing[field][0] * triangle / 5000 + still % 100 * swing[field][0] * triangle / 500000;
    return swing[field][1] && moved > swing[field][1] ? swing[field][1] : moved;
}

static int read_u32(Device *d, enum call call, enum field field, unsigned *out) {
    int rc = gate(d, call);
    if (rc) return rc;
    if (!d->has[field]) return NOT_SUPPORTED;
    if (!out) return INVALID_ARGUMENT;
    return *out = (unsigned)value(d, field), OK;
}

static int read_u64(Device *d, enum call call, enum field field, unsigned long long *out) {
    int rc = gate(d, call);
    if (rc) return rc;
    if (!d->has[field]) return NOT_SUPPORTED;
    return *out = (unsigned long long)value(d, field), OK;
}

static int read_pair(Device *d, enum call call, enum field a, enum field b, unsigned *first, unsigned *second) {
    int rc = read_u32(d, call, a, first);
    if (rc) return rc;
    if (!d->has[b]) return NOT_SUPPORTED;
    return *second = (unsigned)value(d, b), OK;
}

static int read_text(Device *d, enum call call, enum text text, char *out, unsigned size) {
    int rc = gate(d, call);
    if (rc) return rc;
    if (!d->has_text[text]) return NOT_SUPPORTED;
    if (strlen(d->text[text]) >= size) return INSUFFICIENT_SIZE;
    return strcpy(out, d->text[text]), OK;
}

static int rows_of(Device *d, enum list list, struct row **found) {
    int count = 0;
    for (int i = 0; i < d->rows; i++)
        if (d->row[i].list == list) found[count++] = &d->row[i];
    return count;
}

/* NVML's way with lists: a too small buffer answers INSUFFICIENT_SIZE and tells the count. */
static int room(unsigned *count, int needed, const void *buffer) {
    unsigned given = *count;
    *count = (unsigned)needed;
    return needed && (!buffer || given < (unsigned)needed) ? INSUFFICIENT_SIZE : OK;
}

#define U32(fn, call, field) API nvmlDevice##fn(Device *d, unsigned *out) { return read_u32(d, C_##call, V_##field, out); }
#define U64(fn, call, field) API nvmlDevice##fn(Device *d, unsigned long long *out) { return read_u64(d, C_##call, V_##field, out); }
#define PAIR(fn, call, a, b) API nvmlDevice##fn(Device *d, unsigned *x, unsigned *y) { return read_pair(d, C_##call, V_##a, V_##b, x, y); }
#define TEXT(fn, call, text) API nvmlDevice##fn(Device *d, char *out, unsigned size) { return read_text(d, C_##call, S_##text, out, size); }
/* CHOICE: the caller's number picks one of `count` neighbouring fields. */
#define CHOICE(fn, call, first, count) API nvmlDevice##fn(Device *d, unsigned which, unsigned *out) { \
    return which < count ? read_u32(d, C_##call, V_##first + which, out) : INVALID_ARGUMENT; }

/* ---- library and system ---- */

static int start(void) {
    int rc;
    if (!initialised) {
        clock_gettime(CLOCK_MONOTONIC, &started);
        if ((rc = read_scenario())) return rc;
    }
    if ((rc = gate(&machine, C_init))) return rc;
    return initialised++, OK;
}
API nvmlInit(void) { return start(); }
API nvmlInit_v2(void) { return start(); }
API nvmlInitWithFlags(unsigned flags) { return (void)flags, start(); }
API nvmlShutdown(void) {
    int rc = gate(&machine, C_shutdown);
    return rc ? rc : (initialised--, OK);
}
__attribute__((visibility("default"))) const char *nvmlErrorString(int code) {
    static const char *texts[] = {"Success", "Uninitialized", "Invalid Argument", "Not Supported",
        "Insufficient Permissions", "Already Initialized", "Not Found", "Insufficient Size",
        "Insufficient External Power", "Driver Not Loaded", "Timeout", "Interrupt Request Issue",
        "NVML Shared Library Not Found", "Function Not Found", "Corrupted infoROM", "GPU is lost",
        "GPU requires reset", "The operating system has blocked the request", "Driver/library version mismatch"};
    return code >= 0 && code <= 18 ? texts[code] : "Unknown Error";
}
API nvmlSystemGetDriverVersion(char *out, unsigned size) { return read_text(&machine, C_driver_version, S_driver, out, size); }
API nvmlSystemGetNVMLVersion(char *out, unsigned size) { return read_text(&machine, C_nvml_version, S_nvml, out, size); }
API nvmlSystemGetCudaDriverVersion(int *out) {
    int rc = gate(&machine, C_cuda_driver);
    return rc ? rc : (*out = cuda_version, cuda_version ? OK : NOT_SUPPORTED);
}
API nvmlSystemGetCudaDriverVersion_v2(int *out) { return nvmlSystemGetCudaDriverVersion(out); }
API nvmlSystemGetProcessName(unsigned pid, char *out, unsigned size) {
    char path[64];
    int rc = gate(&machine, C_process_name), fd;
    if (rc) return rc;
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    if ((fd = open(path, O_RDONLY)) < 0) return NOT_FOUND;
    ssize_t got = read(fd, out, size - 1);
    close(fd);
    return out[got > 0 ? got - 1 : 0] = 0, OK;
}
static void follow_changes(void) {
    static struct timespec read_at;
    struct stat now;
    const char *path = getenv("FAKE_NVML_SCENARIO");
    if (!initialised || !getenv("FAKE_NVML_LIVE") || !path || stat(path, &now)) return;
    if (read_at.tv_sec && memcmp(&read_at, &now.st_mtim, sizeof read_at)) read_scenario();
    read_at = now.st_mtim;
}

API nvmlDeviceGetCount_v2(unsigned *out) {
    follow_changes();
    int rc = gate(&machine, C_count);
    return rc ? rc : (*out = (unsigned)gpu_count, OK);
}
API nvmlDeviceGetCount(unsigned *out) { return nvmlDeviceGetCount_v2(out); }

/* ---- handles and identity ---- */

API nvmlDeviceGetHandleByIndex_v2(unsigned i, Device **out) {
    if (i >= (unsigned)gpu_count) return initialised ? INVALID_ARGUMENT : UNINITIALIZED;
    int rc = gate(&gpu[i], C_handle);
    return rc ? rc : (*out = &gpu[i], OK);
}
API nvmlDeviceGetHandleByIndex(unsigned i, Device **out) { return nvmlDeviceGetHandleByIndex_v2(i, out); }

static int handle_by_text(const char *wanted, enum text text, Device **out) {
    for (int i = 0; i < gpu_count; i++) {
        if (!strcmp(gpu[i].text[text], wanted)) return nvmlDeviceGetHandleByIndex_v2((unsigned)i, out);
        for (int j = 0; j < gpu[i].migs; j++)
            if (!strcmp(mig[i][j].text[text], wanted)) return *out = &mig[i][j], OK;
    }
    return NOT_FOUND;
}
API nvmlDeviceGetHandleByUUID(const char *uuid, Device **out) { return handle_by_text(uuid, S_uuid, out); }
UNTIL_CUDA14(API nvmlDeviceGetHandleBySerial(const char *serial, Device **out) { return handle_by_text(serial, S_serial, out); })

struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; };
static int read_pci(Device *d, struct pci *out) {
    int rc = read_u32(d, C_pci, V_pci_bus, &out->bus);
    if (rc) return rc;
    out->domain = (unsigned)d->v[V_pci_domain], out->device = (unsigned)d->v[V_pci_device];
    out->id = (unsigned)d->v[V_pci_id], out->subsystem = (unsigned)d->v[V_pci_subsystem];
    snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.0", out->domain & 0xffff, out->bus & 0xff, out->device & 0xff);
    snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.0", out->domain, out->bus, out->device);
    return OK;
}
API nvmlDeviceGetPciInfo_v3(Device *d, struct pci *out) { return read_pci(d, out); }
API nvmlDeviceGetPciInfo_v2(Device *d, struct pci *out) {      /* the tail of the old record is reserved words */
    int rc = read_pci(d, out);
    return memset(out->bus_id, 0, 16), rc;
}
API nvmlDeviceGetPciInfo(Device *d, struct pci *out) { return nvmlDeviceGetPciInfo_v2(d, out); }
API nvmlDeviceGetHandleByPciBusId_v2(const char *wanted, Device **out) {
    unsigned domain, bus, device;
    if (sscanf(wanted, "%x:%x:%x", &domain, &bus, &device) != 3) return INVALID_ARGUMENT;
    for (int i = 0; i < gpu_count; i++)
        if (gpu[i].v[V_pci_domain] == domain && gpu[i].v[V_pci_bus] == bus && gpu[i].v[V_pci_device] == device)
            return nvmlDeviceGetHandleByIndex_v2((unsigned)i, out);
    return NOT_FOUND;
}
API nvmlDeviceGetIndex(Device *d, unsigned *out) {
    int rc = gate(d, C_index);
    return rc ? rc : (*out = (unsigned)(d->mig < 0 ? d->place : d->mig), OK);
}
TEXT(GetName, name, name) TEXT(GetUUID, uuid, uuid) TEXT(GetSerial, serial, serial)
TEXT(GetBoardPartNumber, part_number, part_number) AFTER_R450(TEXT(GetGpuPartNumber, part_number, gpu_part_number))
TEXT(GetVbiosVersion, vbios, vbios) TEXT(GetInforomImageVersion, inforom, inforom)
U32(GetMinorNumber, minor, minor) U32(GetBrand, brand, brand) U32(GetArchitecture, architecture, architecture)
U32(GetBoardId, board, board_id) U32(GetMultiGpuBoard, board, multi_gpu)
PAIR(GetCudaComputeCapability, capability, cc_major, cc_minor)
AFTER_R450(U32(GetNumGpuCores, cores, cores) U32(GetIrqNum, irq, irq) U32(GetBusType, bus, bus_type)
           U32(GetMemoryBusWidth, bus, bus_width) U32(GetNumaNodeId, affinity, numa_node))

/* ---- memory, load, power, heat, clocks ---- */

struct memory_v1 { unsigned long long total, free, used; };
struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };
static int read_memory(Device *d, struct memory_v2 *out) {
    int rc = read_u64(d, C_memory, V_memory_total, &out->total);
    if (rc) return rc;
    unsigned long long reserved = (unsigned long long)d->v[V_memory_reserved], used = (unsigned long long)value(d, V_memory_used);
    out->reserved = reserved, out->used = used;
    return out->free = out->total > used + reserved ? out->total - used - reserved : 0, OK;
}
API nvmlDeviceGetMemoryInfo(Device *d, struct memory_v1 *out) {
    struct memory_v2 all;
    int rc = read_memory(d, &all);
    if (rc) return rc;
    return out->total = all.total, out->free = all.free, out->used = all.used + all.reserved, OK;
}
AFTER_R450(API nvmlDeviceGetMemoryInfo_v2(Device *d, struct memory_v2 *out) {
    if (out->version != (2u << 24 | sizeof *out)) return VERSION_MISMATCH;
    return read_memory(d, out);
})
API nvmlDeviceGetBAR1MemoryInfo(Device *d, struct memory_v1 *out) {
    int rc = read_u64(d, C_bar1, V_bar1_total, &out->total);
    if (rc) return rc;
    out->used = (unsigned long long)d->v[V_bar1_used];
    return out->free = out->total - out->used, OK;
}
struct rates { unsigned gpu, memory; };
API nvmlDeviceGetUtilizationRates(Device *d, struct rates *out) {
    return read_pair(d, C_utilization, V_util_gpu, V_util_memory, &out->gpu, &out->memory);
}
PAIR(GetEncoderUtilization, encoder, encoder, sample_period_us) PAIR(GetDecoderUtilization, decoder, decoder, sample_period_us)
AFTER_R450(PAIR(GetJpgUtilization, jpeg, jpeg, sample_period_us) PAIR(GetOfaUtilization, ofa, ofa, sample_period_us))
U32(GetPowerUsage, power, power_mw) U32(GetEnforcedPowerLimit, power_enforced, power_enforced_mw)
U32(GetPowerManagementLimit, power_limit, power_limit_mw) U32(GetPowerManagementDefaultLimit, power_default, power_default_mw)
PAIR(GetPowerManagementLimitConstraints, power_limits, power_min_mw, power_max_mw)
UNTIL_CUDA14(U32(GetPowerManagementMode, power_mode, power_mode) U32(GetPowerState, pstate, pstate))
AFTER_R450(U32(GetPowerSource, power_source, power_source))
U32(GetPerformanceState, pstate, pstate) U64(GetTotalEnergyConsumption, energy, energy_mj)

UNTIL_CUDA14(API nvmlDeviceGetTemperature(Device *d, unsigned sensor, unsigned *out) {
    return sensor ? INVALID_ARGUMENT : read_u32(d, C_temperature, V_temperature_c, out);
})
struct temperature { unsigned version, sensor; int celsius; };
AFTER_R450(API nvmlDeviceGetTemperatureV(Device *d, struct temperature *out) {
    if (out->version != (1u << 24 | sizeof *out)) return VERSION_MISMATCH;
    return out->sensor ? INVALID_ARGUMENT : read_u32(d, C_temperature, V_temperature_c, (unsigned *)&out->celsius);
})
CHOICE(GetTemperatureThreshold, threshold, shutdown_c, 4)
CHOICE(GetClockInfo, clock, clock_graphics, 4) CHOICE(GetMaxClockInfo, max_clock, max_graphics, 4)
UNTIL_CUDA14(CHOICE(GetApplicationsClock, app_clock, app_graphics, 4) CHOICE(GetDefaultApplicationsClock, app_clock, app_graphics, 4))
CHOICE(GetMaxCustomerBoostClock, boost_clock, boost_graphics, 4)
API nvmlDeviceGetClock(Device *d, unsigned type, unsigned id, unsigned *out) {
    static const enum field first[] = {V_clock_graphics, V_app_graphics, V_app_graphics, V_boost_graphics};
    return type < 4 && id < 4 ? read_u32(d, C_clock, first[id] + type, out) : INVALID_ARGUMENT;
}
static int read_clocks(Device *d, enum list list, unsigned *count, unsigned *out) {
    struct row *found[MAX_ROWS];
    int rc = gate(d, C_clock_list), have = rc ? 0 : rows_of(d, list, found);
    if (rc) return rc;
    if (!have) return NOT_SUPPORTED;
    if ((rc = room(count, have, out))) return rc;
    for (int i = 0; i < have; i++) out[i] = (unsigned)found[i]->v[0];
    return OK;
}
API nvmlDeviceGetSupportedMemoryClocks(Device *d, unsigned *count, unsigned *out) { return read_clocks(d, L_memory_clock, count, out); }
API nvmlDeviceGetSupportedGraphicsClocks(Device *d, unsigned mhz, unsigned *count, unsigned *out) {
    return (void)mhz, read_clocks(d, L_graphics_clock, count, out);
}
UNTIL_CUDA14(U64(GetCurrentClocksThrottleReasons, reasons, reasons)
             U64(GetSupportedClocksThrottleReasons, reasons_supported, reasons_supported))
AFTER_R450(U64(GetCurrentClocksEventReasons, reasons, reasons)
           U64(GetSupportedClocksEventReasons, reasons_supported, reasons_supported))
PAIR(GetAutoBoostedClocksEnabled, auto_boost, auto_boost, auto_boost_default)
UNTIL_CUDA14(API nvmlDeviceGetViolationStatus(Device *d, unsigned policy, unsigned long long *out) {
    struct row *found[MAX_ROWS];
    int rc = gate(d, C_violation), have = rc ? 0 : rows_of(d, L_violation, found);
    for (int i = 0; i < have; i++)
        if (found[i]->v[0] == policy) return out[0] = found[i]->v[1], out[1] = found[i]->v[2], OK;
    return rc ? rc : NOT_SUPPORTED;
})
U32(GetNumFans, fan, fans) U32(GetFanSpeed, fan, fan_percent)
API nvmlDeviceGetFanSpeed_v2(Device *d, unsigned fan, unsigned *out) {
    int rc = read_u32(d, C_fan, V_fan_percent, out);
    return rc ? rc : fan >= d->v[V_fans] ? INVALID_ARGUMENT : (*out += fan, OK);
}
struct fan { unsigned version, fan, rpm; };
AFTER_R450(API nvmlDeviceGetFanSpeedRPM(Device *d, struct fan *out) { return read_u32(d, C_fan, V_fan_rpm, &out->rpm); })

/* ---- links ---- */

U32(GetCurrPcieLinkGeneration, pcie_gen, pcie_gen) U32(GetMaxPcieLinkGeneration, pcie_gen_max, pcie_gen_max)
U32(GetCurrPcieLinkWidth, pcie_width, pcie_width) U32(GetMaxPcieLinkWidth, pcie_width_max, pcie_width_max)
U32(GetPcieReplayCounter, pcie_replays, pcie_replays)
AFTER_R450(U32(GetGpuMaxPcieLinkGeneration, pcie_gpu_gen_max, pcie_gpu_gen_max) U32(GetPcieSpeed, pcie_speed, pcie_speed_mbps))
API nvmlDeviceGetPcieThroughput(Device *d, unsigned counter, unsigned *out) {
    int rc = counter < 2 ? read_u32(d, C_pcie_throughput, V_pcie_tx_kbps + counter, out) : INVALID_ARGUMENT;
    return sleep_ms(pcie_sleep_ms), rc;                    /* NVML measures over 20 ms: the call blocks */
}
API nvmlDeviceGetNvLinkState(Device *d, unsigned link, unsigned *out) {
    int rc = read_u32(d, C_nvlink, V_nvlinks, out);
    return rc ? rc : link >= d->v[V_nvlinks] ? INVALID_ARGUMENT : (*out = link < d->v[V_nvlinks_active], OK);
}
CHOICE(GetNvLinkVersion, nvlink, nvlink_version, 1)
API nvmlDeviceGetTopologyCommonAncestor(Device *a, Device *b, unsigned *out) {
    unsigned other;
    int rc = read_u32(a, C_topology, V_topology, out), second = read_u32(b, C_topology, V_topology, &other);
    if (rc || second) return rc ? rc : second;
    return *out = a == b ? 0 : other > *out ? other : *out, OK;
}
API nvmlDeviceGetP2PStatus(Device *a, Device *b, unsigned kind, unsigned *out) {
    return (void)b, (void)kind, read_u32(a, C_topology, V_p2p, out);
}
API nvmlDeviceGetCpuAffinity(Device *d, unsigned size, unsigned long *out) {
    unsigned long long mask;
    int rc = read_u64(d, C_affinity, V_cpu_affinity, &mask);
    return rc ? rc : (memset(out, 0, size * sizeof *out), out[0] = mask, OK);
}

/* ---- errors of the hardware ---- */

PAIR(GetEccMode, ecc_mode, ecc_current, ecc_pending) U32(GetDefaultEccMode, ecc_mode, ecc_default)
API nvmlDeviceGetTotalEccErrors(Device *d, unsigned type, unsigned counter, unsigned long long *out) {
    if (type > 1 || counter > 1) return INVALID_ARGUMENT;
    return read_u64(d, C_ecc_errors, V_ecc_corrected_volatile + 2 * type + counter, out);
}
API nvmlDeviceGetMemoryErrorCounter(Device *d, unsigned type, unsigned counter, unsigned place, unsigned long long *out) {
    struct row *found[MAX_ROWS];
    int rc = gate(d, C_memory_errors), have = rc ? 0 : rows_of(d, L_memory_error, found);
    for (int i = 0; i < have; i++)
        if (found[i]->v[0] == type && found[i]->v[1] == counter && found[i]->v[2] == place) return *out = found[i]->v[3], OK;
    return rc ? rc : NOT_SUPPORTED;
}
static int read_pages(Device *d, unsigned cause, unsigned *count, unsigned long long *out, unsigned long long *when) {
    unsigned have;
    int rc = cause < 2 ? read_u32(d, C_retired_pages, V_retired_sbe + cause, &have) : INVALID_ARGUMENT;
    if (rc || (rc = room(count, (int)have, out))) return rc;
    for (unsigned i = 0; i < have; i++) {
        out[i] = 0x100000ULL * (i + 1 + 16 * cause);
        if (when) when[i] = 1700000000000000ULL + i;
    }
    return OK;
}
API nvmlDeviceGetRetiredPages(Device *d, unsigned cause, unsigned *count, unsigned long long *out) { return read_pages(d, cause, count, out, NULL); }
API nvmlDeviceGetRetiredPages_v2(Device *d, unsigned cause, unsigned *count, unsigned long long *out, unsigned long long *when) {
    return read_pages(d, cause, count, out, when);
}
U32(GetRetiredPagesPendingStatus, retired_pages, retired_pending)
API nvmlDeviceGetRemappedRows(Device *d, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    int rc = read_pair(d, C_remapped_rows, V_remap_corrected, V_remap_uncorrected, corrected, uncorrected);
    return rc ? rc : (*pending = (unsigned)d->v[V_remap_pending], *failed = (unsigned)d->v[V_remap_failed], OK);
}

/* ---- modes ---- */

U32(GetComputeMode, compute_mode, compute_mode) U32(GetPersistenceMode, persistence, persistence)
U32(GetDisplayMode, display, display_mode) U32(GetDisplayActive, display, display_active)
U32(GetAccountingMode, accounting, accounting)
PAIR(GetDriverModel, driver_model, driver_model, driver_model) AFTER_R450(PAIR(GetDriverModel_v2, driver_model, driver_model, driver_model))
struct gpm { unsigned version, supported; };
AFTER_R450(API nvmlGpmQueryDeviceSupport(Device *d, struct gpm *out) { return read_u32(d, C_gpm, V_gpm, &out->supported); })

PAIR(GetMigMode, mig_mode, mig_current, mig_pending) U32(GetMaxMigDeviceCount, mig_devices, mig_max)
API nvmlDeviceGetMigDeviceHandleByIndex(Device *d, unsigned i, Device **out) {
    int rc = gate(d, C_mig_devices);
    if (rc) return rc;
    return i < (unsigned)d->migs && mig[d->place][i].has_text[S_uuid] ? (*out = &mig[d->place][i], OK) : NOT_FOUND;
}
API nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device *d, Device **out) {
    int rc = gate(d, C_mig_devices);
    return rc ? rc : d->mig < 0 ? INVALID_ARGUMENT : (*out = &gpu[d->place], OK);
}
API nvmlDeviceIsMigDeviceHandle(Device *d, unsigned *out) {
    int rc = gate(d, C_mig_devices);
    return rc ? rc : (*out = d->mig >= 0, OK);
}
U32(GetGpuInstanceId, mig_devices, gpu_instance) U32(GetComputeInstanceId, mig_devices, compute_instance)
struct attributes { unsigned multiprocessors, engines[5], gpu_slices, compute_slices; unsigned long long memory_mib; };
API nvmlDeviceGetAttributes_v2(Device *d, struct attributes *out) {
    int rc = gate(d, C_attributes);
    if (rc || !d->has[V_multiprocessors]) return rc ? rc : NOT_SUPPORTED;
    memset(out, 0, sizeof *out);
    out->multiprocessors = (unsigned)d->v[V_multiprocessors], out->gpu_slices = out->compute_slices = 1;
    return out->memory_mib = (unsigned long long)d->v[V_memory_total] >> 20, OK;
}

/* ---- processes: pid, bytes, GPU instance, compute instance ---- */

struct process_v1 { unsigned pid; unsigned long long bytes; };
struct process_v2 { unsigned pid; unsigned long long bytes; unsigned gpu_instance, compute_instance; };
struct process_wide { unsigned pid; unsigned long long bytes; unsigned gpu_instance, compute_instance; unsigned long long protected_bytes; };

static int read_processes(Device *d, enum call call, enum list list, unsigned *count, char *out, size_t size) {
    struct row *found[MAX_ROWS];
    int rc = gate(d, call), have = rc ? 0 : rows_of(d, list, found);
    if (rc || (rc = room(count, have, out))) return rc;
    for (int i = 0; i < have; i++, out += size) {
        const unsigned long long *v = found[i]->v;
        struct process_wide full = {(unsigned)v[0], v[1], ~0u, ~0u, 0};
        if (found[i]->width > 3) full.gpu_instance = (unsigned)v[2], full.compute_instance = (unsigned)v[3];
        memcpy(out, &full, size);
    }
    return OK;
}
#define PROCESSES(fn, call, list, size) API nvmlDevice##fn(Device *d, unsigned *count, void *out) { \
    return read_processes(d, C_##call, L_##list, count, out, size); }
#define PROCESS_CALLS(suffix, size) PROCESSES(GetComputeRunningProcesses##suffix, compute_processes, process, size) \
    PROCESSES(GetGraphicsRunningProcesses##suffix, graphics_processes, graphics, size) \
    PROCESSES(GetMPSComputeRunningProcesses##suffix, mps_processes, mps, size)
PROCESS_CALLS(, sizeof(struct process_v1))
AFTER_R450(PROCESS_CALLS(_v2, sizeof(struct process_v2)))
#ifdef WIDE_PROCESS_V3
PROCESS_CALLS(_v3, sizeof(struct process_wide))
#else
AFTER_R450(PROCESS_CALLS(_v3, sizeof(struct process_v2)))
struct process_list { unsigned version, mode, count; char *out; };
AFTER_R450(API nvmlDeviceGetRunningProcessDetailList(Device *d, struct process_list *list) {
    static const enum list lists[] = {L_process, L_graphics, L_mps};
    if (list->version != (1u << 24 | sizeof *list)) return VERSION_MISMATCH;
    if (list->mode > 2) return INVALID_ARGUMENT;
    return read_processes(d, C_compute_processes, lists[list->mode], &list->count, list->out, sizeof(struct process_wide));
})
#endif
struct confidential { unsigned long long protected_kib, unprotected_kib; };
AFTER_R450(API nvmlDeviceGetConfComputeMemSizeInfo(Device *d, struct confidential *out) {
    int rc = gate(d, C_confidential);
    return rc ? rc : (out->protected_kib = 0, out->unprotected_kib = (unsigned long long)d->v[V_memory_total] >> 10, OK);
})
struct process_sample { unsigned pid; unsigned long long stamp_us; unsigned sm, memory, encoder, decoder; };
API nvmlDeviceGetProcessUtilization(Device *d, struct process_sample *out, unsigned *count, unsigned long long since) {
    struct row *found[MAX_ROWS];
    int rc = gate(d, C_process_utilization), have = rc ? 0 : rows_of(d, L_process_sample, found);
    if (rc) return rc;
    if (!have) return (void)since, *count = 0, NOT_FOUND;   /* as NVML: no sample is an error */
    if ((rc = room(count, have, out))) return rc;
    for (int i = 0; i < have; i++)
        out[i] = (struct process_sample){(unsigned)found[i]->v[0], (unsigned long long)time(NULL) * 1000000,
                                         (unsigned)found[i]->v[1], (unsigned)found[i]->v[2],
                                         (unsigned)found[i]->v[3], (unsigned)found[i]->v[4]};
    return OK;
}

/* ---- field values: id, value[, NVML value type; 3 = unsigned long long] ---- */

struct field_value { unsigned id, scope; long long stamp_us, latency_us; unsigned type; int rc; union { double d; unsigned u; unsigned long long ull; } as; };
API nvmlDeviceGetFieldValues(Device *d, int count, struct field_value *values) {
    struct row *found[MAX_ROWS];
    int rc = gate(d, C_fields), have = rc ? 0 : rows_of(d, L_field, found);
    if (rc) return rc;
    for (int i = 0; i < count; i++) {
        values[i].rc = NOT_SUPPORTED, values[i].stamp_us = (long long)time(NULL) * 1000000, values[i].latency_us = 0;
        for (int j = 0; j < have; j++) {
            if (found[j]->v[0] != values[i].id) continue;
            values[i].rc = OK, values[i].type = found[j]->width > 2 ? (unsigned)found[j]->v[2] : 3;
            if (values[i].type == 0) values[i].as.d = (double)found[j]->v[1];
            else values[i].as.ull = found[j]->v[1];
        }
    }
    return OK;
}
