import type { Run } from '@belfry/contract/run'
import { expect, it } from 'vitest'
import { matchesLog } from './use-run-log.ts'

const run = {
  workspace_id: 'ws_1',
  status: 'failed',
  source: 'event',
  task_id: 'task_1',
  cronjob_id: null,
  topic: 'orders.paid',
  task_name: 'Charge subscription',
  url: 'https://Example.com:8443/hook',
  error: { code: 'http_status', message: '' },
  response_status: 503,
  labels: ['order:4711'],
  scheduled_at: '2026-11-21T11:59:50.000Z',
  started_at: '2026-11-21T12:00:00.000Z',
} as Run

it.each([
  [{}, true],
  [{ status: ['failed'] }, true],
  [{ status: ['success'] }, false],
  [{ topic: ['a', 'orders.paid'], source: ['event'] }, true],
  [{ cronjob_id: ['cron_1'] }, false],
  [{ response_status: ['5xx'] }, true],
  [{ response_status: ['503'] }, true],
  [{ response_status: ['500', '4xx'] }, false],
  [{ from: '2026-11-21T12:00:00Z' }, true],
  [{ to: '2026-11-21T12:00:00Z' }, false],
  [{ late_ms: ['10000'] }, true],
  [{ late_ms: ['10001'] }, false],
  [{ label: ['a', 'order:4711'] }, true],
  [{ label: ['order'] }, false],
  [{ workspace_id: ['ws_2'] }, false],
  [{ name: ['Charge'], host: ['example.com:8443'], error: ['http_status'] }, true],
  [{ name: ['subscription'] }, false],
  [{ host: ['example.com'] }, false],
  [{ error: ['timeout'] }, false],
  [{ not_source: ['task', 'cron'], not_topic: ['a'], not_cronjob_id: ['cron_1'] }, true],
  [{ not_topic: ['a', 'orders.paid'] }, false],
  [{ not_response_status: ['500', '4xx'] }, true],
  [{ not_response_status: ['500', '5xx'] }, false],
  [{ response_status: ['5xx'], not_response_status: ['503'] }, false],
  [{ not_host: ['example.com:8443'] }, false],
  [{ not_error: ['http_status'] }, false],
  [{ not_name: ['B', 'Charge'] }, false],
  [{ not_name: ['subscription'], not_host: ['example.com'] }, true],
])('a new run among %j: %s', (query, expected) => {
  expect(matchesLog(query, run)).toBe(expected)
})

it('a run without a response has no response status', () => {
  expect(matchesLog({ response_status: ['5xx'] }, { ...run, response_status: null })).toBe(false)
  expect(matchesLog({ not_response_status: ['5xx'] }, { ...run, response_status: null })).toBe(true)
})
