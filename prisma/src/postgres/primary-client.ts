import pg from 'pg'
import { isTransientDatabaseError } from './database-errors.ts'
import { urlsOfHosts } from './database-hosts.ts'

const probeMs = 3_000

/**
 * Returns how pools and clients connect to a database URL. The URL may list several hosts: a primary and its replicas. Then
 * `Client` connects to the primary, and finds the next one when its connections fail. The driver knows only one host.
 */
export function targetOf(databaseUrl: string): { connectionString: string; Client: typeof pg.Client } {
  const urls = urlsOfHosts(databaseUrl)
  const [connectionString = databaseUrl] = urls
  return { connectionString, Client: urls.length === 1 ? pg.Client : clientOfPrimary(urls) }
}

/** Returns the URL of the one host that accepts writes. Rejects with a transient error when no host does. */
export async function findPrimary(databaseUrl: string): Promise<string> {
  const urls = urlsOfHosts(databaseUrl)
  return urls.length === 1 ? databaseUrl : primaryOf(urls)
}

// Probes all hosts at once, so a dead host does not delay the others.
async function primaryOf(urls: readonly string[]): Promise<string> {
  return Promise.any(urls.map(probe)).catch(({ errors }: AggregateError) => {
    // A permanent error, e.g. a wrong password, is not worth a retry.
    const final = errors.find(error => !isTransientDatabaseError(error))
    if (final) throw final
    const reasons = errors.map((error: Error, i) => `${new URL(urls[i] ?? '').host}: ${error.message}`)
    throw readOnly(`No host of the database accepts writes: ${reasons.join(', ')}`)
  })
}

async function probe(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: probeMs })
  const acceptsWrites = watchRole(client)
  client.on('error', () => {})
  try {
    await client.connect()
    if (!acceptsWrites()) throw readOnly('it is read-only')
    return url
  } finally {
    void client.end().catch(() => {})
  }
}

// A pool asks for the primary again after a connection to the last one has failed, so most connections are made without
// a probe.
function clientOfPrimary(urls: readonly string[]): typeof pg.Client {
  let known: string | null = null
  return class PrimaryClient extends pg.Client {
    readonly #acceptsWrites = watchRole(this)

    override connect(): Promise<pg.Client>
    override connect(callback: Connected): void
    override connect(callback?: Connected): Promise<pg.Client> | undefined {
      const connecting = this.#connect()
      if (!callback) return connecting
      const call = callback as (error: Error | null, client?: pg.Client) => void
      connecting.then(() => call(null, this), call)
      return undefined
    }

    async #connect(): Promise<this> {
      const url = known ?? (await primaryOf(urls))
      const { hostname, port } = new URL(url)
      Object.assign(this, { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 5432) })
      try {
        await super.connect()
        if (!this.#acceptsWrites()) throw readOnly('The primary has become read-only.')
      } catch (error) {
        known = null
        void this.end().catch(() => {})
        throw error
      }
      known = url
      return this
    }
  }
}

// As the driver declares it.
type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void)

// PostgreSQL reports both settings when a session begins. A pooler in between omits both.
function watchRole(client: pg.Client): () => boolean {
  const reported = new Map<string, string>()
  client.connection.on('parameterStatus', (status: { parameterName: string; parameterValue: string }) =>
    reported.set(status.parameterName, status.parameterValue),
  )
  return () => reported.get('in_hot_standby') !== 'on' && reported.get('default_transaction_read_only') !== 'on'
}

// SQLSTATE 25006 `read_only_sql_transaction`: the server is read-only, e.g. during a failover.
function readOnly(message: string): Error {
  return Object.assign(new Error(message), { code: '25006' })
}
