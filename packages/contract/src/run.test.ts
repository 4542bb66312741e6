import { describe, expect, it } from 'vitest'
import { parseInput } from './field-errors.ts'
import { listRunsQuery } from './run.ts'

describe('listRunsQuery', () => {
  it('reads every filter as a list', () => {
    const query = { status: 'failed', topic: ['a.b', 'c'], source: 'event', task_id: 'task_00000000000000000000000001' }
    expect(parseInput(listRunsQuery, query)).toEqual({
      ok: true,
      value: {
        status: ['failed'],
        topic: ['a.b', 'c'],
        source: ['event'],
        task_id: ['00000000-0000-0000-0000-000000000001'],
        limit: 25,
      },
    })
  })

  it.each([
    ['500', { from: 500, to: 500 }],
    ['5xx', { from: 500, to: 599 }],
    ['2XX', { from: 200, to: 299 }],
    ['999', { from: 999, to: 999 }],
  ])('reads the response status %s', (text, range) => {
    expect(parseInput(listRunsQuery, { response_status: text })).toMatchObject({ value: { response_status: [range] } })
  })

  it.each(['', '5', '50', '5x', '50x', '0xx', '099', '5000', '-500', '5xx '])(
    'refuses the response status %j',
    text => {
      expect(parseInput(listRunsQuery, { response_status: text })).toMatchObject({
        errors: [{ path: 'response_status', code: 'invalid_value' }],
      })
    },
  )

  it('reads filters that leave out runs', () => {
    const query = { not_response_status: ['404', '5xx'], not_host: 'example.com', not_name: 'A' }
    expect(parseInput(listRunsQuery, query)).toMatchObject({
      value: {
        not_response_status: [
          { from: 404, to: 404 },
          { from: 500, to: 599 },
        ],
        not_host: ['example.com'],
        not_name: ['A'],
      },
    })
    expect(parseInput(listRunsQuery, { not_source: 'mail' })).toMatchObject({ errors: [{ path: 'not_source' }] })
  })

  it('refuses unknown filters, with a hint', () => {
    expect(parseInput(listRunsQuery, { taskId: 'x' })).toMatchObject({
      errors: [{ path: 'taskId', message: '"taskId" is not a known field. Did you mean "task_id"?' }],
    })
  })
})
