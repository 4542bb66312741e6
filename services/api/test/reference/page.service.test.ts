import { expect, it, onTestFinished, vi } from 'vitest'
import { useOidc } from '../oidc-sign-in.ts'
import { referencePage } from './page.ts'
import { recordExamples } from './record-examples.ts'
import { recordedResponses } from './recorded-responses.ts'

const oidc = useOidc(async () => ({ RATE_LIMITS: 'off', REGISTRATION: 'open', CONFIRM_EMAILS: 'on' }))
const { api } = oidc

it('docs/api.md matches the OpenAPI document', async () => {
  await expect(referencePage()).toMatchFileSnapshot('../../../../docs/api.md')
})

it('the document has what the API answers to a request of each operation', async () => {
  vi.spyOn(api.ctx.config.operators, 'includes').mockReturnValue(true)
  onTestFinished(() => void vi.restoreAllMocks())
  const recorded = await recordExamples(oidc)
  const undeclared = recorded.filter(({ operation: { response }, response: { status, type } }) => {
    const types = [...(response.body ? ['application/json'] : []), ...(response.texts ?? [])]
    const hasType = types.length > 0 ? types.includes(type) : type === ''
    return !hasType || ![response.status, response.orStatus].includes(status)
  })
  expect(undeclared.map(({ operation: { method, path }, response }) => [method, path, response])).toEqual([])
  await expect(recordedResponses(recorded)).toMatchFileSnapshot(
    '../../../../packages/contract/src/openapi/recorded-responses.json',
  )
})
