import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Belfry, startBelfry } from '../belfry.ts'
import { startCommand } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'belfry-ci-'))
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

let issuer: Receiver
let github: Receiver
let belfry: Belfry
let credential: string
beforeAll(async () => {
  issuer = await startReceiver({ certificateFor: '127.0.0.1' })
  github = await startReceiver()
  const certificate = join(folder, 'issuer.pem')
  writeFileSync(certificate, issuer.certificate ?? '')
  belfry = await startBelfry('postgres', { services: ['all-in-one'], env: { NODE_EXTRA_CA_CERTS: certificate } })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }]
  issuer.answer('/.well-known/openid-configuration', {
    body: JSON.stringify({ issuer: issuer.url(''), jwks_uri: issuer.url('/jwks') }),
  })
  issuer.answer('/jwks', { body: JSON.stringify({ keys }) })
  const trust = { issuer: issuer.url(''), conditions: { repository: 'acme/app' }, scopes: ['read'] }
  const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/federated-credentials`
  const { apiKey: _, ...session } = belfry.caller
  credential = (await belfry.call('POST', path, { name: 'CI', ...trust }, session)).body.id
})
afterAll(async () => {
  await belfry?.close()
  await Promise.all([issuer?.close(), github?.close()])
})

let tokens = 0

function tokenOf(repository: string): string {
  tokens += 1
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: issuer.url(''),
    aud: belfry.url,
    sub: `repo:${repository}`,
    iat: now,
    exp: now + 300,
    jti: `${tokens}`,
  }
  const signed = `${base64({ alg: 'RS256', kid: 'k1' })}.${base64({ ...claims, repository })}`
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
}

/** Runs `belfry token exchange` as a job does, without a key of its own. */
const exchange = (args: string[], env: Record<string, string>) =>
  startCommand(belfry, ['token', 'exchange', credential, ...args], '', { BELFRY_API_KEY: '', ...env }).ended

const asGithub = () => ({
  ACTIONS_ID_TOKEN_REQUEST_URL: github.url('/token?api-version=2'),
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'the-secret-of-the-job',
})
const readsTasks = async (apiKey: string) =>
  (await belfry.call('GET', '/api/v1/scheduler/tasks', undefined, { apiKey })).status

it('prints an API key for the token that GitHub Actions gives for this Belfry', async () => {
  github.answer('/token', { body: JSON.stringify({ value: tokenOf('acme/app') }) })
  const { code, out, error } = await exchange([], asGithub())
  expect([code, error, out]).toEqual([0, '', expect.stringMatching(/^bf_\w+\n$/)])
  expect(await readsTasks(out.trim())).toBe(200)
  const [asked] = github.requestsTo('/token')
  expect(asked?.target).toBe(`/token?api-version=2&audience=${encodeURIComponent(belfry.url)}`)
  expect(asked?.rawHeaders).toContain('Bearer the-secret-of-the-job')
})

it('sets the variable for the next steps, and has the runner hide the key', async () => {
  github.answer('/token', { body: JSON.stringify({ value: tokenOf('acme/app') }) })
  const file = join(folder, 'github-env')
  const { code, out } = await exchange(['--github-env'], { ...asGithub(), GITHUB_ENV: file })
  const [, key = ''] = /^::add-mask::(bf_\w+)\n$/.exec(out) ?? []
  expect([code, readFileSync(file, 'utf8')]).toEqual([0, `BELFRY_API_KEY=${key}\n`])
  expect(await readsTasks(key)).toBe(200)
})

it('exchanges the token of BELFRY_ID_TOKEN, as on GitLab CI, once', async () => {
  const env = { BELFRY_ID_TOKEN: tokenOf('acme/app') }
  const { code, out } = await exchange(['--json'], env)
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    {
      key: expect.stringMatching(/^bf_/),
      federatedCredentialId: credential,
      subject: 'repo:acme/app',
      scopes: ['read'],
    },
  ])
  const again = await exchange([], env)
  expect([again.code, again.out, again.error]).toEqual([1, '', expect.stringContaining('each works once')])
})

it('fails with the reason, and prints no token', async () => {
  const foreign = await exchange([], { BELFRY_ID_TOKEN: tokenOf('evil/app') })
  expect([foreign.code, foreign.out, foreign.error]).toEqual([1, '', expect.stringContaining('claim repository')])
  github.answer('/token', { status: 500 })
  const refused = await exchange([], asGithub())
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.error).toBe('GitHub Actions answered 500 to the request for a token.\n')
  github.answer('/token', { does: 'redirect', to: github.url('/elsewhere') })
  expect(await exchange([], asGithub())).toMatchObject({ code: 1, out: '' })
  expect(github.requestsTo('/elsewhere')).toEqual([])
  const elsewhere = await exchange(['--github-env'], { BELFRY_ID_TOKEN: tokenOf('acme/app') })
  expect([elsewhere.code, elsewhere.out]).toEqual([2, ''])
  const without = await exchange([], {})
  expect([without.code, without.error]).toEqual([2, expect.stringContaining('id-token: write')])
})
