import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasTool } from '../deployment/tools.ts'
import { type Ingress, startIngress } from '../scaling/ingress.ts'
import { useStage } from './stage.ts'

const hasNginx = hasTool('nginx', ['-v'])

// The controller of a Kubernetes Ingress leaves nginx's default of merging slashes, which affects only the choice of a location.
describe.runIf(hasNginx).each([
  ['as documented', false],
  ['as an Ingress controller sets it up', true],
])('behind nginx %s', (_, mergeSlashes) => {
  const stage = useStage()
  let ingress: Ingress
  beforeAll(async () => {
    ingress = await startIngress([Number(new URL(stage.belfry.url).port)], { mergeSlashes })
  })
  afterAll(() => ingress?.close())

  it('keeps a destination to the letter: double slashes, escapes and the query', async () => {
    const path = '//a//b/%2F%7e//c'
    const query = '?x=1&y=https://example.com//z&%20=a+b'
    const response = await fetch(`${ingress.url}/v2/publish/${stage.target.url(path)}${query}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stage.belfry.caller.apiKey}` },
      body: 'x',
    })
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({ url: stage.target.url(path) + query })
    const [request] = await stage.received(path)
    expect(stage.target.requests.map(({ target }) => target)).toEqual([path + query])
    const signed = { signature: request?.headers['upstash-signature'] ?? '', body: 'x' }
    expect(await (await stage.receiver()).verify({ ...signed, url: stage.target.url(path) + query })).toBe(true)
  })
})
