import { urlsOfHosts } from '@belfry/db/postgres/database-hosts'
import { formatCidr, parseCidrs } from '@belfry/domain/address'
import { readHostPattern } from '@belfry/domain/secrets/allowed-hosts'
import { parseUrl } from '@belfry/domain/target-url'
import { parseTiers } from '@belfry/domain/tiers'
import { parseRedisAddress } from '@belfry/queue'
import {
  integer,
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
import type { Listener } from './egress/own-listeners.ts'
import { listenerOfUrl, parseListeners } from './egress/parse-listener.ts'
import { defaultCircuitRules } from './scheduling/circuit-breaker.ts'

export type Config = ReturnType<typeof loadConfig>

/** Reads the dispatcher's configuration from the environment. */
export function loadConfig(env = process.env) {
  return readConfig(schema, env)
}

export const variables = z.object({
  ...serviceVariables,
  /** The master keys of stored secrets: the first one encrypts, all of them decrypt. */
  ENCRYPTION_KEYS: parsedBy(parseMasterKeys, 'is required: id:key, the key 32 random bytes in base64'),
  /** Calls in flight at a time. */
  DISPATCH_CONCURRENCY: integer(1, 10_000).default(200),
  /** Calls beside these that have taken longer than two seconds. A body of more than 32 KiB counts as several. */
  SLOW_CALLS: integer(0, 100_000).default(2_000),
  /** Calls in flight at a time to one host, from all dispatchers together. */
  HOST_CONCURRENCY: integer(1, 10_000).default(32),
  /** Calls to one host that start in a second, from all dispatchers together. 0: any number. */
  HOST_RATE: integer(0, 100_000).default(0),
  /** For how long a 429 or 503 with Retry-After pauses all calls of the workspace to the host, at most. 0: not at all. */
  HOST_RETRY_AFTER_MAX_MS: integer(0, 3_600_000).default(0),
  /** The part of the attempts to a host, in percent, that must fail in a minute to open its circuit breaker. 0: never. */
  CIRCUIT_FAILURE_PERCENT: integer(0, 100).default(defaultCircuitRules.failurePercent),
  /** How many attempts that minute must have at least. */
  CIRCUIT_MIN_ATTEMPTS: integer(1, 10_000).default(defaultCircuitRules.minAttempts),
  /** How long a circuit breaker stays open before the host is probed. */
  CIRCUIT_OPEN_MS: integer(1_000, 3_600_000).default(defaultCircuitRules.openMs),
  /** The part of the successful attempts that is logged, in percent. All others are logged always. */
  ATTEMPT_LOG_PERCENT: integer(0, 100).default(100),
  /** Private address ranges that may be called, as comma-separated CIDRs. */
  ALLOWED_PRIVATE_TARGETS: parsedBy(parseCidrs).prefault(''),
  BLOCKED_TARGETS: parsedBy(parseCidrs).prefault(''),
  /** An HTTP proxy for all calls. Its URL may have a user name and a password. */
  EGRESS_PROXY_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  /** Whether the proxy resolves the names of targets, and decides which addresses may be called. */
  EGRESS_PROXY_RESOLVES: z.enum(['on', 'off'], 'must be on or off').default('off'),
  /** Hosts that are called past the proxy, comma-separated, such as api.internal:8443 or *.example.com. */
  EGRESS_NO_PROXY: parsedBy(parseHostPatterns).prefault(''),
  /** More ports of this installation that may not be called, as comma-separated host:port. */
  OWN_LISTENERS: parsedBy(parseListeners).prefault(''),
  /** The ports and the URL of the API, the replica and the object storage. They may not be called either. */
  PORT: port.optional(),
  QSTASH_DEV_PORT: port.optional(),
  DATABASE_READ_URL: z.string().optional(),
  LOG_STORAGE_URL: z.string().optional(),
  PUBLIC_URL: publicUrl.optional(),
  /** The limits of tiers that differ from the defaults, as JSON. */
  TIERS: parsedBy(parseTiers).prefault(''),
  /** How targets reach the operator, in the `User-Agent` of calls: a URL or an email address. Optional. */
  ABUSE_CONTACT: z
    .string()
    .regex(/^[\x21-\x27\x2a-\x7e]{3,200}$/, 'must be a URL or an email address')
    .optional(),
  ...tracingSettings,
  /** The mail server, or a folder for mails. Without it mails wait. */
  SMTP_URL: z.url({ protocol: /^(smtps?|file)$/, error: 'must be an smtp://, smtps:// or file:// URL' }).optional(),
  /** The sender of mails, with or without a name. */
  MAIL_FROM: z
    .string()
    .regex(
      /^([^<>@"\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
      'must be an address, or a name and <an address>',
    )
    .optional(),
})

// SMTP servers require a sender.
const complete = variables.refine(env => !env.SMTP_URL?.startsWith('smtp') || env.MAIL_FROM !== undefined, {
  path: ['MAIL_FROM'],
  message: 'is required with SMTP_URL',
})

const schema = complete.transform(env => ({
  ...serviceSettings(env),
  masterKeys: env.ENCRYPTION_KEYS,
  concurrency: env.DISPATCH_CONCURRENCY,
  slowCalls: env.SLOW_CALLS,
  hostConcurrency: env.HOST_CONCURRENCY,
  hostRate: env.HOST_RATE,
  retryAfterMaxMs: env.HOST_RETRY_AFTER_MAX_MS,
  circuitRules: {
    failurePercent: env.CIRCUIT_FAILURE_PERCENT,
    minAttempts: env.CIRCUIT_MIN_ATTEMPTS,
    openMs: env.CIRCUIT_OPEN_MS,
  },
  attemptLogPercent: env.ATTEMPT_LOG_PERCENT,
  allowedPrivateTargets: env.ALLOWED_PRIVATE_TARGETS,
  blockedTargets: env.BLOCKED_TARGETS,
  ownListeners: ownListeners(env),
  publicUrl: env.PUBLIC_URL ?? null,
  mail: env.SMTP_URL === undefined ? null : { url: env.SMTP_URL, from: env.MAIL_FROM ?? 'Belfry <belfry@localhost>' },
  egressProxy:
    env.EGRESS_PROXY_URL === undefined
      ? null
      : {
          url: new URL(env.EGRESS_PROXY_URL),
          resolves: env.EGRESS_PROXY_RESOLVES === 'on',
          exceptions: env.EGRESS_NO_PROXY,
        },
  abuseContact: env.ABUSE_CONTACT ?? null,
  tiers: env.TIERS,
  traces: wantsTracing(env),
}))

function parseHostPatterns(text: string): string[] {
  return text
    .split(',')
    .filter(item => item.trim() !== '')
    .map(item => {
      const pattern = readHostPattern(item)
      if (pattern === null)
        throw new Error(`has ${item.trim()}, which is no host such as api.internal:8443 or *.example.com`)
      return pattern
    })
}

function ownListeners(env: z.output<typeof variables>): Listener[] {
  const redis = env.REDIS_URL === null ? [] : parseRedisAddress(env.REDIS_URL).nodes
  const urls = [
    ...urlsOfHosts(env.DATABASE_URL),
    ...[env.DATABASE_READ_URL, env.SMTP_URL, env.EGRESS_PROXY_URL, env.OTEL_EXPORTER_OTLP_ENDPOINT],
  ]
  const servers = urls.map(url => listenerOfUrl(url ?? ''))
  const front = listenerOfUrl(env.PUBLIC_URL ?? '')
  const storage = listenerOfUrl(parseUrl(env.LOG_STORAGE_URL ?? '')?.searchParams.get('endpoint') ?? '')
  const shared = [front && { ...front, isShared: true }, storage && { ...storage, isShared: true, isForeign: true }]
  const ports = [env.PORT, env.QSTASH_DEV_PORT].flatMap(port => (port ? [{ host: '127.0.0.1', port }] : []))
  return [...[...servers, ...shared].filter(listener => listener !== null), ...redis, ...ports, ...env.OWN_LISTENERS]
}

/** Returns the rules for outgoing calls, for operators. */
export function describeEgress(config: Config) {
  const { allowedPrivateTargets, blockedTargets, ownListeners, egressProxy } = config
  return {
    allowed_private_targets: allowedPrivateTargets.map(formatCidr),
    blocked_targets: blockedTargets.map(formatCidr),
    own_listeners: ownListeners.map(({ host, port }) => `${host}:${port}`),
    proxy: egressProxy === null ? null : egressProxy.url.origin,
  }
}
