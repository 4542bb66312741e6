const form = /^redis(?<s>s?)(?<cluster>\+cluster)?:\/\/(?<place>.*)$/
const node = /^(?<host>\[[\da-f:.]+\]|[^:[\]/?#]+)(?::(?<port>\d{0,5}))?$/i
const defaultPort = 6379

/**
 * Parses `redis://user:password@host:port/database`, or `redis+cluster://` with comma-separated nodes. `rediss` encrypts the
 * connections.
 * @throws Error that does not show the text, because it may hold a password.
 */
export function parseRedisAddress(text: string) {
  const { s, cluster, place = '' } = form.exec(text)?.groups ?? {}
  const isCluster = cluster !== undefined
  if (s === undefined || !(isCluster || URL.canParse(text))) throw malformed()
  // Behind the host, a single Redis has the number of a database and options. The options may contain an @.
  const [authority = ''] = isCluster ? [place.replace(/\/$/, '')] : place.split(/[/?#]/)
  const [, user = '', nodes = ''] = /^(?:(.*)@)?(.*)$/.exec(authority) ?? []
  const [username = '', ...password] = user.split(':')
  return {
    /** The Redis, or some nodes of the cluster. Empty for a single Redis that is reached by a socket. */
    nodes: nodes === '' && !isCluster ? [] : nodes.split(',').map(parseNode),
    isCluster,
    isEncrypted: s === 's',
    username: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password.join(':')) || undefined,
  }
}

function parseNode(place: string): { host: string; port: number } {
  const { host, port } = node.exec(place.trim())?.groups ?? {}
  if (host === undefined || Number(port ?? 0) > 65_535) throw malformed()
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) || defaultPort }
}

function malformed(): Error {
  return new Error('must be redis://host:6379, or redis+cluster://host:6379,host:6379 with some nodes of a cluster')
}
