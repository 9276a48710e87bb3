#include "pipeline/production/source/listen_address.h"

#include "base/disk.h"
#include "base/error.h"
#include "base/host_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- text ----------------------------------------------------------------------------------- */

static int parse_local(const char *path, ics_listen_address *out, icestream_error *error)
{
    struct sockaddr_un *local = &out->socket.local;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof local->sun_path) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "source.listen: found unix: with a path of %zu bytes, expected 1 to "
                             "%zu",
                             length, sizeof local->sun_path - 1);
    }
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path, length + 1);
    out->size = sizeof *local;
    out->loopback = true;
    return ICESTREAM_OK;
}

static void set_v4(ics_listen_address *out, struct in_addr host, in_port_t port)
{
    out->socket.v4 =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = host, .sin_port = port};
    out->size = sizeof out->socket.v4;
    out->loopback = ntohl(host.s_addr) >> 24 == 127;
}

static void set_v6(ics_listen_address *out, const struct in6_addr *host, in_port_t port)
{
    out->socket.v6 =
        (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = *host, .sin6_port = port};
    out->size = sizeof out->socket.v6;
    out->loopback = IN6_IS_ADDR_LOOPBACK(host);
}

static int resolve(const char *host, in_port_t port, ics_listen_address *out,
                   icestream_error *error)
{
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    int failure = getaddrinfo(host, NULL, &wanted, &found);
    if (failure != 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "source.listen: cannot find host %s: %s",
                             host, gai_strerror(failure));
    }
    if (found->ai_family == AF_INET6) {
        set_v6(out, &((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_addr, port);
    } else {
        set_v4(out, ((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr, port);
    }
    freeaddrinfo(found);
    return ICESTREAM_OK;
}

int ics_listen_address_parse(const char *text, bool names, ics_listen_address *out,
                             icestream_error *error)
{
    *out = (ics_listen_address){.size = 0};
    if (strncmp(text, "unix:", 5) == 0) {
        return parse_local(text + 5, out, error);
    }
    ics_host_port parsed;
    if (ics_host_port_parse(text, &parsed) != ICS_HOST_PORT_GOOD ||
        (!parsed.is_bracketed && strchr(parsed.host, ':') != NULL)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "source.listen: found %.300s, expected unix:PATH or HOST:PORT "
                             "([ADDRESS]:PORT for IPv6)",
                             text);
    }
    const char *host = parsed.host;
    const bool brackets = parsed.is_bracketed;
    const in_port_t port = htons(parsed.port);
    struct in_addr v4 = {.s_addr = htonl(INADDR_LOOPBACK)};
    struct in6_addr v6;
    if (brackets && inet_pton(AF_INET6, host, &v6) == 1) {
        set_v6(out, &v6, port);
        return ICESTREAM_OK;
    }
    if (!brackets && (strcmp(host, "localhost") == 0 || inet_pton(AF_INET, host, &v4) == 1)) {
        set_v4(out, v4, port);
        return ICESTREAM_OK;
    }
    if (!brackets && names) {
        return resolve(host, port, out, error);
    }
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "source.listen: found host %s, expected an address, or localhost; names "
                         "and addresses beyond this machine need source.token",
                         host);
}

/* ---- sockets -------------------------------------------------------------------------------- */

static int socket_error(const ics_listen_socket *listening, const char *what,
                        icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_FAILED, "source.listen: %s: cannot %s: %s",
                         listening->text, what, strerror(errno));
}

/* Locks SOCKET.lock while the file of the socket is examined and replaced. Without the lock, two
 * processes could find the same dead socket, and the second could remove the new socket of the
 * first. */
static int lock_name(const ics_listen_socket *listening, const char *path, int *lock,
                     icestream_error *error)
{
    enum { ATTEMPTS = 50 }; /* other processes hold the lock for microseconds */
    const struct timespec pause = {.tv_nsec = 20000000};
    for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
        *lock = ics_disk_lock(path);
        if (*lock >= 0) {
            return ICESTREAM_OK;
        }
        if (errno != EWOULDBLOCK) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    return socket_error(listening, "lock its name with the ending .lock", error);
}

/* Removes a socket on which no process listens. */
static int remove_dead(const ics_listen_socket *listening, const ics_listen_address *address,
                       icestream_error *error)
{
    struct stat about;
    if (lstat(listening->path, &about) != 0) {
        return errno == ENOENT ? ICESTREAM_OK : socket_error(listening, "look at it", error);
    }
    if (!S_ISSOCK(about.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "source.listen: %s: found something that is no socket, expected a "
                             "name that is free",
                             listening->text);
    }
    int trial = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (trial < 0) {
        return socket_error(listening, "make a socket", error);
    }
    /* Only a refusal shows that no process listens; "queue full" or "not allowed" show that one
     * does.
     */
    bool dead = connect(trial, &address->socket.any, address->size) != 0 && errno == ECONNREFUSED;
    close(trial);
    if (!dead) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "source.listen: %s: another process listens there, or the socket is "
                             "not ours",
                             listening->text);
    }
    return unlink(listening->path) == 0 ? ICESTREAM_OK
                                        : socket_error(listening, "remove the old socket", error);
}

static int bind_and_listen(ics_listen_socket *listening, const ics_listen_address *address,
                           icestream_error *error)
{
    const int yes = 1;
    int family = address->socket.any.sa_family, descriptor;
    descriptor = listening->descriptor =
        socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        return socket_error(listening, "make a socket", error);
    }
    /* On Linux the file that bind() makes has the mode of the socket, less the umask. So no other
     * user can connect in between, and the umask of the process need not be changed. */
    if ((family == AF_UNIX && fchmod(descriptor, 0600) != 0) ||
        (family != AF_UNIX &&
         setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) ||
        (family == AF_INET6 &&
         setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) != 0)) {
        return socket_error(listening, "set up the socket", error);
    }
    if (bind(descriptor, &address->socket.any, address->size) != 0) {
        return socket_error(listening, "bind", error);
    }
    struct stat about;
    if (family == AF_UNIX && lstat(listening->path, &about) == 0) {
        listening->device = about.st_dev;
        listening->number = about.st_ino;
    }
    return listen(descriptor, 64) == 0 ? ICESTREAM_OK : socket_error(listening, "listen", error);
}

static int open_local(ics_listen_socket *listening, const ics_listen_address *address,
                      icestream_error *error)
{
    char path[sizeof listening->path + sizeof ".lock"];
    int lock;
    snprintf(path, sizeof path, "%s.lock", listening->path);
    ICS_TRY(lock_name(listening, path, &lock, error));
    int status = remove_dead(listening, address, error);
    if (status == ICESTREAM_OK) {
        status = bind_and_listen(listening, address, error);
    }
    (void)ics_disk_unlock(path, lock); /* a file that stays hinders nobody */
    return status;
}

void ics_listen_address_text(const ics_listen_address *address, char *text, size_t size)
{
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
    const bool brackets = address->socket.any.sa_family == AF_INET6;
    getnameinfo(&address->socket.any, address->size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(text, size, "%s%s%s:%s", brackets ? "[" : "", host, brackets ? "]" : "", port);
}

int ics_listen_socket_open(const ics_listen_address *address, ics_listen_socket *out,
                           icestream_error *error)
{
    *out = (ics_listen_socket){.descriptor = -1};
    bool local = address->socket.any.sa_family == AF_UNIX;
    if (local) {
        memcpy(out->path, address->socket.local.sun_path, sizeof address->socket.local.sun_path);
        snprintf(out->text, sizeof out->text, "unix:%s", out->path);
    } else {
        ics_listen_address_text(address, out->text, sizeof out->text);
    }
    int status = local ? open_local(out, address, error) : bind_and_listen(out, address, error);
    if (status != ICESTREAM_OK) {
        ics_listen_socket_close(out);
    } else if (!local) { /* with the port that the socket got */
        ics_listen_address bound = *address;
        getsockname(out->descriptor, &bound.socket.any, &bound.size);
        ics_listen_address_text(&bound, out->text, sizeof out->text);
    }
    return status;
}

void ics_listen_socket_close(ics_listen_socket *listening)
{
    struct stat about;
    if (listening->descriptor < 0) {
        return;
    }
    if (listening->number != 0 && lstat(listening->path, &about) == 0 &&
        about.st_dev == listening->device && about.st_ino == listening->number) {
        unlink(listening->path);
    }
    close(listening->descriptor);
    listening->descriptor = -1;
}
