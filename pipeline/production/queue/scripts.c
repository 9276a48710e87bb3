#include "pipeline/production/queue/scripts.h"

#include "base/error.h"

#include <string.h>

/* In all scripts: s is the stream, g its consumer group, and back the consumer that has the tickets
 * which workers gave back. They are idle for so long that the next look claims them. */
#define BEGINNING                                                                                  \
    "local s, g, back, call = KEYS[1], 'icestream', '(given back)', redis.call\n"                  \
    "local function now() local t = call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000) "    \
    "end\n"                                                                                        \
    "local function owner(id) local p = call('XPENDING', s, g, id, id, 1) return p[1] and "        \
    "p[1][2] end\n"                                                                                \
    "local function beat(w, nonce, lease, about)\n"                                                \
    "  local t, last = now(), call('HGET', s .. ':beats', 'last')\n"                               \
    "  if not last or t - last > lease / 2 or t < tonumber(last) then\n"                           \
    "    call('HSET', s .. ':beats', 'since', t)\n"                                                \
    "  end\n"                                                                                      \
    "  call('HSET', s .. ':beats', 'last', t)\n"                                                   \
    "  call('HSET', s .. ':workers', w, t .. ' ' .. lease .. ' ' .. nonce .. ' ' .. about)\n"      \
    "end\n"

/* The clock of the broker was set back: the claims of a worker whose last heartbeat is in the
 * future would not expire before that time. They get the time of now, and expire a lease later
 * unless the worker lives. */
#define REDATE                                                                                     \
    "local function redate()\n"                                                                    \
    "  local w, t = call('HGETALL', s .. ':workers'), now()\n"                                     \
    "  for i = 1, #w, 2 do\n"                                                                      \
    "    local time, rest = w[i + 1]:match('^(%d+)( .*)')\n"                                       \
    "    if time and time - t > 1000 then\n"                                                       \
    "      for _, p in ipairs(call('XPENDING', s, g, '-', '+', 1000, w[i])) do\n"                  \
    "        call('XCLAIM', s, g, w[i], 0, p[1], 'JUSTID')\n"                                      \
    "      end\n"                                                                                  \
    "      call('HSET', s .. ':workers', w[i], t .. rest)\n"                                       \
    "    end\n"                                                                                    \
    "  end\n"                                                                                      \
    "end\n"

/* How much longer (ms) expired claims count. A time without heartbeats of any worker is no sign
 * that workers are lost: the broker was away or had no room, or its clock was set. So after such a
 * time each worker has a whole lease to renew its claims. */
#define GRACE                                                                                      \
    "local function grace(lease)\n"                                                                \
    "  local b, t = call('HMGET', s .. ':beats', 'last', 'since'), now()\n"                        \
    "  if not b[1] or not b[2] or t - b[1] > lease / 2 or t < tonumber(b[1]) then\n"               \
    "    return lease\n"                                                                           \
    "  end\n"                                                                                      \
    "  return math.max(0, b[2] + lease - t)\n"                                                     \
    "end\n"

/* Redis takes nothing back if a script fails in its middle. So a worker tries, before it begins,
 * every command that it needs: with numbers and fields that cannot exist, so that nothing changes.
 * XADD gets a number that is none, and its good answer is an error about that. */
#define RIGHTS                                                                                     \
    "local function refusal(w)\n"                                                                  \
    "  local names, done, results, dead, beats = s .. ':names', s .. ':done', s .. ':results', s " \
    ".. ':dead', s .. ':beats'\n"                                                                  \
    "  for _, c in ipairs({{'TIME'}, {'XLEN', s}, {'XLEN', results}, {'XLEN', dead}, {'HGET', "    \
    "names, ''}, {'HGET', done, ''}, {'HDEL', names, ''}, {'HDEL', done, ''}, {'HMGET', beats, "   \
    "'last'}, {'HGETALL', s .. ':workers'}, {'XADD', results, 'x', 'a', 'b'}, {'XADD', dead, "     \
    "'x', 'a', 'b'}, {'XRANGE', s, '0-1', '0-1'}, {'XPENDING', s, g}, {'XREADGROUP', 'GROUP', g, " \
    "w, 'STREAMS', s, '18446744073709551615-0'}, {'XCLAIM', s, g, w, 0, '0-1', 'JUSTID'}, "        \
    "{'XACK', s, g, '0-1'}, {'XDEL', s, '0-1'}, {'XGROUP', 'DELCONSUMER', s, g, '(nobody)'}, "     \
    "{'HSET', beats, 'rights', '1'}}) do\n"                                                        \
    "    local e = redis.pcall(unpack(c))\n"                                                       \
    "    local why = type(e) == 'table' and e.err\n"                                               \
    "    if why and not why:find('stream ID') then\n"                                              \
    "      local code = (why:find('NOPERM') or why:find(\"can't\")) and 'NOPERM' or "              \
    "why:match('^%u+') or 'ERR'\n"                                                                 \
    "      return {err = code .. ' ' .. table.concat(c, ' ', 1, math.min(2, #c)) .. ': ' .. "      \
    "why}\n"                                                                                       \
    "    end\n"                                                                                    \
    "  end\n"                                                                                      \
    "end\n"

/* Tickets of a consumer that somebody has deleted belong to nobody, and are not new. They are given
 * back, up to `most`. Called when no ticket is new. */
#define ADOPT                                                                                      \
    "local function adopt(most)\n"                                                                 \
    "  local from, found, page = '-', 0\n"                                                         \
    "  if call('XLEN', s) <= call('XPENDING', s, g)[1] then return end\n"                          \
    "  repeat\n"                                                                                   \
    "    page = call('XRANGE', s, from, '+', 'COUNT', 16)\n"                                       \
    "    for _, e in ipairs(page) do\n"                                                            \
    "      if not owner(e[1]) then\n"                                                              \
    "        call('XCLAIM', s, g, back, 0, e[1], 'IDLE', 1000000000, 'RETRYCOUNT', 0, 'FORCE', "   \
    "'JUSTID')\n"                                                                                  \
    "        found = found + 1\n"                                                                  \
    "      end\n"                                                                                  \
    "      from = '(' .. e[1]\n"                                                                   \
    "    end\n"                                                                                    \
    "  until #page < 16 or found >= most\n"                                                        \
    "end\n"

static const char *const scripts[ICS_QUEUE_SCRIPTS] = {
    [ICS_QUEUE_PUT] = BEGINNING "local there = call('HGET', s .. ':names', ARGV[1])\n"
                                "if there then return there == ARGV[2] and 'same' or there end\n"
                                "local id = call('XADD', s, '*', unpack(ARGV, 3))\n"
                                "local e = redis.pcall('HSET', s .. ':names', ARGV[1], ARGV[2])\n"
                                "if type(e) == 'table' then call('XDEL', s, id) return e end\n"
                                "return 'new'",
    [ICS_QUEUE_JOIN] = BEGINNING RIGHTS
    "local no = refusal(ARGV[1])\n"
    "if no then return no end\n"
    "local there = call('HGET', s .. ':workers', ARGV[1])\n"
    "local time, lease, nonce = (there or ''):match('^(%d+) (%d+) (%S+)')\n"
    "if time and nonce ~= ARGV[2] and math.abs(now() - time) < tonumber(lease) then return 0 end\n"
    "beat(unpack(ARGV))\n"
    "return 1",
    [ICS_QUEUE_TAKE] = BEGINNING REDATE GRACE ADOPT
    "local w, most, lease, out, wait = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), {}, 0\n"
    "local looks = ARGV[4] == '1'\n"
    "local function expired(...) return call('XPENDING', s, g, 'IDLE', lease, '-', '+', ...) end\n"
    "local function claim(tickets)\n"
    "  for _, p in ipairs(tickets) do\n"
    "    local e = call('XCLAIM', s, g, w, lease, p[1])\n"
    "    if e[1] then out[#out + 1] = {p[1], p[4] + 1, e[1][2]} end\n"
    "  end\n"
    "end\n"
    "if looks then\n"
    "  redate()\n"
    "  wait = grace(lease)\n"
    "end\n"
    "claim(looks and wait == 0 and expired(most) or expired(most, back))\n"
    "if #out < most then\n"
    "  local r = call('XREADGROUP', 'GROUP', g, w, 'COUNT', most - #out, 'STREAMS', s, '>')\n"
    "  if r then for _, e in ipairs(r[1][2]) do out[#out + 1] = {e[1], 1, e[2]} end end\n"
    "end\n"
    "if looks and #out < most then\n"
    "  adopt(most - #out)\n"
    "  claim(expired(most - #out, back))\n"
    "end\n"
    "if #out == 0 and wait > 0 and expired(1)[1] then return wait end\n"
    "return out",
    [ICS_QUEUE_EXTEND] = BEGINNING "local lost = {}\n"
                                   "beat(unpack(ARGV, 1, 4))\n"
                                   "for i = 5, #ARGV do\n"
                                   "  if owner(ARGV[i]) == ARGV[1] then\n"
                                   "    call('XCLAIM', s, g, ARGV[1], 0, ARGV[i], 'JUSTID')\n"
                                   "  else lost[#lost + 1] = ARGV[i] end\n"
                                   "end\n"
                                   "return lost",
    [ICS_QUEUE_DONE] = BEGINNING
    "local id, mine = ARGV[2], ARGV[3] .. ' ' .. ARGV[1]\n"
    "local there = call('HGET', s .. ':done', id)\n"
    "if not there then\n"
    "  if not call('XRANGE', s, id, id)[1] then return 'dead' end\n"
    "  call('XADD', s .. ':results', '*', 'ticket', id, 'worker', ARGV[1], unpack(ARGV, 4))\n"
    "  call('HSET', s .. ':done', id, mine)\n"
    "end\n"
    "call('HDEL', s .. ':declined', id)\n"
    "call('XACK', s, g, id)\n"
    "call('XDEL', s, id)\n"
    "return (not there or there == mine) and 'done' or there",
    [ICS_QUEUE_DEAD] = BEGINNING
    "local id = ARGV[2]\n"
    "local e = call('XRANGE', s, id, id)[1]\n"
    "if not e then return call('HGET', s .. ':done', id) and 0 or 1 end\n"
    "local f = {'ticket', id, 'worker', ARGV[1], 'attempts', ARGV[3], 'reason', ARGV[4]}\n"
    "for i = 1, math.min(#e[2], 200) do f[#f + 1] = e[2][i] end\n"
    "call('XADD', s .. ':dead', '*', unpack(f))\n"
    "for i = 9, #f, 2 do\n"
    "  if f[i] == 'name' then call('HDEL', s .. ':names', f[i + 1]) end\n"
    "end\n"
    "call('HDEL', s .. ':declined', id)\n"
    "call('XACK', s, g, id)\n"
    "call('XDEL', s, id)\n"
    "return 1",
    [ICS_QUEUE_GIVE_BACK] = BEGINNING
    "if owner(ARGV[2]) ~= ARGV[1] then return 0 end\n"
    "call('XCLAIM', s, g, back, 0, ARGV[2], 'IDLE', ARGV[4], 'RETRYCOUNT', ARGV[3], 'JUSTID')\n"
    "return 1",
    /* The names of workers have no slash. */
    [ICS_QUEUE_DECLINE] =
        BEGINNING "local w, id, most = ARGV[1], ARGV[2], tonumber(ARGV[4])\n"
                  "if owner(id) ~= w then return 0 end\n"
                  "local names = call('HGET', s .. ':declined', id) or '/'\n"
                  "if most > 0 and not names:find('/' .. w .. '/', 1, true) then\n"
                  "  names = names .. w .. '/'\n"
                  "  call('HSET', s .. ':declined', id, names)\n"
                  "end\n"
                  "local _, count = names:gsub('/', '')\n"
                  "if most == 0 or count - 1 < most then\n"
                  "  call('XCLAIM', s, g, back, 0, id, 'RETRYCOUNT', ARGV[3], 'JUSTID')\n"
                  "end\n"
                  "return count - 1",
    [ICS_QUEUE_WAITING] = BEGINNING
    "local p, waiting = call('XPENDING', s, g), 0\n"
    "for _, c in ipairs(p[4] or {}) do if c[1] == back then waiting = tonumber(c[2]) end end\n"
    "return call('XLEN', s) - p[1] + waiting",
    [ICS_QUEUE_LEAVE] = BEGINNING "local there = call('HGET', s .. ':workers', ARGV[1])\n"
                                  "if there and there:match('^%d+ %d+ (%S+)') == ARGV[2] then\n"
                                  "  call('HDEL', s .. ':workers', ARGV[1])\n"
                                  "end\n"
                                  "if not call('XPENDING', s, g, '-', '+', 1, ARGV[1])[1] then\n"
                                  "  call('XGROUP', 'DELCONSUMER', s, g, ARGV[1])\n"
                                  "end\n"
                                  "return 1",
    [ICS_QUEUE_LIST] =
        BEGINNING "local out = {}\n"
                  "for _, e in ipairs(call('XRANGE', s, ARGV[1], '+', 'COUNT', 100)) do\n"
                  "  local name = ''\n"
                  "  for i = 1, #e[2], 2 do if e[2][i] == 'name' then name = e[2][i + 1] end end\n"
                  "  out[#out + 1] = {e[1], name}\n"
                  "end\n"
                  "return out",
    /* Texts of tickets come from outside, and JSON has UTF-8 only: bytes that are not printable
     * ASCII, and %, become %XX. */
    [ICS_QUEUE_LOOK] = BEGINNING
    "local t, p, owned = now(), redis.pcall('XPENDING', s, g), {}\n"
    "local pending, waiting = p.err and 0 or p[1], call('XLEN', s)\n"
    "local function code(c) return ('%%%02x'):format(c:byte()) end\n"
    "local function clean(v) return ((v or ''):sub(1, 400):gsub('[^\\32-\\36\\38-\\126]', code)) "
    "end\n"
    "local function field(f, name)\n"
    "  for i = 1, #f, 2 do if f[i] == name then return clean(f[i + 1]) end end return ''\n"
    "end\n"
    "for _, c in ipairs(not p.err and p[4] or {}) do owned[c[1]] = tonumber(c[2]) end\n"
    "pending = pending - (owned[back] or 0)\n"
    "owned[back] = nil\n"
    "local out = {waiting = waiting - pending, in_work = pending, done = call('HLEN', s .. "
    "':done'), dead = call('XLEN', s .. ':dead'), oldest_s = cjson.null, workers = {}, "
    "failures = {}}\n"
    "local first = call('XRANGE', s, '-', '+', 'COUNT', 1)[1]\n"
    "if first then out.oldest_s = (t - first[1]:match('^%d+')) / 1000 end\n"
    "local n, since = 0, t - 60000\n"
    "for _, e in ipairs(call('XREVRANGE', s .. ':results', '+', since, 'COUNT', 1000)) do\n"
    "  n = n + 1\n"
    "  if n == 1000 then since = tonumber(e[1]:match('^%d+')) end\n"
    "end\n"
    "out.rate_per_s = n / math.max((t - since) / 1000, 0.001)\n"
    "local w = call('HGETALL', s .. ':workers')\n"
    "for i = 1, #w, 2 do\n"
    "  local time, lease, _, host, pid, start, space = w[i + 1]:match('^(%d+) (%d+) (%S+) (%S+) "
    "(%d+) ?(%d*) ?(.*)')\n"
    "  if time then\n"
    "    out.workers[#out.workers + 1] = {worker = clean(w[i]), host = clean(host), pid = "
    "tonumber(pid), start = tonumber(start) or 0, space = clean(space), heartbeat_s = (t - time) / "
    "1000, in_work = owned[w[i]] or 0, state = t - time "
    "< tonumber(lease) and 'alive' or 'lost'}\n"
    "    owned[w[i]] = nil\n"
    "  end\n"
    "end\n"
    "for name, number in pairs(owned) do\n"
    "  out.workers[#out.workers + 1] = {worker = clean(name), host = '', pid = 0, heartbeat_s = "
    "cjson.null, in_work = number, state = 'ended'}\n"
    "end\n"
    "table.sort(out.workers, function(a, b) return a.worker < b.worker end)\n"
    "for _, e in ipairs(call('XREVRANGE', s .. ':dead', '+', '-', 'COUNT', 10)) do\n"
    "  out.failures[#out.failures + 1] = {name = field(e[2], 'name'), worker = field(e[2], "
    "'worker'), attempts = tonumber(field(e[2], 'attempts')) or 0, reason = field(e[2], "
    "'reason')}\n"
    "end\n"
    "return cjson.encode(out)",
};

void ics_queue_script_begin(ics_queue_script script, const ics_queue_address *address,
                            ics_queue_command *out)
{
    out->count = 0;
    ics_queue_command_add(out, "EVAL");
    ics_queue_command_add(out, scripts[script]);
    ics_queue_command_add(out, "1");
    ics_queue_command_add(out, address->stream);
}

int ics_queue_make_group(ics_queue_link *link, icestream_error *error)
{
    static const char *const words[] = {"XGROUP", "CREATE", NULL, "icestream", "0", "MKSTREAM"};
    ics_queue_command command = {.count = 0};
    icestream_error why = {.status = ICESTREAM_OK};
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        ics_queue_command_add(&command,
                              words[i] != NULL ? words[i] : ics_queue_link_address(link)->stream);
    }
    const int status = ics_queue_link_call(link, &command, &reply, &why);
    return status == ICESTREAM_OK || strstr(why.text, "BUSYGROUP") != NULL
               ? ICESTREAM_OK
               : ics_error_copy(error, &why);
}
