import { createSecretKey, type KeyObject } from 'node:crypto'
import { parseCidrs } from '@belfry/domain/address'
import { parseTiers, tierNames } from '@belfry/domain/tiers'
import { parseStorageUrl } from '@belfry/object-storage'
import {
  entriesOf,
  integer,
  listenHost,
  parsedBy,
  port,
  publicUrl,
  readConfig,
  serviceSettings,
  serviceVariables,
  tracingSettings,
  wantsTracing,
} from '@belfry/runtime'
import { parseMasterKeys } from '@belfry/vault'
import { z } from 'zod'
import { parsePrices } from './billing/stripe/prices.ts'
import { parseHosts, parseTrustedProxies } from './http/check-request.ts'
import { oidcOf, oidcVariables, requireOidc } from './oidc/settings.ts'

export type Config = ReturnType<typeof loadConfig>

export function loadConfig(env = process.env) {
  return readConfig(schema, env)
}

const jwtSecret = z
  .string()
  .min(32, 'must have at least 32 characters')
  .refine(isRandom, 'must be random: repeated characters and examples are refused')

export const variables = z.object({
  ...serviceVariables,
  /** A streaming replica of the PostgreSQL, for lists, exports and the overview. Default: they are read from the primary. */
  DATABASE_READ_URL: serviceVariables.DATABASE_URL.regex(
    /^[^/]*\/\/([^/?#]*@)?[^,/?#]*([/?#]|$)/,
    'must have one host',
  ).optional(),
  /** How old the data of the replica may be, in milliseconds, before the primary is read instead. */
  DATABASE_READ_MAX_LAG_MS: integer(1_000, 600_000).default(5_000),
  HOST: listenHost,
  PORT: port.default(3000),
  /** Signs session tokens. Required without `JWT_SECRETS`. */
  JWT_SECRET: jwtSecret.optional(),
  /** Secrets of session tokens instead of `JWT_SECRET`, comma-separated: the first one signs, all of them verify. */
  JWT_SECRETS: parsedBy(parseJwtSecrets).optional(),
  /** The master keys of stored secrets: the first one writes, all of them read. */
  ENCRYPTION_KEYS: parsedBy(parseMasterKeys, 'is required: id:key, the key 32 random bytes in base64'),
  /** The origin at which users reach this service. Default: this port on localhost. */
  PUBLIC_URL: publicUrl.optional(),
  /** Further names of this service that requests may have in `Host`, comma-separated. */
  ALLOWED_HOSTS: parsedBy(parseHosts).prefault(''),
  /** The proxies that X-Forwarded-For is accepted from: their number or their addresses. Optional. */
  TRUST_PROXY: parsedBy(parseTrustedProxies).prefault(''),
  /** Who may create an account. With `invite`, the first account of an installation may register without one. */
  REGISTRATION: z.enum(['open', 'invite', 'closed'], 'must be open, invite or closed').default('invite'),
  /** A file for the first account: the API creates the account itself before it listens. Optional. */
  FIRST_ACCOUNT: z.string().optional(),
  /** The domains of email addresses that may register, comma-separated. Default: all. */
  REGISTRATION_DOMAINS: parsedBy(parseHosts).prefault(''),
  /** A page that shows a captcha or the like, and is asked about the token of each registration. Optional. */
  REGISTRATION_CHECK_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  ...oidcVariables,
  /** Where the dispatchers send mails. The API only sees whether it is a mail server. */
  SMTP_URL: z.url({ protocol: /^(smtps?|file)$/, error: 'must be an smtp://, smtps:// or file:// URL' }).optional(),
  /** Whether users confirm their addresses before they create an organization. Default: `on` with a mail server. */
  CONFIRM_EMAILS: z.enum(['on', 'off'], 'must be on or off').optional(),
  /** How many organizations a user may own. */
  ORGANIZATIONS_PER_USER: integer(1, 1_000_000).default(3),
  /** Who changes the tier of an organization with `BILLING=manual`. */
  TIER_CHANGES: z.enum(['owner', 'operator'], 'must be owner or operator').default('operator'),
  /** The tier of a new organization. Default: `unlimited`, or `free` where Stripe sells tiers or any person may register. */
  DEFAULT_TIER: z.enum(tierNames).optional(),
  /** Limits of tiers that differ from the defaults, as JSON. */
  TIERS: parsedBy(parseTiers).prefault(''),
  /** Who sells tiers: `stripe`, or `manual` when the owner's choice applies at once. */
  BILLING: z.enum(['manual', 'stripe']).default('manual'),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_/, 'must be a secret or restricted key of Stripe')
    .optional(),
  /** The signing secret of the webhook endpoint. */
  STRIPE_WEBHOOK_SECRET: z.string().startsWith('whsec_', 'must begin with whsec_').optional(),
  /** The price of each tier that is sold, as JSON. */
  STRIPE_PRICES: parsedBy(parsePrices).optional(),
  /** The URL of Stripe's API. */
  STRIPE_API_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).default('https://api.stripe.com'),
  /** How long a tier stays after a failed payment. */
  BILLING_GRACE_DAYS: integer(0, 60).default(7),
  ...tracingSettings,
  /** Whether callers that send too many requests are refused: `on`, or `off` for tests and benchmarks. */
  RATE_LIMITS: z.enum(['on', 'off']).default('on'),
  /** Opens the board of the queues to operators. Optional. */
  OPERATOR_PASSWORD: z.string().min(12, 'must have at least 12 characters').optional(),
  /** The email addresses of the users who operate this installation, comma-separated. Optional. */
  OPERATORS: z
    .string()
    .prefault('')
    .transform(text => entriesOf(text.toLowerCase()))
    .refine(all => all.every(one => /^[^\s@]+@[^\s@]+$/.test(one)), 'must be email addresses, comma-separated'),
  /** Whether the QStash interface is served at `/v2`. */
  QSTASH_API: z.enum(['on', 'off'], 'must be on or off').default('off'),
  /**
   * Where the API also listens on loopback, for clients in QStash's development mode: their token stands for the first
   * account.
   */
  QSTASH_DEV_PORT: port.optional(),
  /** Private address ranges that targets may be in, as comma-separated CIDRs. */
  ALLOWED_PRIVATE_TARGETS: parsedBy(parseCidrs).prefault(''),
  /** Where the scheduler moves old runs: `s3://bucket/prefix?endpoint=...&region=...`. Default: they stay in PostgreSQL. */
  LOG_STORAGE_URL: parsedBy(parseStorageUrl).optional(),
  /** The credentials for it. The AWS SDK reads them. Default: what else the SDK finds, such as a role of the machine. */
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
})

const schema = variables
  .refine(({ JWT_SECRET, JWT_SECRETS }) => JWT_SECRET !== undefined || JWT_SECRETS !== undefined, {
    path: ['JWT_SECRET'],
    message: 'is required: at least 32 random characters',
    when: () => true, // one message names it beside other invalid variables
  })
  .superRefine(requireStripe)
  .superRefine(requireConfirmation)
  .superRefine(requireOidc)
  .transform(env => ({
    ...serviceSettings(env),
    readReplica: env.DATABASE_READ_URL ? { url: env.DATABASE_READ_URL, maxLagMs: env.DATABASE_READ_MAX_LAG_MS } : null,
    listen: { host: env.HOST, port: env.PORT },
    jwtKeys: jwtKeysOf(env),
    trustProxy: env.TRUST_PROXY,
    masterKeys: env.ENCRYPTION_KEYS,
    publicUrl: publicUrlOf(env).origin,
    hosts: [publicUrlOf(env).hostname, ...env.ALLOWED_HOSTS],
    registration: env.REGISTRATION,
    firstAccount: env.FIRST_ACCOUNT ?? null,
    registrationDomains: env.REGISTRATION_DOMAINS,
    registrationCheckUrl: env.REGISTRATION_CHECK_URL ?? null,
    passwordLogin: env.PASSWORD_LOGIN === 'on',
    oidc: oidcOf(env),
    confirmsEmails: confirmsEmails(env),
    organizationsPerUser: env.ORGANIZATIONS_PER_USER,
    tierChanges: env.TIER_CHANGES,
    defaultTier: env.DEFAULT_TIER ?? (env.BILLING === 'stripe' || env.REGISTRATION === 'open' ? 'free' : 'unlimited'),
    tiers: env.TIERS,
    billing: billingOf(env),
    traces: wantsTracing(env),
    limitsRates: env.RATE_LIMITS === 'on',
    operatorPassword: env.OPERATOR_PASSWORD ?? null,
    operators: env.OPERATORS,
    logStorage: env.LOG_STORAGE_URL ?? null,
    allowedPrivateTargets: env.ALLOWED_PRIVATE_TARGETS,
    qstash: env.QSTASH_API === 'on' ? { devPort: env.QSTASH_DEV_PORT } : null,
  }))

function parseJwtSecrets(text: string): string[] {
  return text.split(',').map((entry, i) => {
    const result = jwtSecret.safeParse(entry.trim())
    if (result.success) return result.data
    throw new Error(`secret ${i + 1} of the list ${result.error.issues[0]?.message}`)
  })
}

// A placeholder is known to the public: the API must not start with it.
function isRandom(secret: string): boolean {
  return new Set(secret).size >= 8 && !/change.?me|your.?secret|example|placeholder/i.test(secret)
}

type Variables = z.infer<typeof variables>

// JWT_SECRET does not verify beside JWT_SECRETS, so a leaked one can be dropped wherever it is set.
function jwtKeysOf({ JWT_SECRET = '', JWT_SECRETS }: Variables): readonly [KeyObject, ...KeyObject[]] {
  const toKey = (secret: string) => createSecretKey(secret, 'utf8')
  const [first = JWT_SECRET, ...others] = JWT_SECRETS ?? []
  return [toKey(first), ...others.map(toKey)]
}

function publicUrlOf({ PUBLIC_URL, PORT }: Variables): URL {
  return new URL(PUBLIC_URL ?? `http://localhost:${PORT}`)
}

// Mails in a folder reach the operator only.
function confirmsEmails({ CONFIRM_EMAILS, SMTP_URL }: Variables): boolean {
  return CONFIRM_EMAILS === undefined ? (SMTP_URL?.startsWith('smtp') ?? false) : CONFIRM_EMAILS === 'on'
}

function requireConfirmation(env: Variables, context: z.RefinementCtx): void {
  if (env.REGISTRATION_DOMAINS.length === 0 || confirmsEmails(env)) return
  const message = 'needs CONFIRM_EMAILS=on or a mail server: an address proves nothing unless it is confirmed'
  context.addIssue({ code: 'custom', path: ['REGISTRATION_DOMAINS'], message })
}

function requireStripe(env: Variables, context: z.RefinementCtx): void {
  if (env.BILLING !== 'stripe') return
  for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICES'] as const) {
    if (env[name] === undefined) {
      context.addIssue({ code: 'custom', path: [name], message: 'is required with BILLING=stripe' })
    }
  }
}

/** Returns the settings for Stripe; null when tiers are not sold. */
function billingOf(env: Variables) {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_PRICES: prices } = env
  if (env.BILLING !== 'stripe' || !secretKey || !webhookSecret || !prices) return null
  const graceMs = env.BILLING_GRACE_DAYS * 24 * 3_600_000
  return { secretKey, webhookSecret, prices, apiUrl: new URL(env.STRIPE_API_URL), graceMs }
}

/** Returns whether an installation has pages for operators. */
export function hasOperators({ operatorPassword, operators }: Config): boolean {
  return operatorPassword !== null || operators.length > 0
}
