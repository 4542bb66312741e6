import { Belfry, type BelfryOptions } from '@belfry/client'
import { createOutput, type OutputStream } from './output/output.ts'
import { UsageError } from './usage-error.ts'

/** Why the program must stop when the reader of its output has left, as in `belfry list | head`. */
export const closedPipe = new Error('The reader of the output has closed it.')

/** The environment, streams and stop signal of the program. */
export type Io = {
  env: Record<string, string | undefined>
  stdin: AsyncIterable<Uint8Array | string>
  stdout: OutputStream
  stderr: OutputStream
  /** Aborted when the program must stop. */
  signal: AbortSignal
}

export type GlobalOptions = { apiKey?: string; token?: string; workspace?: string; url?: string; json?: boolean }

/** What the commands share. */
export type Context = ReturnType<typeof createContext>

export function createContext(io: Io, options: GlobalOptions) {
  const { env, stdout } = io
  const credentials = credentialsOf(env, options)
  let hasWarned = false
  const server = () => {
    const url = urlOf(env, options)
    if (url.baseUrl && isInsecure(url.baseUrl) && !hasWarned) {
      hasWarned = true
      io.stderr.write(`Warning: the credential is sent unencrypted to ${url.baseUrl}. Use https.\n`)
    }
    return url
  }
  const connection = (): BelfryOptions => {
    const url = server()
    if (credentials) return { ...credentials, ...url }
    throw new UsageError('Set BELFRY_API_KEY or --api-key to the key of a workspace, bf_...')
  }
  return {
    ...io,
    out: createOutput(stdout, { isJson: options.json ?? false, env }),
    now: () => new Date(),
    /** Whether there is a key or a token. */
    canSignIn: credentials !== null,
    /** Returns the options of a client for the server and credentials of the options and the environment. */
    connection,
    server,
    url: () => server().baseUrl?.replace(/\/+$/, '') ?? 'http://localhost:3000',
    belfry: (on: BelfryOptions['on'] = {}) => new Belfry({ ...connection(), on }),
  }
}

function urlOf(env: Io['env'], options: GlobalOptions): Pick<BelfryOptions, 'baseUrl'> {
  const baseUrl = options.url || env.BELFRY_URL
  if (!baseUrl) return {}
  if (!URL.canParse(baseUrl)) throw new UsageError(`${baseUrl} is not a URL, such as https://belfry.example.com.`)
  return { baseUrl }
}

/** Returns whether a credential for a URL would travel unencrypted to another machine. */
function isInsecure(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

function credentialsOf(env: Io['env'], options: GlobalOptions): BelfryOptions | null {
  const sessionToken = options.token || (options.apiKey ? undefined : env.BELFRY_TOKEN)
  const apiKey = options.apiKey || env.BELFRY_API_KEY
  const workspaceId = options.workspace || env.BELFRY_WORKSPACE
  if (sessionToken) return { sessionToken, ...(workspaceId ? { workspaceId } : {}) }
  return apiKey ? { apiKey } : null
}
