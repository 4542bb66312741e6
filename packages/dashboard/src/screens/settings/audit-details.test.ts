import { expect, it } from 'vitest'
import { auditDetails } from './audit-log.tsx'

it.each([
  [{ from: 'viewer', to: 'editor' }, ['viewer → editor']],
  [
    { name: { from: 'Acme', to: 'Acme Inc' }, members_can_invite: { from: false, to: true } },
    ['name: Acme → Acme Inc', 'members can invite: off → on'],
  ],
  [{ max_api_key_days: { from: null, to: 90 } }, ['max API key days: none → 90']],
  [{ name: 'Report', fields: ['url', 'headers'] }, ['name: Report', 'changed: url, headers']],
  [{ scopes: [], expires_at: null }, ['scopes: none']],
  [{ rate_limit: { count: 10, period_ms: 1000 } }, ['rate limit: {"count":10,"period_ms":1000}']],
  [{ from: '2026-11-25T00:00:00Z', states: ['pending'] }, ['from: 2026-11-25T00:00:00Z', 'states: pending']],
  [{ from: null, to: null, states: ['dead'] }, ['states: dead']],
  [{ workspaces: ['ws_1', 'ws_2'] }, ['workspaces: Production, ws_2']],
  [{ name: 'constructor' }, ['name: constructor']],
])('describes %j', (details, texts) => {
  expect(auditDetails(details, { ws_1: 'Production' })).toEqual(texts)
})
