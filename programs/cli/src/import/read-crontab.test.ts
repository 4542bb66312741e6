import { stringifyJson } from '@belfry/client'
import { describe, expect, it } from 'vitest'
import { readCrontab } from './read-crontab.ts'

const read = (text: string, options = {}) => readCrontab(text, { timezone: 'UTC', ...options })
const only = (line: string) => {
  const [entry] = read(line)
  if (!entry || !('job' in entry)) throw new Error(entry ? entry.refusal : 'There is no entry.')
  return { ...entry.job, notes: entry.notes }
}
const refusal = (line: string) => {
  const [entry] = read(line)
  return entry && 'refusal' in entry ? entry.refusal : 'It was taken.'
}

describe('takes', () => {
  it('a bare URL', () => {
    expect(only('*/5 * * * * https://example.com/ping?a=1&b=2')).toEqual({
      name: 'GET example.com/ping?a=1&b=2',
      url: 'https://example.com/ping?a=1&b=2',
      method: 'GET',
      cron: '*/5 * * * *',
      timezone: 'UTC',
      notes: [],
    })
  })

  it('typical curl commands of crontabs', () => {
    expect(
      only(
        `0 9 * * 1-5 /usr/bin/curl -fsS -m 10 --retry 3 -o /dev/null 'https://example.com/a?b=1&c=2' > /dev/null 2>&1`,
      ),
    ).toMatchObject({
      url: 'https://example.com/a?b=1&c=2',
      method: 'GET',
      cron: '0 9 * * 1-5',
      timeout_ms: 10_000,
      retry: { max_retries: 3 },
    })
  })

  it('a JSON body, a method, headers, and an escaped percent sign', () => {
    const line = String.raw`0 0 1 * * curl -sXPUT -H 'Content-Type: application/json' -H"X-Key: a b" -d '{"share":"50\%","n":12345678901234567890}' https://example.com`
    expect(only(line)).toMatchObject({
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', 'X-Key': 'a b' },
    })
    expect(stringifyJson(only(line).payload)).toBe('{"share":"50%","n":12345678901234567890}')
  })

  it.each([
    ['-d a=1 -d b=2', 'POST', 'application/x-www-form-urlencoded', 'a=1&b=2'],
    ["--data-raw '@home'", 'POST', 'application/x-www-form-urlencoded', '@home'],
    ["--data-urlencode 'q=a b&c'", 'POST', 'application/x-www-form-urlencoded', 'q=a%20b%26c'],
    ["-H 'content-type: text/plain' --data-binary 'hello there'", 'POST', 'text/plain', 'hello there'],
    ["-X DELETE -d ''", 'DELETE', 'application/x-www-form-urlencoded', ''],
  ])('%s', (args, method, type, text) => {
    const job = only(`0 0 * * * curl ${args.replaceAll('%', '\\%')} https://example.com`)
    const headers = Object.fromEntries(
      Object.entries(job.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    )
    expect([job.method, headers['content-type'], job.payload]).toEqual([method, type, text])
  })

  it('--json, -G, a user and credentials in the URL', () => {
    expect(only(`@daily curl --json '{"a":1}' https://example.com`)).toMatchObject({
      cron: '0 0 * * *',
      payload: { a: 1 },
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    })
    expect(only('@hourly curl -G -d a=1 -d b=2 https://example.com/x?y=0')).toMatchObject({
      cron: '0 * * * *',
      method: 'GET',
      url: 'https://example.com/x?y=0&a=1&b=2',
    })
    const authorization = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`
    expect(only('@weekly curl -u ada:p@ss https://example.com')).toMatchObject({
      cron: '0 0 * * 0',
      headers: { Authorization: authorization },
      notes: [expect.stringContaining('user:password in base64')],
    })
    expect(only('@monthly curl https://ada:p%40ss@example.com/'.replace('%', '\\%'))).toMatchObject({
      url: 'https://example.com/',
      headers: { Authorization: authorization },
    })
  })

  it.each([
    ['wget -q -O /dev/null https://example.com/a', {}],
    ['/usr/bin/wget -qO- --tries=1 "https://example.com/a" >/dev/null 2>&1', { retry: { max_retries: 0 } }],
    ['wget -nv --spider -T10 -t 3 https://example.com/a', { timeout_ms: 10_000, retry: { max_retries: 2 } }],
    ['wget --timeout=0 -t0 https://example.com/a', { retry: { max_retries: 20 } }],
    [
      "wget --no-check-certificate -U agent --header='X-Key: a b' --post-data 'a=@b' https://example.com/a",
      {
        method: 'POST',
        headers: { 'User-Agent': 'agent', 'X-Key': 'a b', 'Content-Type': 'application/x-www-form-urlencoded' },
        payload: 'a=@b',
      },
    ],
    [
      'wget --method=PUT --user=ada --password=p@ss https://example.com/a',
      { method: 'PUT', headers: { Authorization: `Basic ${Buffer.from('ada:p@ss').toString('base64')}` } },
    ],
  ])('%s', (command, fields) => {
    const { notes, ...job } = only(`0 0 * * * ${command}`)
    const method = 'method' in fields ? fields.method : 'GET'
    const request = { name: `${method} example.com/a`, url: 'https://example.com/a', method }
    expect(job).toEqual({ ...request, cron: '0 0 * * *', timezone: 'UTC', ...fields })
    expect(notes).toContain('redirects are not followed: they count as failures')
  })

  it.each([
    ['curl https://example.com/a # nightly', {}],
    ['curl "https://example.com/a#b"  #', {}],
    ['curl https://example.com/a#b # 50% of them', {}],
    ["curl -d 'a #b' https://example.com/a;", { payload: 'a #b' }],
    ["curl -d a\\#b https://example.com/a & # it's slow", { payload: 'a#b' }],
    ['curl https://example.com/a </dev/null >/dev/null 2>&1 &', {}],
    ['https://example.com/a # no curl', {}],
    ['TZ=UTC LANG="C" curl https://example.com/a', {}],
    ['nice curl https://example.com/a', {}],
    ['/usr/bin/nice -n 19 ionice -c3 nohup curl -s https://example.com/a', {}],
    ['nice -19 env -u HOME A=b chronic curl https://example.com/a', {}],
    ['timeout 50 curl https://example.com/a', { timeout_ms: 50_000 }],
    ['timeout -k 5 -s KILL 1.5m curl -m 20 https://example.com/a', { timeout_ms: 20_000 }],
    ['timeout --kill-after=5 10s curl -m 20 https://example.com/a', { timeout_ms: 10_000 }],
    ['timeout 0 curl https://example.com/a', {}],
    ['flock -n /var/lock/report curl https://example.com/a', { overlap: 'skip' }],
    ['flock -xnE 0 /var/lock/report timeout 50 curl https://example.com/a', { overlap: 'skip', timeout_ms: 50_000 }],
    ["flock -n /var/lock/report -c 'curl -m 9 https://example.com/a'", { overlap: 'skip', timeout_ms: 9_000 }],
    ['bash -lc "A=b curl -m 9 https://example.com/a >/dev/null"', { timeout_ms: 9_000 }],
  ])('what shells and other programs do around a call: %s', (command, fields) => {
    const { url, ...job } = only(`0 0 * * * ${command}`)
    const { name, method, cron, timezone, headers, notes, ...rest } = job
    expect(url).toBe('https://example.com/a')
    expect(rest).toEqual(fields)
  })

  it('flock and a proxy, with a note', () => {
    const notes = (command: string) => only(`0 0 * * * ${command} https://example.com`).notes
    expect(notes('flock -n lock curl')).toEqual(['flock becomes overlap: skip, of this cron job alone'])
    expect(notes('flock -w 10 lock curl')).toEqual([expect.stringMatching(/alone; it waits where Belfry skips$/)])
    expect(notes('https_proxy=http://proxy curl')).toEqual(['calls do not go through the proxy of https_proxy'])
  })

  it('TZ, with a note: it does not apply to the times of a crontab', () => {
    const line = '0 1 * * * https://example.com/1'
    const [entry] = read(`TZ=America/New_York\n${line}`)
    expect(entry).toMatchObject({ job: { timezone: 'UTC' }, notes: [expect.stringContaining('mean CRON_TZ?')] })
    const [both] = read(`TZ=America/New_York\nCRON_TZ=Asia/Tokyo\n${line}`)
    expect(both).toMatchObject({ job: { timezone: 'Asia/Tokyo' }, notes: [] })
  })

  it('the days of Debian’s cron, with a note', () => {
    const { cron, notes } = only('0 0 */1 * mon-fri https://example.com')
    expect([cron, notes]).toEqual(['0 0 * * mon-fri', [expect.stringContaining('0 0 */1 * mon-fri would mean either')]])
  })

  it('CRON_TZ for the following lines, and variables of the file', () => {
    const entries = read(`# the night
SHELL=/bin/sh
TOKEN="s3cret"
0 1 * * * https://example.com/1
CRON_TZ=Europe/Berlin
0 2 * * * curl -H "Authorization: Bearer $TOKEN" https://example.com/\${TOKEN}
`)
    expect(entries).toMatchObject([
      { place: 'line 4', job: { timezone: 'UTC' } },
      {
        place: 'line 6',
        job: {
          timezone: 'Europe/Berlin',
          url: 'https://example.com/s3cret',
          headers: { Authorization: 'Bearer s3cret' },
        },
      },
    ])
  })

  it('a system crontab, whose sixth field is a user', () => {
    expect(read('17 * * * * root curl https://example.com', { users: true })).toMatchObject([
      { job: { url: 'https://example.com', cron: '17 * * * *' } },
    ])
  })

  it('with a note about each difference', () => {
    const { notes, url } = only('0 0 * * * curl -Lk4 --connect-timeout 5 example.com')
    expect(url).toBe('http://example.com')
    expect(notes).toHaveLength(5)
  })
})

describe('refuses with a reason', () => {
  it.each([
    ['@reboot curl https://example.com', /is not supported/],
    ['@fortnightly curl https://example.com', /not a known name/],
    ['0 0 * * * /usr/local/bin/backup.sh', /runs \/usr\/local\/bin\/backup.sh/],
    ['0 0 * * * root curl https://example.com', /add --users/],
    ['0 0 * * * wget -i urls.txt', /option -i of wget/],
    ['0 0 * * * wget --post-file=a https://example.com', /option --post-file of wget/],
    ['0 0 * * * wget -T 901 https://example.com', /timeout_ms must be at most 900000/],
    ['0 0 * * * root wget https://example.com', /add --users/],
    ['0 0 * * * flock -n /var/lock/report backup.sh', /runs backup.sh/],
    ['0 0 * * * timeout soon curl https://example.com', /timeout soon is not a duration/],
    ['0 0 * * * timeout 1h curl https://example.com', /timeout_ms must be at most 900000/],
    ['0 0 * * * A=b', /runs nothing/],
    ['0 0 * * * curl https://example.com; curl https://example.com;', /more than one command/],
    ['0 0 */2 * 1 curl https://example.com', /match both \*\/2 and 1.* cannot say that/],
    ['0 0 * * * curl https://example.com | mail -s x ada@example.com', /another program/],
    ['0 0 * * * curl https://example.com && touch /var/run/done', /more than one command/],
    ['0 0 * * * curl https://example.com?a=1&b=2', /quote the URL/],
    ['0 0 * * * curl "https://example.com/$(date +x)"', /runs another command/],
    ['0 0 * * * curl https://example.com/`hostname`', /runs another command/],
    ['0 0 * * * curl "https://example.com/$HOSTNAME"', /\$HOSTNAME, which the file does not set/],
    ['0 0 * * * curl https://example.com/%d', /ends the command/],
    ['0 0 * * * curl -d @/etc/passwd https://example.com', /from a file/],
    ['0 0 * * * curl -F a=@b https://example.com', /option -F of curl/],
    ['0 0 * * * curl --proxy http://p https://example.com', /option --proxy of curl/],
    ['0 0 * * * curl -I https://example.com', /method must be one of GET, POST, PUT, PATCH, DELETE/],
    ['0 0 * * * curl https://a.example.com https://b.example.com', /several URLs/],
    ['0 0 * * * curl "https://example.com/{a,b}"', /brackets/],
    ['0 0 * * * curl', /no URL/],
    ['0 0 * * * curl -m 901 https://example.com', /timeout_ms must be at most 900000/],
    ['0 0 * * * curl ftp://example.com', /start with http/],
    ["0 0 * * * curl -H 'Content-Type: application/json' -d 'a=1' https://example.com", /not JSON/],
    ["0 0 * * * curl -H 'Host: example.org' https://example.com", /headers.Host: This header is set by Belfry/],
    ['61 0 * * * https://example.com', /minute/],
    ['0 0 * * curl https://example.com', /cron is not valid|five fields/],
    ['CRON_TZ=Mars/Olympus', /not a time zone/],
    ['hello', /five fields and a command/],
  ])('%s', (line, reason) => {
    expect(refusal(line)).toMatch(reason)
  })

  it('what follows a time zone that is none, up to the next one', () => {
    const line = '0 1 * * * https://example.com'
    const entries = read(`CRON_TZ=CET-1CEST\n${line}\nA=b\n${line}\nCRON_TZ=Asia/Tokyo\n${line}`)
    expect(entries).toMatchObject([
      { place: 'line 1', refusal: expect.stringContaining('not a time zone') },
      { place: 'line 2', refusal: 'Its time zone, CRON_TZ=CET-1CEST, is unknown.' },
      { place: 'line 4', refusal: 'Its time zone, CRON_TZ=CET-1CEST, is unknown.' },
      { place: 'line 6', job: { timezone: 'Asia/Tokyo' } },
    ])
  })

  it('with the line, and continues with the others', () => {
    const entries = read('# a\n\n0 0 * * * ls\r\n0 0 * * * https://example.com\n')
    expect(entries).toMatchObject(
      [{ place: 'line 3', refusal: /runs ls/ }, { place: 'line 4' }].map(one => ({ place: one.place })),
    )
  })
})
