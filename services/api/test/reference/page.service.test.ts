import { expect, it, onTestFinished, vi } from 'vitest'
import { useApi } from '../setup.ts'
import { referencePage } from './page.ts'
import { recordExamples } from './record-examples.ts'
import { recordedResponses } from './recorded-responses.ts'

// They need a mail, an authenticator, an issuer, a payment provider, a stream that ends, or an organization without workspaces.
const unrecorded = [
  'DELETE /api/v1/auth/factors/passkeys/:passkey',
  'DELETE /api/v1/auth/factors/totp',
  'DELETE /api/v1/auth/sessions/:session',
  'DELETE /api/v1/organizations/:org',
  'DELETE /api/v1/scheduler/subscriptions/:sub/signing-secrets/:secret',
  'GET /api/v1/auth/oidc/callback',
  'GET /api/v1/organizations/:org/runs/stream',
  'GET /api/v1/scheduler/runs/stream',
  'POST /api/v1/auth/email/confirm',
  'POST /api/v1/auth/factors/passkeys',
  'POST /api/v1/auth/factors/recovery-codes',
  'POST /api/v1/auth/factors/totp/confirm',
  'POST /api/v1/auth/login/factor',
  'POST /api/v1/auth/login/passkey',
  'POST /api/v1/auth/me/delete',
  'POST /api/v1/auth/oidc/start',
  'POST /api/v1/auth/password/reset',
  'POST /api/v1/auth/token-exchange',
  'POST /api/v1/integrations/confirm',
  'POST /api/v1/integrations/unsubscribe',
  'POST /api/v1/organizations/:org/audit-stream/rotate',
  'POST /api/v1/organizations/:org/subscription/portal',
  'POST /api/v1/workspaces/:ws/connections/:connection/test',
]

const api = useApi({ RATE_LIMITS: 'off' }, { isAlone: true })

it('docs/api.md matches the OpenAPI document', async () => {
  await expect(referencePage()).toMatchFileSnapshot('../../../../docs/api.md')
})

it('the document has what the API answers to a request of each operation', async () => {
  vi.spyOn(api.ctx.config.operators, 'includes').mockReturnValue(true)
  onTestFinished(() => void vi.restoreAllMocks())
  const recorded = await recordExamples(api)
  const failed = recorded.filter(({ response }) => response && response.status >= 300)
  expect(failed.map(({ operation: { method, path }, response }) => [method, path, response])).toEqual([])
  const without = recorded.filter(({ response }) => response === null)
  expect(without.map(({ operation: { method, path } }) => `${method} ${path}`).sort()).toEqual(unrecorded)
  await expect(recordedResponses(recorded)).toMatchFileSnapshot(
    '../../../../packages/contract/src/openapi/recorded-responses.json',
  )
})
