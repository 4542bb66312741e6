import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseInput } from './field-errors.ts'
import { createTaskBody, listDeadLettersQuery, listTasksQuery, updateTaskBody } from './task.ts'

const minimal = { name: 'Remind', url: 'https://example.com/hook', method: 'POST', execute_at: '2099-12-31T23:59:59Z' }

function errorsOf(schema: z.ZodType, value: unknown): Record<string, string> {
  const result = parseInput(schema, value)
  return result.ok ? {} : Object.fromEntries(result.errors.map(({ path, code }) => [path, code]))
}

describe('createTaskBody', () => {
  it('needs a name, a URL, a method and a time, and has a default for the rest', () => {
    expect(parseInput(createTaskBody, minimal)).toEqual({
      ok: true,
      value: {
        ...minimal,
        execute_at: new Date('2099-12-31T23:59:59Z'),
        headers: {},
        retry: { max_retries: 5, backoff: 'exponential', base_delay_ms: 10_000, max_delay_ms: 3_600_000 },
        timeout_ms: 30_000,
        on_success: null,
        on_failure: null,
        on_attempt: null,
      },
    })
    expect(errorsOf(createTaskBody, {})).toEqual({
      name: 'required',
      url: 'required',
      method: 'required',
      execute_at: 'required',
    })
  })

  it('points to publish events when execute_at is missing', () => {
    const { execute_at: _, ...rest } = minimal
    const result = parseInput(createTaskBody, rest)
    expect(result).toMatchObject({ ok: false, errors: [{ path: 'execute_at', code: 'required' }] })
    expect(result.ok ? '' : result.errors[0]?.message).toContain('POST /api/events')
  })

  it('leaves the decision about a past time to the database', () => {
    expect(errorsOf(createTaskBody, { ...minimal, execute_at: '2001-01-01T00:00:00Z' })).toEqual({})
  })

  it('applies the defaults of omitted retry fields', () => {
    const result = parseInput(createTaskBody, { ...minimal, retry: { max_retries: 0, backoff: 'fixed' } })
    expect(result).toMatchObject({
      value: { retry: { max_retries: 0, backoff: 'fixed', base_delay_ms: 10_000, max_delay_ms: 3_600_000 } },
    })
  })

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('allows the method %s', method => {
    expect(errorsOf(createTaskBody, { ...minimal, method })).toEqual({})
  })

  it.each([null, 0, false, '', [], {}, { deep: [{}] }])('allows the payload %j', payload => {
    expect(errorsOf(createTaskBody, { ...minimal, payload })).toEqual({})
  })

  it('allows the limits themselves', () => {
    const retry = { max_retries: 20, backoff: 'linear', base_delay_ms: 3_600_000, max_delay_ms: 86_400_000 }
    expect(errorsOf(createTaskBody, { ...minimal, retry, timeout_ms: 900_000 })).toEqual({})
    const smallest = { max_retries: 0, base_delay_ms: 1_000, max_delay_ms: 1_000 }
    expect(errorsOf(createTaskBody, { ...minimal, retry: smallest, timeout_ms: 1_000 })).toEqual({})
  })

  it.each([
    [{ name: '' }, { name: 'too_short' }],
    [{ name: '   ' }, { name: 'blank' }],
    [{ name: 'x'.repeat(201) }, { name: 'too_long' }],
    [{ name: 'a\u0000' }, { name: 'invalid_characters' }],
    [{ name: '\ud800' }, { name: 'invalid_characters' }],
    [{ name: null }, { name: 'invalid_type' }],
    [{ url: 'ftp://example.com' }, { url: 'invalid_url' }],
    [{ url: 'https://user:secret@example.com' }, { url: 'invalid_url' }],
    [{ method: 'post' }, { method: 'invalid_value' }],
    [{ method: 'HEAD' }, { method: 'invalid_value' }],
    [{ method: null }, { method: 'invalid_value' }],
    [{ headers: null }, { headers: 'invalid_type' }],
    [{ headers: [['a', 'b']] }, { headers: 'invalid_type' }],
    [
      { headers: { Host: 'a', 'X-A': 'a\r\nb' } },
      { 'headers.Host': 'invalid_header', 'headers.X-A': 'invalid_header' },
    ],
    [{ headers: JSON.parse('{"__proto__":"x"}') }, { 'headers.__proto__': 'invalid_header' }],
    [{ execute_at: null }, { execute_at: 'invalid_type' }],
    [{ execute_at: 4_102_444_800_000 }, { execute_at: 'invalid_type' }],
    [{ execute_at: '2099-02-30T00:00:00Z' }, { execute_at: 'invalid_timestamp' }],
    [{ execute_at: '2099-01-01T00:00:00' }, { execute_at: 'invalid_timestamp' }],
    [{ execute_at: '2100-01-01T00:00:00Z' }, { execute_at: 'out_of_range' }],
    [{ execute_at: '2099-12-31T23:59:59-01:00' }, { execute_at: 'out_of_range' }],
    [{ timeout_ms: 999 }, { timeout_ms: 'out_of_range' }],
    [{ timeout_ms: 900_001 }, { timeout_ms: 'out_of_range' }],
    [{ timeout_ms: '30000' }, { timeout_ms: 'invalid_type' }],
    [{ retry: null }, { retry: 'invalid_type' }],
    [{ retry: { max_retries: -1 } }, { 'retry.max_retries': 'out_of_range' }],
    [{ retry: { max_retries: 21 } }, { 'retry.max_retries': 'out_of_range' }],
    [{ retry: { backoff: 'none' } }, { 'retry.backoff': 'invalid_value' }],
    [{ retry: { base_delay_ms: 999 } }, { 'retry.base_delay_ms': 'out_of_range' }],
    [{ retry: { max_delay_ms: 86_400_001 } }, { 'retry.max_delay_ms': 'out_of_range' }],
    [{ retry: { max_delay_ms: 9_999 } }, { 'retry.max_delay_ms': 'out_of_range' }],
    [{ retry: { delays_ms: [] } }, { 'retry.delays_ms': 'out_of_range' }],
    [{ retry: { delays_ms: Array(21).fill(0) } }, { 'retry.delays_ms': 'out_of_range' }],
    [{ retry: { delays_ms: 1_000 } }, { 'retry.delays_ms': 'invalid_type' }],
    [
      { retry: { delays_ms: [0, -1, 2_592_000_001] } },
      {
        'retry.delays_ms.1': 'out_of_range',
        'retry.delays_ms.2': 'out_of_range',
      },
    ],
    ...['max_retries', 'base_delay_ms', 'max_delay_ms'].map((name): [object, object] => [
      { retry: { [name]: 10_000, delays_ms: [1_000] } },
      expect.objectContaining({ 'retry.delays_ms': 'conflicting_fields' }),
    ]),
    [{ retry: { backoff: 'fixed', delays_ms: [0] } }, { 'retry.delays_ms': 'conflicting_fields' }],
    [{ retry: { delay_ms: [0] } }, { 'retry.delay_ms': 'unknown_field' }],
    [{ executeAt: 'x' }, { executeAt: 'unknown_field' }],
    [{ retry: { maxRetries: 1 } }, { 'retry.maxRetries': 'unknown_field' }],
  ])('refuses %j', (change, errors) => {
    expect(errorsOf(createTaskBody, { ...minimal, ...change })).toEqual(errors)
  })

  it('reads times without an offset in a time zone', () => {
    const local = { execute_at: '2027-03-28T02:30:00', expires_at: '2027-03-28T02:45:30', timezone: 'Europe/Berlin' }
    const schemas: z.ZodType[] = [createTaskBody, updateTaskBody]
    for (const schema of schemas) {
      const result = parseInput(schema, { ...minimal, ...local })
      const gapEnd = new Date('2027-03-28T01:00:00Z')
      expect(result).toMatchObject({ ok: true, value: { execute_at: gapEnd, expires_at: gapEnd } })
    }
    const mixed = { execute_at: '2026-12-01T09:00:00', expires_at: '2026-12-01T09:00:00Z', timezone: 'asia/tokyo' }
    expect(parseInput(createTaskBody, { ...minimal, ...mixed })).toMatchObject({
      value: { execute_at: new Date('2026-12-01T00:00:00Z'), expires_at: new Date('2026-12-01T09:00:00Z') },
    })
  })

  it.each([
    [{ execute_at: '2099-01-01T00:00:00', timezone: 'Mars/Olympus' }, { timezone: 'unknown_timezone' }],
    [{ execute_at: '2099-02-30T00:00:00', timezone: 'UTC' }, { execute_at: 'invalid_timestamp' }],
    [{ execute_at: '2099-12-31T20:00:00', timezone: 'America/New_York' }, { execute_at: 'out_of_range' }],
    [
      { expires_at: '2099-01-01T00:00:00', name: '' },
      { expires_at: 'invalid_timestamp', name: 'too_short' },
    ],
    [{ execute_at: '2099-01-01T00:00:00', timezone: null }, { timezone: 'invalid_type' }],
  ])('refuses the times %j', (change, errors) => {
    expect(errorsOf(createTaskBody, { ...minimal, ...change })).toEqual(errors)
  })

  it('allows times up to the very end of 2099', () => {
    expect(errorsOf(createTaskBody, { ...minimal, execute_at: '2099-12-31T23:59:59.999Z' })).toEqual({})
  })

  it.each([[[0]], [[2_592_000_000, 0]], [Array(20).fill(1_000)]])('accepts a list of delays alone: %j', delays_ms => {
    const result = parseInput(createTaskBody, { ...minimal, retry: { delays_ms } })
    expect(result).toMatchObject({ ok: true, value: { retry: { delays_ms } } })
    expect(result.ok && Object.keys(result.value.retry)).toEqual(['delays_ms'])
  })

  it('suggests the field that was meant within a retry policy', () => {
    const result = parseInput(createTaskBody, { ...minimal, retry: { delay_ms: [0] } })
    expect(result).toMatchObject({ errors: [{ message: expect.stringContaining('Did you mean "delays_ms"?') }] })
  })

  it('compares the delays even when other fields are invalid', () => {
    const retry = { max_retries: 'x', base_delay_ms: 5_000, max_delay_ms: 2_000, more: 1 }
    expect(errorsOf(createTaskBody, { ...minimal, retry })).toEqual({
      'retry.max_retries': 'invalid_type',
      'retry.max_delay_ms': 'out_of_range',
      'retry.more': 'unknown_field',
    })
  })
})

describe('updateTaskBody', () => {
  it('adds no defaults', () => {
    expect(parseInput(updateTaskBody, { name: 'New' })).toEqual({ ok: true, value: { name: 'New' } })
    expect(parseInput(updateTaskBody, { retry: { max_retries: 1 } })).toEqual({
      ok: true,
      value: { retry: { max_retries: 1 } },
    })
    expect(parseInput(updateTaskBody, { retry: { delays_ms: [5] } })).toEqual({
      ok: true,
      value: { retry: { delays_ms: [5] } },
    })
    expect(parseInput(updateTaskBody, { payload: null })).toEqual({ ok: true, value: { payload: null } })
  })

  it('may change nothing', () => {
    expect(parseInput(updateTaskBody, {})).toEqual({ ok: true, value: {} })
  })

  it.each([
    [{ timezone: 'UTC' }, { timezone: 'conflicting_fields' }],
    [{ nme: 'x' }, { nme: 'unknown_field' }],
    [{ state: 'cancelled' }, { state: 'unknown_field' }],
    [{ name: null }, { name: 'invalid_type' }],
    [{ retry: { base_delay_ms: 2_000, max_delay_ms: 1_000 } }, { 'retry.max_delay_ms': 'out_of_range' }],
    [null, { '': 'invalid_type' }],
  ])('refuses %j', (value, errors) => {
    expect(errorsOf(updateTaskBody, value)).toEqual(errors)
  })
})

describe('listTasksQuery', () => {
  const cronJob = 'cron_00000000000000000000000001'

  it('parses a query string', () => {
    const query = {
      state: ['dead', 'cancelled'],
      source: 'cron',
      cronjob_id: cronJob,
      name: 'Re',
      upcoming: 'false',
      limit: '100',
      cursor: 'x',
    }
    expect(parseInput(listTasksQuery, { ...query, from: '2026-11-21T00:00:00Z' })).toEqual({
      ok: true,
      value: {
        state: ['dead', 'cancelled'],
        source: ['cron'],
        cronjob_id: ['00000000-0000-0000-0000-000000000001'],
        name: 'Re',
        from: new Date('2026-11-21T00:00:00Z'),
        upcoming: false,
        limit: 100,
        cursor: 'x',
      },
    })
  })

  it('allows a filter twenty times', () => {
    expect(errorsOf(listTasksQuery, { state: Array(20).fill('dead') })).toEqual({})
  })

  it('asks for 25 rows by default', () => {
    expect(parseInput(listTasksQuery, Object.create(null))).toEqual({ ok: true, value: { limit: 25 } })
  })

  it.each([
    [{ state: 'done' }, { state: 'invalid_value' }],
    [{ state: ['dead', ''] }, { state: 'invalid_value' }],
    [{ state: Array(21).fill('dead') }, { state: 'too_many' }],
    [{ state: { not: 'dead' } }, { state: 'invalid_type' }],
    [{ cronjob_id: 'task_00000000000000000000000001' }, { cronjob_id: 'invalid_id' }],
    [{ name: 'a\0' }, { name: 'invalid_characters' }],
    [{ from: ['2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'] }, { from: 'invalid_type' }],
    [{ to: '2026-11-21' }, { to: 'invalid_timestamp' }],
    [{ limit: '0' }, { limit: 'out_of_range' }],
    [{ limit: '101' }, { limit: 'out_of_range' }],
    [{ limit: '1e1' }, { limit: 'out_of_range' }],
    [{ limit: '-1' }, { limit: 'out_of_range' }],
    [{ limit: ' 5' }, { limit: 'out_of_range' }],
    [{ limit: '' }, { limit: 'out_of_range' }],
    [{ limit: ['5', '6'] }, { limit: 'invalid_type' }],
    [{ offset: '100' }, { offset: 'unknown_field' }],
  ])('refuses %j', (query, errors) => {
    expect(errorsOf(listTasksQuery, query)).toEqual(errors)
  })

  it('has no state filter for dead letters', () => {
    expect(errorsOf(listDeadLettersQuery, { state: 'dead' })).toEqual({ state: 'unknown_field' })
    expect(errorsOf(listDeadLettersQuery, { source: 'event' })).toEqual({})
  })
})

describe('every schema', () => {
  it.each([createTaskBody, updateTaskBody, listTasksQuery, listDeadLettersQuery])(
    'can be written as JSON Schema',
    schema => {
      expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({ type: 'object', additionalProperties: false })
    },
  )
})
