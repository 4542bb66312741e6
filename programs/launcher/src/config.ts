import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readSecretFiles } from '@belfry/vault'
import { PlainError } from './errors.ts'

/** The root of the checkout, relative to both the source and the bundle. */
export const checkout = fileURLToPath(new URL('../../..', import.meta.url))

const isCheckout = existsSync(join(checkout, 'scripts/start.mjs'))

/** Whether this is the all-in-one image. Its processes are in a container, and its output is the container's log. */
export const isImage = existsSync(join(checkout, 'run-container.mjs'))

/** The command that users run: the published package and the image start the launcher too. */
export const startCommand = isCheckout ? 'npm start' : isImage ? 'the same docker run' : 'npx belfry start'

export type Environment = Record<string, string | undefined>

export type Config = ReturnType<typeof readConfig>

/** Reads the configuration; an empty value counts as unset. */
export function readConfig(given: Environment) {
  const { env, problems } = readSecretFiles(given)
  if (problems.length > 0) throw new PlainError(`${problems.join('.\n')}.`)
  return {
    /** The folder of all data. Default: `.belfry` in the checkout, or in the current folder for the published package. */
    dataDir: resolve(env.DATA_DIR || join(isCheckout ? checkout : process.cwd(), '.belfry')),
    /** The port of the API; 0 means any free port. */
    port: readPort(env.PORT || '3000'),
    /** A PostgreSQL to use instead of the embedded one. */
    databaseUrl: readUrl('DATABASE_URL', env.DATABASE_URL, /^postgres(ql)?:\/\//, 'postgresql://'),
    /** A Redis for the queue. */
    redisUrl: readUrl('REDIS_URL', env.REDIS_URL, /^rediss?(\+cluster)?:\/\//, 'redis://'),
    hasApi: !env.ROLES || /\bapi\b/.test(env.ROLES),
    /** Whether a workspace with living data is wanted. */
    demo: readSwitch('DEMO', env.DEMO),
    /** The complete environment, because the service reads further settings. Secrets are read from their files. */
    env,
  }
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new PlainError(`PORT is "${text}": it must be a number from 0 to 65535, such as PORT=3000.`)
}

function readSwitch(name: string, text: string | undefined): boolean {
  if (!text || text === 'off') return false
  if (text === 'on') return true
  throw new PlainError(`${name} is "${text}": it must be on or off.`)
}

// WHATWG's URLs have one host. The services parse the others.
const severalHosts = /^[^/]+:\/\/[^/?#]*,[^/?#]/

// The value can contain a password, so the error does not show it.
function readUrl(name: string, text: string | undefined, form: RegExp, start: string): string | null {
  if (!text) return null
  if (form.test(text) && (URL.canParse(text) || severalHosts.test(text))) return text
  throw new PlainError(`${name} must be a URL that starts with ${start}.`)
}
