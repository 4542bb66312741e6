import { createHash } from 'node:crypto'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { expect, it } from 'vitest'
import { useStage } from './stage.ts'

const stage = useStage()
const count = propertyRuns(1_000)

// A fixed seed, so a failure can be repeated.
let seed = 20_261_124
function random(max: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
  return Math.floor((seed / 2 ** 32) * max)
}
const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T
const pieces = [
  'a',
  'Z',
  '0',
  '-',
  '_',
  '~',
  'x.y',
  '%20',
  '%2F',
  '%C3%BC',
  'ü',
  '日本',
  '🎉',
  '//',
  '+',
  '=',
  ',',
  ';',
  "'",
  '(',
  ')',
  '!',
  '*',
  ':',
  '@',
  '$',
]
const text = (length: number) => Array.from({ length }, () => pick(pieces)).join('')
const query = () => (random(3) === 0 ? '' : `?${text(1 + random(6))}=${text(random(8))}&u=https://x.example//y?z`)

function body(): Buffer {
  const kind = random(4)
  if (kind === 0) return Buffer.alloc(0)
  if (kind === 1)
    return Buffer.from(
      Array.from({ length: random(300) }, () => pick(['ü', '日', '🎉', '\n', '\0', '{', '"'])).join(''),
    )
  if (kind === 2) return Buffer.from(JSON.stringify({ n: random(1_000), text: text(20) }))
  return Buffer.from(Array.from({ length: random(500) }, () => random(256)))
}

it('the receiver verifies deliveries with random URLs and bodies', async () => {
  const sent = Array.from({ length: count }, (_, i) => ({
    url: stage.target.url(`/v/${i}/${text(random(12))}${query()}`),
    body: body(),
  }))
  for (let i = 0; i < count; i += 50) {
    const statuses = await Promise.all(
      sent.slice(i, i + 50).map(async ({ url, body }) => {
        const options = { headers: { 'Content-Type': 'application/octet-stream' }, body }
        return (await stage.call('POST', `/v2/publish/${url}`, options)).status
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([201]))
  }
  await waitFor(
    async () => stage.target.requests.length,
    length => length >= count,
    60_000,
  )
  const receiver = await stage.receiver()
  const verified = new Set<string>()
  for (const { target, rawHeaders, body } of stage.target.requests) {
    const number = Number(/^\/v\/(\d+)\//.exec(target)?.[1])
    const expected = sent[number]
    expect(body.equals(expected?.body ?? Buffer.alloc(1))).toBe(true)
    const at = rawHeaders.findIndex(name => name.toLowerCase() === 'upstash-signature')
    const signature = rawHeaders[at + 1] ?? ''
    // The URL that reached the target is the URL that was signed, as the receiver of a framework sees it.
    const url = stage.target.url(target)
    // The receiver takes the body as text. It checks the key of other bytes first, and their hash is compared here.
    const asText = body.toString()
    if (Buffer.from(asText).equals(body)) expect(await receiver.verify({ signature, body: asText, url })).toBe(true)
    else {
      expect(await receiver.verify({ signature, body: asText, url }).catch(String)).toContain('body hash')
      const claims = JSON.parse(Buffer.from(signature.split('.')[1] ?? '', 'base64url').toString())
      expect(claims.sub).toBe(url)
      expect(Buffer.from(claims.body, 'base64url').equals(createHash('sha256').update(body).digest())).toBe(true)
    }
    verified.add(signature)
  }
  expect(verified.size).toBe(count)
}, 120_000)
