import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { undocumented } from '@belfry/test-support'
import { expect, it } from 'vitest'
import { loadConfig, variables } from './config.ts'

const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')

it('has a line in .env.example for each of its variables', () => {
  for (const name of Object.keys(variables.shape)) expect(example).toMatch(new RegExp(`^${name}=`, 'm'))
})

it('names everything that is missing or wrong in one message', () => {
  expect(() => loadConfig({ LOG_LEVEL: 'loud' })).toThrow(/DATABASE_URL.*LOG_LEVEL/s)
})

const env = {
  DATABASE_URL: 'postgresql://db/belfry',
  PORT: '8080',
  JWT_SECRET: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
}

it('reads from one replica', () => {
  const withReplica = (DATABASE_READ_URL: string) => loadConfig({ ...env, DATABASE_READ_URL }).readReplica?.url
  expect(withReplica('postgresql://me:a,b@one/belfry?x=1,2')).toBe('postgresql://me:a,b@one/belfry?x=1,2')
  expect(() => withReplica('postgresql://me:secret@one,two/belfry')).toThrow(/DATABASE_READ_URL: must have one host/)
})

it.each(['short', 'x'.repeat(64), 'change-me-change-me-change-me-please', 'your_secret_goes_here_0123456789abcdef'])(
  'does not start with the secret %j',
  secret => {
    expect(() => loadConfig({ ...env, JWT_SECRET: secret })).toThrow(/JWT_SECRET/)
  },
)

it('signs with the first of JWT_SECRETS and ignores JWT_SECRET beside it', () => {
  const [one, other] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
  const textsOf = (more: object) => loadConfig({ ...env, ...more }).jwtKeys.map(key => key.export().toString())
  expect(textsOf({})).toEqual([env.JWT_SECRET])
  expect(textsOf({ JWT_SECRETS: `${one}, ${other}` })).toEqual([one, other])
  expect(textsOf({ JWT_SECRETS: one, JWT_SECRET: undefined })).toEqual([one])
  expect(() => loadConfig({ ...env, JWT_SECRETS: `${one},${'x'.repeat(64)}` })).toThrow(
    /JWT_SECRETS: secret 2 of the list must be random(?!.*x{64})/s,
  )
  expect(() => loadConfig({ ...env, JWT_SECRETS: `${one},` })).toThrow(/JWT_SECRETS: secret 2 of the list/)
})

it('derives its public URL from the port', () => {
  expect(loadConfig(env).publicUrl).toBe('http://localhost:8080')
})

it('has a public URL at the root of a host', () => {
  const publicUrlOf = (PUBLIC_URL: string) => loadConfig({ ...env, PUBLIC_URL }).publicUrl
  expect(publicUrlOf('HTTPS://Belfry.example.com:443/')).toBe('https://belfry.example.com')
  const others = [
    'https://example.com/belfry',
    'https://example.com/belfry/',
    'https://example.com/?a',
    'https://me@example.com',
  ]
  for (const url of others) expect(() => publicUrlOf(url)).toThrow(/PUBLIC_URL: must be an origin.* below no path/)
  expect(() => publicUrlOf('belfry.example.com')).toThrow(/PUBLIC_URL: must be an http\(s\) URL/)
})

it('trusts no proxy by default', () => {
  expect(loadConfig(env).trustProxy).toBe(false)
  expect(loadConfig({ ...env, TRUST_PROXY: '1' }).trustProxy).toBe(1)
  expect(() => loadConfig({ ...env, TRUST_PROXY: 'true' })).toThrow(/TRUST_PROXY/)
})

it('opens the board to operators only with a password that is hard to guess', () => {
  expect(loadConfig(env).operatorPassword).toBeNull()
  expect(loadConfig({ ...env, OPERATOR_PASSWORD: '' }).operatorPassword).toBeNull()
  expect(() => loadConfig({ ...env, OPERATOR_PASSWORD: 'short' })).toThrow(/OPERATOR_PASSWORD: must have at least 12/)
})

it.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
])('traces when OpenTelemetry is configured: %j', (more, traces) => {
  expect(loadConfig({ ...env, ...more }).traces).toBe(traces)
})

it('requires master keys, and does not show their values', () => {
  expect(() => loadConfig({ ...env, ENCRYPTION_KEYS: undefined })).toThrow(/ENCRYPTION_KEYS: is required/)
  expect(() => loadConfig({ ...env, ENCRYPTION_KEYS: 'k1:dG9vIHNob3J0' })).toThrow(/ENCRYPTION_KEYS: .*k1(?!.*dG9v)/)
  expect(() => loadConfig({ ...env, ENCRYPTION_KEYS: '' })).toThrow(/ENCRYPTION_KEYS: is required/)
  expect(() => loadConfig({ ...env, ENCRYPTION_KEYS: 'k2:AAAA' })).toThrow(/ENCRYPTION_KEYS: .*32 bytes/)
})

it('is documented in docs/configuration.md, with required variables and defaults', () => {
  const names = Object.keys(variables.shape)
  expect(undocumented({ process: 'api', names, load: loadConfig, env: env })).toEqual([])
})

it('limits new organizations only where tiers are sold, any person may register, or the operator chooses a tier', () => {
  const stripe = {
    BILLING: 'stripe',
    STRIPE_SECRET_KEY: 'sk_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
    STRIPE_PRICES: '{"startup":"price_1"}',
  }
  expect(loadConfig(env).defaultTier).toBe('unlimited')
  expect(loadConfig({ ...env, ...stripe }).defaultTier).toBe('free')
  expect(loadConfig({ ...env, REGISTRATION: 'open' }).defaultTier).toBe('free')
  expect(loadConfig({ ...env, REGISTRATION: 'open', DEFAULT_TIER: 'unlimited' }).defaultTier).toBe('unlimited')
  expect(loadConfig({ ...env, DEFAULT_TIER: 'startup' }).defaultTier).toBe('startup')
  expect(() => loadConfig({ ...env, ...stripe, STRIPE_PRICES: '{"unlimited":"price_1"}' })).toThrow(
    /not a tier for sale/,
  )
})

it('names what Stripe needs, and takes nothing of it without BILLING=stripe', () => {
  expect(() => loadConfig({ ...env, BILLING: 'stripe' })).toThrow(
    /STRIPE_SECRET_KEY.*STRIPE_WEBHOOK_SECRET.*STRIPE_PRICES/s,
  )
  const given = { STRIPE_SECRET_KEY: 'sk_1', STRIPE_WEBHOOK_SECRET: 'whsec_1', STRIPE_PRICES: '{"startup":"price_1"}' }
  expect(loadConfig({ ...env, ...given }).billing).toBeNull()
  const { billing } = loadConfig({ ...env, ...given, BILLING: 'stripe', BILLING_GRACE_DAYS: '1' })
  expect(billing).toMatchObject({ secretKey: 'sk_1', graceMs: 24 * 3_600_000 })
})

it('listens on loopback only, unless told otherwise', () => {
  expect(loadConfig(env).listen).toEqual({ host: '127.0.0.1', port: 8080 })
  expect(loadConfig(env).operatorListen.host).toBe('127.0.0.1')
  expect(loadConfig({ ...env, HOST: '::', METRICS_HOST: '0.0.0.0' })).toMatchObject({
    listen: { host: '::' },
    operatorListen: { host: '0.0.0.0' },
  })
  expect(() => loadConfig({ ...env, HOST: 'example.com' })).toThrow(/HOST: must be an IP address/)
})

it('confirms addresses where there is a mail server, and needs that for domains', () => {
  expect(loadConfig(env).confirmsEmails).toBe(false)
  expect(loadConfig({ ...env, SMTP_URL: 'file:///mails' }).confirmsEmails).toBe(false)
  expect(loadConfig({ ...env, SMTP_URL: 'smtp://mail' }).confirmsEmails).toBe(true)
  expect(loadConfig({ ...env, SMTP_URL: 'smtp://mail', CONFIRM_EMAILS: 'off' }).confirmsEmails).toBe(false)
  const domains = { REGISTRATION_DOMAINS: 'example.com' }
  expect(loadConfig({ ...env, ...domains, CONFIRM_EMAILS: 'on' }).registrationDomains).toEqual(['example.com'])
  expect(() => loadConfig({ ...env, ...domains })).toThrow(/REGISTRATION_DOMAINS: needs CONFIRM_EMAILS=on/)
  expect(() => loadConfig({ ...env, REGISTRATION_DOMAINS: '@example.com' })).toThrow(/"@example.com" is not/)
})

const issuer = { OIDC_ISSUER: 'https://id.example.com/realms/acme', OIDC_CLIENT_ID: 'belfry' }

it('signs users in through an issuer', () => {
  expect(loadConfig(env)).toMatchObject({ oidc: null, passwordLogin: true })
  const { oidc, passwordLogin } = loadConfig({
    ...env,
    ...issuer,
    OIDC_SCOPES: 'openid,email groups',
    PASSWORD_LOGIN: 'off',
    OIDC_GROUP_ROLES: '{"ops":{"organization":"acme","role":"admin"}}',
  })
  expect(passwordLogin).toBe(false)
  expect(oidc).toMatchObject({
    clientId: 'belfry',
    clientSecret: null,
    scopes: 'openid email groups',
    name: 'single sign-on',
    domains: [],
    groupRoles: [{ group: 'ops', organization: 'acme', role: 'admin' }],
    groupsClaim: 'groups',
    trustsEmail: false,
  })
  expect(String(loadConfig({ ...env, ...issuer, OIDC_ISSUER: 'http://localhost:8080' }).oidc?.issuer)).toContain('8080')
})

it.each([
  [{ OIDC_ISSUER: 'https://id.example.com' }, 'OIDC_CLIENT_ID: is required with OIDC_ISSUER'],
  [{ OIDC_CLIENT_ID: 'belfry' }, 'OIDC_CLIENT_ID: needs OIDC_ISSUER'],
  [{ OIDC_DOMAINS: 'example.com' }, 'OIDC_DOMAINS: needs OIDC_ISSUER'],
  [{ PASSWORD_LOGIN: 'off' }, 'PASSWORD_LOGIN: off needs OIDC_ISSUER'],
  [{ ...issuer, PASSWORD_LOGIN: 'no' }, 'PASSWORD_LOGIN: must be on or off'],
  [{ ...issuer, OIDC_ISSUER: 'id.example.com' }, 'OIDC_ISSUER: must be an https URL'],
  [{ ...issuer, OIDC_ISSUER: 'http://id.example.com' }, 'OIDC_ISSUER: must be an https URL'],
  [{ ...issuer, OIDC_ISSUER: 'https://id.example.com/?realm=acme' }, 'OIDC_ISSUER: must be a URL without'],
  [
    { ...issuer, OIDC_ISSUER: 'https://id.example.com/.well-known/openid-configuration' },
    'OIDC_ISSUER: must be the issuer itself',
  ],
  [{ ...issuer, OIDC_SCOPES: 'openid profile' }, 'OIDC_SCOPES: must contain openid and email'],
  [{ ...issuer, OIDC_GROUP_ROLES: 'ops=admin' }, 'OIDC_GROUP_ROLES: must be JSON'],
  [{ ...issuer, OIDC_GROUP_ROLES: '{"ops":"admin"}' }, 'OIDC_GROUP_ROLES: must be an object of roles by group; ops'],
])('does not start with %o', (more, problem) => {
  expect(() => loadConfig({ ...env, ...more })).toThrow(problem)
})
