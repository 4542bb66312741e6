import { describe, expect, it } from 'vitest'
import { readCrontab } from './read-crontab.ts'

const read = (text: string, options = {}) => readCrontab(text, { timezone: 'UTC', hasUsers: false, ...options })
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
      targetUrl: 'https://example.com/ping?a=1&b=2',
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
      targetUrl: 'https://example.com/a?b=1&c=2',
      method: 'GET',
      cron: '0 9 * * 1-5',
      timeoutMs: 10_000,
      retry: { maxRetries: 3 },
    })
  })

  it('a JSON body, a method, headers, and an escaped percent sign', () => {
    const line = String.raw`0 0 1 * * curl -sXPUT -H 'Content-Type: application/json' -H"X-Key: a b" -d '{"share":"50\%","n":12345678901234567890}' https://example.com`
    expect(only(line)).toMatchObject({
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', 'X-Key': 'a b' },
      payload: '{"share":"50%","n":12345678901234567890}',
    })
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
    expect([job.method, headers['content-type'], job.payload]).toEqual([method, type, JSON.stringify(text)])
  })

  it('--json, -G, a user and credentials in the URL', () => {
    expect(only(`@daily curl --json '{"a":1}' https://example.com`)).toMatchObject({
      cron: '0 0 * * *',
      payload: '{"a":1}',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    })
    expect(only('@hourly curl -G -d a=1 -d b=2 https://example.com/x?y=0')).toMatchObject({
      cron: '0 * * * *',
      method: 'GET',
      targetUrl: 'https://example.com/x?y=0&a=1&b=2',
    })
    const authorization = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`
    expect(only('@weekly curl -u ada:p@ss https://example.com')).toMatchObject({
      cron: '0 0 * * 0',
      headers: { Authorization: authorization },
      notes: [expect.stringContaining('visible Authorization header')],
    })
    expect(only('@monthly curl https://ada:p%40ss@example.com/'.replace('%', '\\%'))).toMatchObject({
      targetUrl: 'https://example.com/',
      headers: { Authorization: authorization },
    })
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
          targetUrl: 'https://example.com/s3cret',
          headers: { Authorization: 'Bearer s3cret' },
        },
      },
    ])
  })

  it('a system crontab, whose sixth field is a user', () => {
    expect(read('17 * * * * root curl https://example.com', { hasUsers: true })).toMatchObject([
      { job: { targetUrl: 'https://example.com', cron: '17 * * * *' } },
    ])
  })

  it('with a note about each difference', () => {
    const { notes, targetUrl } = only('0 0 * * * curl -Lk4 --connect-timeout 5 example.com')
    expect(targetUrl).toBe('http://example.com')
    expect(notes).toHaveLength(5)
  })
})

describe('refuses with a reason', () => {
  it.each([
    ['@reboot curl https://example.com', /is not supported/],
    ['@fortnightly curl https://example.com', /not a known name/],
    ['0 0 * * * /usr/local/bin/backup.sh', /runs \/usr\/local\/bin\/backup.sh/],
    ['0 0 * * * root curl https://example.com', /add --users/],
    ['0 0 * * * wget -q https://example.com', /runs wget/],
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
    ['0 0 * * * curl -I https://example.com', /method HEAD/],
    ['0 0 * * * curl https://a.example.com https://b.example.com', /several URLs/],
    ['0 0 * * * curl "https://example.com/{a,b}"', /brackets/],
    ['0 0 * * * curl', /no URL/],
    ['0 0 * * * curl -m 900 https://example.com', /between 1 and 300/],
    ['0 0 * * * curl ftp://example.com', /start with http/],
    ["0 0 * * * curl -H 'Content-Type: application/json' -d 'a=1' https://example.com", /not JSON/],
    ["0 0 * * * curl -H 'Host: example.org' https://example.com", /The header Host is refused/],
    ['61 0 * * * https://example.com', /minute/],
    ['0 0 * * curl https://example.com', /cron is not valid|five fields/],
    ['CRON_TZ=Mars/Olympus', /not a time zone/],
    ['hello', /five fields and a command/],
  ])('%s', (line, reason) => {
    expect(refusal(line)).toMatch(reason)
  })

  it('with the line, and continues with the others', () => {
    const entries = read('# a\n\n0 0 * * * ls\r\n0 0 * * * https://example.com\n')
    expect(entries).toMatchObject(
      [{ place: 'line 3', refusal: /runs ls/ }, { place: 'line 4' }].map(one => ({ place: one.place })),
    )
  })
})
