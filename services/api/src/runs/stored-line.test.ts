import { expect, it } from 'vitest'
import { parseStoredLine, toRunRow } from './stored-line.ts'

it('reads a run that was stored before the columns of its wait and its timings existed', () => {
  const at = '2026-11-01T12:00:00+00:00'
  const run = { id: 'a', scheduled_at: at, started_at: at, finished_at: at }
  const stored = parseStoredLine(JSON.stringify({ run, request: { name: 'A' }, task: null }))
  expect(stored && toRunRow(stored)).toMatchObject({ id: 'a', waitedFor: null, timings: null })
})
