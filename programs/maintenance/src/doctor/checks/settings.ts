import { access, constants } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { loadConfig as loadApi } from '@belfry/api/config'
import type { Pool } from '@belfry/db/postgres/pool'
import { countWrappedKeys, findMasterKeyProblem } from '@belfry/db/secrets/data-keys'
import { loadConfig as loadDispatcher } from '@belfry/dispatcher/config'
import { version } from '@belfry/domain/version'
import { codeOf, reasonOf } from '@belfry/launcher'
import { ConfigError } from '@belfry/runtime'
import { loadConfig as loadScheduler } from '@belfry/scheduler/config'
import { parseMasterKeys } from '@belfry/vault'
import type { Environment } from '../../config.ts'
import { type Observation, ok, problem, warning } from '../finding.ts'

type Role = 'api' | 'scheduler' | 'dispatcher'

const loaders = { api: loadApi, scheduler: loadScheduler, dispatcher: loadDispatcher }

/**
 * Checks the variables of each service with the service's own rules. A service whose secrets are not in this environment,
 * as in a maintenance job, is left out.
 */
export function checkSettings(env: Environment): Observation[] {
  const roles = rolesOf(env)
  const problems = new Set(roles.flatMap(role => problemsOf(role, env)))
  if (problems.size === 0)
    return [ok(`Belfry ${version}, Node ${process.versions.node}: settings of ${roles.join(', ')}`)]
  return [...problems].map(text =>
    problem(text, 'Correct this variable and restart the services. See docs/configuration.md.'),
  )
}

function rolesOf(env: Environment): Role[] {
  const roles: Role[] = ['scheduler']
  if (env.ENCRYPTION_KEYS) roles.push('dispatcher')
  if (env.JWT_SECRET || env.JWT_SECRETS) roles.push('api')
  return roles
}

function problemsOf(role: Role, env: Environment): readonly string[] {
  try {
    // Without a database URL, as with the embedded PostgreSQL, another check reports the database.
    loaders[role]({ ...env, DATABASE_URL: env.DATABASE_URL || 'postgresql://127.0.0.1/postgres' })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** Checks that the encryption keys open the data keys of this database. */
export async function checkKeys(pool: Pool, env: Environment): Promise<Observation[]> {
  const counts = await countWrappedKeys(pool)
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (!env.ENCRYPTION_KEYS) {
    if (total === 0) return [ok('no encrypted data; ENCRYPTION_KEYS is not in this environment')]
    return [
      warning(
        `ENCRYPTION_KEYS is not set here, and ${total} data keys need it.`,
        'Run the doctor with the variables of the services, to check that the keys fit.',
      ),
    ]
  }
  const masterKeys = parseMasterKeys(env.ENCRYPTION_KEYS)
  const misfit = await findMasterKeyProblem(pool, masterKeys)
  if (misfit !== null) {
    return [problem(`ENCRYPTION_KEYS does not fit this database: ${misfit}`, 'Add the earlier key to ENCRYPTION_KEYS.')]
  }
  const older = [...masterKeys.all.keys()].filter(id => id !== masterKeys.current.id && counts.has(id))
  if (older.length === 0) return [ok(`ENCRYPTION_KEYS opens all ${total} data keys`)]
  return [warning(`Data keys are still encrypted by ${older.join(', ')}.`, 'Run rewrap-keys, then remove the old key.')]
}

const answerMs = 5_000

/** Checks that mails can leave. Signs in to a mail server, but does not send a mail. */
export async function checkMail({ SMTP_URL: url }: Environment): Promise<Observation[]> {
  if (!url) {
    const advice = 'Set SMTP_URL and MAIL_FROM of the api and the dispatcher: docs/mail-and-alerts.md.'
    return [warning('SMTP_URL is not set: invitations, password resets and alerts by mail are given up.', advice)]
  }
  if (url.startsWith('file:')) return checkFolder(fileURLToPath(url))
  const limits = { connectionTimeout: answerMs, greetingTimeout: answerMs, socketTimeout: answerMs }
  const { default: nodemailer } = await import('nodemailer')
  const transport = nodemailer.createTransport({ url, ...limits })
  const { host } = new URL(url)
  try {
    await transport.verify()
    return [ok(`the mail server ${host} accepts the sign-in`)]
  } catch (error) {
    const message = `The mail server ${host} does not accept mails: ${reasonOf(error)}`
    const isSignIn = codeOf(error) === 'EAUTH'
    return [problem(message, isSignIn ? 'Correct the user and the password in SMTP_URL.' : 'Correct SMTP_URL.')]
  } finally {
    transport.close()
  }
}

async function checkFolder(folder: string): Promise<Observation[]> {
  try {
    await access(folder, constants.W_OK)
  } catch (error) {
    // The dispatcher creates it with its first mail.
    if (codeOf(error) !== 'ENOENT') {
      return [problem(`The folder of mails ${folder} cannot be written: ${reasonOf(error)}`, 'Change its owner.')]
    }
  }
  return [ok(`mails are written to ${folder}`)]
}
