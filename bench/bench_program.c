/*
 * bench_program.c - the cost of the program, compared with minimal ones
 *
 *   version  "allm version", compared with a program that prints a line and
 *            links the same libraries (this one); and the completion of a word,
 *            compared with "allm version"
 *   ask      one question to the Fake: CPU time and memory
 *   config   the same with 200 lines of settings, compared with none
 *   llm      the same in llm (PyPI), if build/llm has it or it can be installed
 *   first    the time until the first word of an answer from a server on
 *            loopback, compared with the first byte that "curl -N" prints, and
 *            the CPU time until then, compared with a bare client that links
 *            the same libraries (this one)
 *   https    the same through a TLS proxy (nghttpx), with the system's CA
 *            certificates and the CA of the proxy.  One bare client searches
 *            the CA directory, another one uses libcurl's defaults.
 *
 * All sides run in turns within one run.  For version and ask we measure CPU
 * time, for first and https also the elapsed time.  The words choose what is
 * measured; none: all.
 */
#define _DEFAULT_SOURCE /* wait4() */
#include "allm.h"

#include "child.h"
#include "measure.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 101, FIRSTS = 61 };

/* ----------------------------------------------------------- children --- */

static long first_kib; /* the peak of the last one */

/* The time until the program prints something, and its CPU time until then. */
static int64_t first_byte(const char **argv, int64_t *cpu_ns)
{
    int ends[2], status;
    char c;
    if (pipe(ends))
        exit(1);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    int64_t began = measure_now();
    pid_t child = child_start(argv, ends[1]);
    close(ends[1]);
    if (child < 0 || read(ends[0], &c, 1) != 1) {
        printf("%s printed nothing\n", argv[0]);
        exit(1);
    }
    int64_t took = measure_now() - began;
    close(ends[0]);
    kill(child, SIGKILL);
    struct cost cost = child_wait(child, &status);
    *cpu_ns = cost.ns;
    first_kib = cost.kib;
    return took;
}

/* ------------------------------------------------------------ version --- */

static void bench_version(const char *allm, const char *self)
{
    int64_t ours[RUNS], bare[RUNS];
    for (int i = 0; i < RUNS; i++) {
        ours[i] = child_run((const char *[]){ allm, "version", NULL }).ns;
        bare[i] = child_run((const char *[]){ self, "line", NULL }).ns;
    }
    double o = (double)measure_median(ours, RUNS) / 1e6;
    double b = (double)measure_median(bare, RUNS) / 1e6;
    printf("version: %.2f ms, a bare program %.2f ms: %.2f times (at most "
           "1.5): %s\n",
           o, b, o / b, measure_verdict(o / b <= 1.5));
    for (int i = 0; i < RUNS; i++) {
        bare[i] = child_run((const char *[]){ allm, "version", NULL }).ns;
        ours[i] = child_run((const char *[]){ allm, "_complete", "-m",
                                              "openai:gpt-5", NULL })
                      .ns;
    }
    o = (double)measure_median(ours, RUNS) / 1e6;
    b = (double)measure_median(bare, RUNS) / 1e6;
    printf("word: %.2f ms, allm version %.2f ms: %.2f times (at most 1.5): "
           "%s\n",
           o, b, o / b, measure_verdict(o / b <= 1.5));
}

/* ---------------------------------------------------------------- ask --- */

#define SCRIPT \
    "{\"script\": [[\"text\", \"The sea \"], [\"text\", \"is never " \
    "the same.\"], [\"finish\", \"stop\"]]}"

static void bench_ask(const char *allm)
{
    int64_t times[RUNS], kib[RUNS];
    for (int i = 0; i < RUNS; i++) {
        struct cost c = child_run((const char *[]){ allm, "-m", "fake:m", "-o",
                                                    "adapter_opts", SCRIPT,
                                                    "A line?", NULL });
        times[i] = c.ns;
        kib[i] = c.kib;
    }
    double ms = (double)measure_median(times, RUNS) / 1e6;
    double mib = (double)measure_median(kib, RUNS) / 1024;
    printf("ask: %.2f ms of CPU (at most 15): %s; %.1f MiB (under 16): %s\n",
           ms, measure_verdict(ms <= 15), mib, measure_verdict(mib < 16));
}

/* A file of settings with 200 lines. */
static bool write_settings(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return false;
    fprintf(out, "{\n  // two hundred lines\n  \"aliases\": {\n");
    for (int i = 0; i < 140; i++)
        fprintf(out, "    \"name%d\": \"openai:gpt-5-mini\",\n", i);
    fprintf(out, "  },\n  \"options\": {\n");
    for (int i = 0; i < 50; i++)
        fprintf(out, "    \"vllm:m%d*\": {\"temperature\": 0.%d},\n", i, i);
    fprintf(out, "  },\n  \"timeout\": \"5m\",\n  \"retry\": 2,\n"
                 "  \"usage\": false,\n  \"output\": {\"width\": 90}\n}\n");
    return fclose(out) == 0;
}

static void bench_config(const char *allm)
{
    char path[] = "/tmp/allm-settings-XXXXXX";
    int64_t with[RUNS], none[RUNS];
    const char *ask[] = { allm,    "-m",    "fake:m",  "-o", "adapter_opts",
                          SCRIPT, "A line?", NULL };
    int fd = mkstemp(path);
    if (fd < 0 || !write_settings(path))
        return;
    for (int i = 0; i < RUNS; i++) {
        snprintf(child_variable, sizeof child_variable, "ALLM_CONFIG=%s", path);
        with[i] = child_run(ask).ns;
        child_variable[0] = '\0';
        none[i] = child_run(ask).ns;
    }
    close(fd);
    unlink(path);
    double w = (double)measure_median(with, RUNS) / 1e6;
    double n = (double)measure_median(none, RUNS) / 1e6;
    printf("config: %.2f ms with 200 lines of settings, %.2f ms without: %.2f "
           "times (at most 1.5): %s\n",
           w, n, w / n, measure_verdict(w / n <= 1.5));
}

/* -------------------------------------------------------------- first --- */

static int port;

static const char answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,"
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":"
    "\"assistant\",\"content\":\"The\"},\"finish_reason\":null}]}\n\n";

/* Read a request, send the first word, then wait until the client hangs up. */
static void serve(int listener)
{
    char request[8192];
    for (;;) {
        size_t len = 0;
        int fd = accept(listener, NULL, NULL);
        const char *body = NULL;
        while (!body && len < sizeof request - 1) {
            ssize_t n = recv(fd, request + len, sizeof request - 1 - len, 0);
            if (n <= 0)
                break;
            len += (size_t)n;
            request[len] = '\0';
            body = strstr(request, "\r\n\r\n");
        }
        if (body)
            send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
        while (body && recv(fd, request, sizeof request, 0) > 0)
            ;
        close(fd);
    }
}

static pid_t start_server(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, 8) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        return -1;
    port = ntohs(at.sin_port);
    pid_t child = fork();
    if (child == 0) {
        alarm(300); /* it must not outlive us for long */
        serve(fd);
    }
    close(fd);
    return child;
}

static const char *find_curl(void)
{
    static const char *const places[] = { "/usr/bin/curl",
                                          "/usr/local/bin/curl",
                                          "/opt/homebrew/bin/curl" };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!access(places[i], X_OK))
            return places[i];
    return NULL;
}

#define BODY \
    "{\"model\": \"m\", \"stream\": true, \"messages\": " \
    "[{\"role\": \"user\", \"content\": \"hi\"}]}"

/* Medians of elapsed and CPU time, in milliseconds. */
struct first {
    double elapsed, cpu;
};

/* Several programs in turns, each until its first byte.  The caches favour a
 * program after one like it, so every other round is in the opposite order. */
static void race(const char **programs[], size_t n, struct first *out)
{
    static int64_t elapsed[3][FIRSTS], cpu[3][FIRSTS];
    for (int i = 0; i < FIRSTS; i++)
        for (size_t k = 0; k < n; k++) {
            size_t p = i % 2 ? n - 1 - k : k;
            elapsed[p][i] = first_byte(programs[p], &cpu[p][i]);
        }
    for (size_t k = 0; k < n; k++) {
        out[k].elapsed = (double)measure_median(elapsed[k], FIRSTS) / 1e6;
        out[k].cpu = (double)measure_median(cpu[k], FIRSTS) / 1e6;
    }
}

static void bench_first(const char *allm, const char *self, const char *curl)
{
    char base[64], url[96];
    struct first f[3];
    snprintf(base, sizeof base, "http://127.0.0.1:%d/v1", port);
    snprintf(url, sizeof url, "%s/chat/completions", base);
    const char *asks[] = { allm, "-m", "vllm:m", "-o", "base_url", base, "hi",
                     NULL };
    const char *bare[] = { self, "bare", url, NULL };
    const char *gets[] = { curl, "-sN", "-d", BODY, "-H",
                     "content-type: application/json", url, NULL };
    const char **programs[] = { asks, bare, gets };
    race(programs, curl ? 3 : 2, f);
    first_byte(asks, &(int64_t){ 0 });
    double mib = (double)first_kib / 1024;
    printf("first: %.1f MiB (under 16): %s\n", mib, measure_verdict(mib < 16));
    if (curl)
        printf("first: %.2f ms, curl %.2f ms: %.2f times (at most 1.5): %s\n",
               f[0].elapsed, f[2].elapsed, f[0].elapsed / f[2].elapsed,
               measure_verdict(f[0].elapsed <= 1.5 * f[2].elapsed));
    printf("first: %.2f ms of CPU, a bare client %.2f ms: %.2f times (at most "
           "1.1): %s\n",
           f[0].cpu, f[1].cpu, f[0].cpu / f[1].cpu,
           measure_verdict(f[0].cpu <= 1.1 * f[1].cpu));
}

/* ---------------------------------------------------------------- llm --- */

/* Install llm beside the builds, and describe the server to it. */
static const char llm_script[] =
    "dir=$1; mkdir -p \"$dir/user\"\n"
    "[ -x \"$dir/bin/llm\" ] || {\n"
    "    python3 -m venv \"$dir\" && \"$dir/bin/pip\" install -q llm\n"
    "} || exit 1\n"
    "printf '%s\\n' '- model_id: bench' '  model_name: m' \\\n"
    "    \"  api_base: $2\" >\"$dir/user/extra-openai-models.yaml\"\n";

static bool install_llm(const char *dir, const char *url)
{
    int status = 1;
    pid_t child = child_start((const char *[]){ "/bin/sh", "-c", llm_script,
                                                "sh", dir, url, NULL },
                              -1);
    return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* Both until the first word of an answer from the server. */
static void bench_llm(const char *allm, const char *self)
{
    enum { FEW = 7 };
    char base[64], dir[PATH_MAX], program[PATH_MAX + 16];
    int64_t theirs[FEW], ours[FEW];
    const char *slash = strrchr(self, '/');
    snprintf(dir, sizeof dir, "%.*s/../../llm", slash ? (int)(slash - self) : 1,
             slash ? self : ".");
    snprintf(base, sizeof base, "http://127.0.0.1:%d/v1", port);
    snprintf(program, sizeof program, "%s/bin/llm", dir);
    if (!install_llm(dir, base)) {
        printf("llm: not measured, llm (PyPI) cannot be installed\n");
        return;
    }
    const char *asks[] = { allm, "-m", "vllm:m", "-o", "base_url", base, "hi",
                           NULL };
    const char *their[] = { program, "-m", "bench", "--no-log", "hi", NULL };
    for (int i = 0; i < FEW; i++) {
        first_byte(asks, &ours[i]);
        snprintf(child_variable, sizeof child_variable, "LLM_USER_PATH=%s/user",
                 dir);
        first_byte(their, &theirs[i]);
        child_variable[0] = '\0';
    }
    double o = (double)measure_median(ours, FEW) / 1e6;
    double t = (double)measure_median(theirs, FEW) / 1e6;
    printf("llm: %.0f ms of CPU, ours %.2f ms: %.0f times (at least 20): %s\n",
           t, o, t / o, measure_verdict(t / o >= 20));
}

/* --------------------------------------------------------------- bare --- */

/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl's type */
static size_t print_bytes(char *bytes, size_t one, size_t n, void *ud)
{
    (void)ud;
    fwrite(bytes, one, n, stdout);
    fflush(stdout);
    return n;
}

/* The bare client: POST to an address, and print what comes.  The directory,
 * if there is one, replaces libcurl's default. */
static int run_bare(const char *url, const char *dir)
{
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, BODY);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, print_bytes);
    if (dir) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        curl_easy_setopt(easy, CURLOPT_CAPATH, dir);
    }
    CURLcode code = curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    return code == CURLE_OK ? 0 : 1;
}

/* -------------------------------------------------------------- https --- */

/*
 * Make a CA, a certificate for 127.0.0.1 and a copy of the system's directory
 * ($2) with this CA.  Start a TLS proxy before the server ($3), see the copy in
 * the place of the directory, and run this program ($4) again.
 */
static const char https_script[] =
    "cd \"$1\"; dir=$2; back=$3; self=$4; allm=$5\n"
    "new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'\n"
    "openssl req -x509 $new -days 2 -subj '/CN=authority of the bench' \\\n"
    "    -addext keyUsage=critical,keyCertSign -keyout ca.key -out ca.pem\n"
    "openssl req $new -subj /CN=here -keyout here.key -out here.csr\n"
    "echo subjectAltName=IP:127.0.0.1 >here.ext\n"
    "openssl x509 -req -in here.csr -CA ca.pem -CAkey ca.key \\\n"
    "    -CAcreateserial -days 2 -extfile here.ext -out here.pem\n"
    "mkdir all\n"
    "cp -RP \"$dir\"/* all\n"
    "cp ca.pem \"all/$(openssl x509 -hash -noout -in ca.pem).0\"\n"
    "if [ -e all/ca-certificates.crt ]; then\n"
    "    cat ca.pem >>all/ca-certificates.crt\n"
    "fi\n"
    "port=$((back + 1))\n"
    "PATH=$PATH:/usr/sbin\n"
    "nghttpx --conf=/dev/null --single-process --no-ocsp --workers=1 \\\n"
    "    --frontend=127.0.0.1,$port --backend=127.0.0.1,$back \\\n"
    "    here.key here.pem &\n"
    "proxy=$!\n"
    "trap 'kill $proxy' EXIT\n"
    "i=0\n"
    "until openssl s_client -connect 127.0.0.1:$port </dev/null; do\n"
    "    i=$((i + 1)); [ $i -lt 100 ]; sleep 0.1\n"
    "done\n"
    "unshare -rm sh -ec 'mount --bind all \"$0\"; exec \"$@\"' \"$dir\" \\\n"
    "    \"$self\" https \"$allm\" \"https://127.0.0.1:$port/v1\" \\\n"
    "    \"$dir\" >&9\n";

/* The directory of the system's CA certificates; or NULL. */
static const char *system_directory(void)
{
    static char dir[1024];
    const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
    const char *file = v->cainfo ? v->cainfo : "";
    const char *slash = strrchr(file, '/');
    if (v->capath)
        snprintf(dir, sizeof dir, "%s", v->capath);
    else if (slash)
        snprintf(dir, sizeof dir, "%.*s", (int)(slash - file), file);
    return *dir && !access(dir, R_OK) ? dir : NULL;
}

/* Called by the script. */
static int race_https(const char *allm, const char *self, const char *base,
                      const char *dir)
{
    char url[128];
    struct first f[3];
    snprintf(url, sizeof url, "%s/chat/completions", base);
    const char *asks[] = { allm, "-m", "vllm:m", "-o", "base_url", base, "hi",
                     NULL };
    const char *bare[] = { self, "bare", url, dir, NULL };
    const char *usual[] = { self, "bare", url, NULL };
    const char **programs[] = { asks, bare, usual };
    race(programs, 3, f);
    printf("https: %.2f ms of CPU, a bare client %.2f ms: %.2f times (at most "
           "1.1): %s; with libcurl's defaults %.2f ms\n",
           f[0].cpu, f[1].cpu, f[0].cpu / f[1].cpu,
           measure_verdict(f[0].cpu <= 1.1 * f[1].cpu), f[2].cpu);
    printf("https: %.2f ms elapsed, a bare client %.2f ms, with libcurl's "
           "defaults %.2f ms\n",
           f[0].elapsed, f[1].elapsed, f[2].elapsed);
    return 0;
}

static void bench_https(const char *allm, const char *self)
{
    char temp[] = "/tmp/allm-bench-XXXXXX", back[16], remove[64];
    const char *dir = system_directory();
    int status = 1;
    if (!dir || !mkdtemp(temp)) {
        printf("https: not measured, there is no CA directory\n");
        return;
    }
    snprintf(back, sizeof back, "%d", port);
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(STDOUT_FILENO, 9);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execl("/bin/sh", "sh", "-ec", https_script, "sh", temp, dir, back, self,
              allm, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        printf("https: not measured; it needs openssl, nghttpx and "
               "unshare\n");
    snprintf(remove, sizeof remove, "rm -rf '%s'", temp);
    if (system(remove)) /* NOLINT(cert-env33-c): our own */
        printf("https: %s is left\n", temp);
}

/* --------------------------------------------------------------- main --- */

int main(int argc, char **argv)
{
    static char allm[4096], program[PATH_MAX], self[PATH_MAX];
    if (argc > 1 && !strcmp(argv[1], "line")) {
        printf("allm %s\n", allm_version());
        return 0;
    }
    if (argc > 2 && !strcmp(argv[1], "bare"))
        return run_bare(argv[2], argc > 3 ? argv[3] : NULL);
    if (argc > 4 && !strcmp(argv[1], "https"))
        return race_https(argv[2], argv[0], argv[3], argv[4]);
    const char *slash = strrchr(argv[0], '/');
    snprintf(allm, sizeof allm, "%.*s/../allm",
             slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    if (access(allm, X_OK)) {
        printf("the program is not there: %s\n", allm);
        return 1;
    }
    if (measure_chosen("version", argc, argv))
        bench_version(allm, argv[0]);
    if (measure_chosen("ask", argc, argv))
        bench_ask(allm);
    if (measure_chosen("config", argc, argv))
        bench_config(allm);
    fflush(stdout); /* else the server would print it, too */
    pid_t server = start_server();
    if (server < 0) {
        printf("first, llm, https: not measured, loopback is missing\n");
        return 0;
    }
    if (measure_chosen("first", argc, argv))
        bench_first(allm, argv[0], find_curl());
    if (measure_chosen("llm", argc, argv))
        bench_llm(allm, argv[0]);
    fflush(stdout);
    if (measure_chosen("https", argc, argv))
        bench_https(realpath(allm, program), realpath(argv[0], self));
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return 0;
}
