// Names inside of these belong to users.
const opaque = new Set(['headers', 'payload', 'body', 'parameters', 'conditions', 'arguments'])

/** Converts snake_case names of a response to camelCase, but not inside headers, payloads, bodies, arguments and conditions. */
export function toCamel(value: unknown): unknown {
  return rename(value, camel)
}

/** Converts a snake_case name to camelCase. */
export function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Converts camelCase names of a request to snake_case, but not inside headers, payloads, bodies, arguments and conditions. */
export function toSnake(value: unknown): unknown {
  return rename(value, name => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`))
}

function rename(value: unknown, to: (name: string) => string, field?: string): unknown {
  if (Array.isArray(value)) return value.map(item => rename(item, to, field))
  // JSON would have null in its place. That means no time.
  if (value instanceof Date && Number.isNaN(value.getTime())) throw new TypeError(`${field} is an invalid Date.`)
  // A Date and a URL write themselves. Not each platform has a global `URL`.
  if (value === null || typeof value !== 'object' || 'toJSON' in value) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [to(name), opaque.has(name) ? member : rename(member, to, name)]),
  )
}

/** Converts the path of a field to the names of this library, except for the parts inside headers, payloads and conditions. */
export function toCamelPath(path: string): string {
  const parts = path.split('.')
  const user = parts.findIndex(part => opaque.has(part.replace(/\[.*/, '')))
  return parts.map((part, i) => (user >= 0 && i > user ? part : nameOf(part, parts[i - 1]))).join('.')
}

// The HTTP API calls the target of tasks, cron jobs and subscriptions `url`. Callbacks have a `url` here too.
function nameOf(part: string, parent = ''): string {
  return part === 'url' && !parent.startsWith('on_') ? 'targetUrl' : camel(part)
}
