import { ExactNumber } from '@belfry/client'
import { describe, expect, it } from 'vitest'
import { readQstash } from './read-qstash.ts'

const schedule = {
  createdAt: 1_700_000_000_000,
  scheduleId: 'scd_1',
  cron: '0 9 * * 1-5',
  destination: 'https://example.com/report',
  method: 'POST',
  callerIP: '192.0.2.7',
  isPaused: false,
}
const read = (...schedules: object[]) => readQstash(JSON.stringify(schedules))

describe('takes', () => {
  it('a plain schedule', () => {
    expect(read(schedule)).toEqual([
      {
        place: 'scd_1',
        isPaused: false,
        notes: [],
        body: expect.objectContaining({ url: 'https://example.com/report' }),
        job: {
          name: 'POST example.com/report (scd_1)',
          url: 'https://example.com/report',
          method: 'POST',
          cron: '0 9 * * 1-5',
          timezone: 'UTC',
        },
      },
    ])
  })

  it('a schedule with every setting', () => {
    const [entry] = read({
      ...schedule,
      cron: 'CRON_TZ=Europe/Berlin  0  9 * * 1',
      header: {
        'Content-Type': ['application/json'],
        'X-Own': ['a', 'b'],
        'Upstash-Signature': ['gone'],
        'User-Agent': ['gone'],
      },
      body: '{"n":12345678901234567890}',
      retries: 3,
      timeout: 45,
      label: 'report',
      isPaused: true,
    })
    expect(entry).toMatchObject({
      isPaused: true,
      job: {
        name: 'report (scd_1)',
        timezone: 'Europe/Berlin',
        cron: '0 9 * * 1',
        headers: { 'Content-Type': 'application/json', 'X-Own': 'a, b' },
        payload: { n: new ExactNumber('12345678901234567890') },
        retry: { max_retries: 3 },
        timeout_ms: 45_000,
      },
    })
  })

  it('a body in base64 and one of plain text', () => {
    const body = { bodyBase64: Buffer.from('{"größe":1}').toString('base64') }
    expect(read({ ...schedule, ...body })).toMatchObject([{ job: { payload: { größe: 1 } } }])
    const plain = { body: 'hello', header: { 'content-type': ['text/plain'] } }
    expect(read({ ...schedule, ...plain })).toMatchObject([{ job: { payload: 'hello' } }])
  })

  it('a single schedule, and a list inside of an object', () => {
    expect(readQstash(JSON.stringify(schedule))).toHaveLength(1)
    expect(readQstash(JSON.stringify({ schedules: [schedule, schedule] }))).toHaveLength(2)
    expect(readQstash('[]')).toEqual([])
  })

  it('the delays between retries, as a list', () => {
    const delays = { retries: 3, retryDelayExpression: 'pow(2, retried) * 1000' }
    expect(read({ ...schedule, ...delays })).toMatchObject([
      { job: { retry: { delays_ms: [1000, 2000, 4000] } }, notes: [] },
    ])
    expect(read({ ...schedule, ...delays, retries: 0 })).toMatchObject([{ job: { retry: { max_retries: 0 } } }])
  })

  it('with a note about each setting that is not imported', () => {
    const more = {
      callback: 'https://a',
      delay: 10,
      parallelism: 1,
      retries: 50,
      timeout: '1200s',
    }
    const [entry] = read({ ...schedule, ...more })
    expect(entry).toMatchObject({ job: { retry: { max_retries: 20 }, timeout_ms: 900_000 } })
    expect(entry && 'notes' in entry ? entry.notes : []).toHaveLength(5)
  })
})

describe('refuses with a reason', () => {
  it.each([
    [{ destination: 'my-url-group' }, /not a URL/],
    [{ cron: '* * * * * *' }, /exactly 5 fields/],
    [{ cron: 'CRON_TZ=Mars/Olympus * * * * *' }, /timezone must be a time zone name/],
    [{ method: 'HEAD' }, /method must be one of/],
    [{ bodyBase64: '/////w==' }, /not text/],
    [{ body: 'a=1' }, /not JSON/],
    [{ retries: 1, retryDelayExpression: 'now()' }, /"now"/],
  ])('%j', (change, reason) => {
    expect(read({ ...schedule, ...change })).toEqual([{ place: 'scd_1', refusal: expect.stringMatching(reason) }])
  })

  it('another file', () => {
    expect(() => readQstash('<html>')).toThrow(/not JSON/)
    expect(() => readQstash('[1]')).toThrow(/not a list of schedules/)
  })
})
