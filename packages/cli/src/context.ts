import { Belfry, type BelfryOptions } from '@belfry/client'
import { createOutput, type Output, type OutputStream } from './output/output.ts'
import { UsageError } from './usage-error.ts'

/** What the program is given by whoever runs it. */
export type Surroundings = {
  env: Record<string, string | undefined>
  stdin: AsyncIterable<Uint8Array | string>
  stdout: OutputStream
  stderr: OutputStream
  /** Aborted when the program has to end. */
  signal: AbortSignal
}

/** The options that every command takes. */
export type GlobalOptions = { apiKey?: string; token?: string; workspace?: string; url?: string; json?: boolean }

/** What a command works with. */
export type Context = Surroundings & {
  out: Output
  now(): Date
  /** Whether there is anything to sign in with. */
  canSignIn: boolean
  /** A client of the Belfry that the options and the environment name; `on` is told of its calls. */
  belfry(on?: BelfryOptions['on']): Belfry
}

export function createContext(surroundings: Surroundings, options: GlobalOptions): Context {
  const { env, stdout } = surroundings
  const credentials = credentialsOf(env, options)
  return {
    ...surroundings,
    out: createOutput(stdout, { isJson: options.json ?? false, env }),
    now: () => new Date(),
    canSignIn: credentials !== null,
    belfry(on = {}) {
      if (credentials) return new Belfry({ ...credentials, ...urlOf(env, options), on })
      throw new UsageError('Set BELFRY_API_KEY, or give --api-key: the key of a workspace, bf_...')
    },
  }
}

function urlOf(env: Surroundings['env'], options: GlobalOptions): BelfryOptions {
  const baseUrl = options.url || env.BELFRY_URL
  if (!baseUrl) return {}
  if (!URL.canParse(baseUrl)) throw new UsageError(`${baseUrl} is not a URL, such as https://belfry.example.com.`)
  return { baseUrl }
}

function credentialsOf(env: Surroundings['env'], options: GlobalOptions): BelfryOptions | null {
  const sessionToken = options.token || (options.apiKey ? undefined : env.BELFRY_TOKEN)
  const apiKey = options.apiKey || env.BELFRY_API_KEY
  const workspaceId = options.workspace || env.BELFRY_WORKSPACE
  if (sessionToken) return { sessionToken, ...(workspaceId ? { workspaceId } : {}) }
  return apiKey ? { apiKey } : null
}
