/** The parts of `REDIS_URL`. */
export type RedisAddress = {
  /** The Redis, or some nodes of the cluster. */
  nodes: Array<{ host: string; port: number }>
  isCluster: boolean
  isEncrypted: boolean
  username: string | undefined
  password: string | undefined
}

const cluster = /^redis(?<s>s?)\+cluster:\/\/(?:(?<user>.*)@)?(?<nodes>[^@/?#]+)\/?$/
const node = /^(?<host>\[[\da-f:.]+\]|[^:[\]]+)(?::(?<port>\d{1,5}))?$/i
const defaultPort = 6379

/**
 * Parses `redis://user:password@host:port/database`, or `redis+cluster://` with comma-separated nodes. `rediss` encrypts the
 * connections.
 * @throws Error that does not show the text, because it may hold a password.
 */
export function parseRedisAddress(text: string): RedisAddress {
  const { s, user = '', nodes = '' } = cluster.exec(text)?.groups ?? {}
  if (s === undefined) return parseSingle(text)
  const [username = '', ...password] = user.split(':')
  return {
    nodes: nodes.split(',').map(parseNode),
    isCluster: true,
    isEncrypted: s === 's',
    username: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password.join(':')) || undefined,
  }
}

function parseSingle(text: string): RedisAddress {
  if (!/^rediss?:/.test(text) || !URL.canParse(text)) throw malformed()
  const { protocol, hostname, port, username, password } = new URL(text)
  return {
    nodes: hostname === '' ? [] : [{ host: withoutBrackets(hostname), port: Number(port) || defaultPort }],
    isCluster: false,
    isEncrypted: protocol === 'rediss:',
    username: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || undefined,
  }
}

function parseNode(place: string): { host: string; port: number } {
  const { host, port = defaultPort } = node.exec(place.trim())?.groups ?? {}
  if (host === undefined || Number(port) > 65_535) throw malformed()
  return { host: withoutBrackets(host), port: Number(port) }
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}

function malformed(): Error {
  return new Error('must be redis://host:6379, or redis+cluster://host:6379,host:6379 with some nodes of a cluster')
}
