import { once } from 'node:events'
import { parsedBy, readConfig } from '@belfry/runtime'
import { z } from 'zod'

export type RoleName = 'api' | 'scheduler' | 'dispatcher'

export type Environment = Record<string, string | undefined>

// The order in which they start. The dispatcher is last, so a process that fails to start never calls targets.
const roleNames = ['api', 'scheduler', 'dispatcher'] as const

export const variables = z.object({
  /** The roles of the process, comma-separated. Default: all. */
  ROLES: parsedBy(parseRoles).prefault(roleNames.join()),
  /** The URL of the database role of each service. Default: DATABASE_URL. */
  API_DATABASE_URL: z.string().optional(),
  SCHEDULER_DATABASE_URL: z.string().optional(),
  DISPATCHER_DATABASE_URL: z.string().optional(),
})

// In the build for tests. Each role checks VIRTUAL_CLOCK in all other builds.
const testVariables = z.object({
  DATABASE_URL: z.string('is required: a postgresql:// URL'),
  REDIS_URL: z.string().max(0, 'must be empty: the clock of Redis does not follow the virtual clock').optional(),
  VIRTUAL_CLOCK: z.literal('on', 'must be on: this is the build for tests'),
  NODE_ENV: z
    .string()
    .refine(value => value !== 'production', 'must not be production: this is the build for tests')
    .optional(),
})

/** Checks the environment of the build for tests, and returns the database whose clock becomes virtual. */
export function loadTestConfig(env: Environment = process.env): { databaseUrl: string } {
  return { databaseUrl: readConfig(testVariables, env).DATABASE_URL }
}

/** Returns the environment of the build for tests. The test kit starts that before its database, whose address it then sends. */
export async function receiveEnvironment(): Promise<Environment> {
  if (process.env.DATABASE_URL !== undefined || process.send === undefined) return process.env
  const [rest] = await once(process, 'message')
  return { ...process.env, ...rest }
}

/** Reads the roles of the process and their environment. If the API is one of them, its address is in the environment. */
export function loadConfig(env: Environment = process.env): { roles: RoleName[]; env: Environment } {
  const { ROLES: roles } = readConfig(variables, env)
  if (!roles.includes('api')) return { roles, env }
  const PORT = env.PORT || '3000'
  return { roles, env: { ...env, PORT, PUBLIC_URL: env.PUBLIC_URL || `http://localhost:${PORT}` } }
}

function parseRoles(text: string): RoleName[] {
  const wanted = text.split(',').map(name => name.trim())
  const unknown = wanted.find(name => !(roleNames as readonly string[]).includes(name))
  if (unknown !== undefined) throw new Error(`has no role "${unknown}": choose from ${roleNames.join(', ')}`)
  return roleNames.filter(name => wanted.includes(name))
}
