import { InvalidArgumentError } from 'commander'

/** How an option differs from what follows from its field. */
type Exception = { flags?: string; isRequired?: false; parse?: (text: string, words: readonly string[]) => unknown }

const status = { flags: '--state, --status <status>' }

/** The options that are shorter than the names of their fields, or that do more, by the path of the field. */
export const exceptions: Readonly<Record<string, Exception>> = {
  // The client has values for them.
  name: { isRequired: false },
  method: { flags: '-X, --method <method>', isRequired: false, parse: parseMethod },
  'retry.max_retries': { flags: '--retries <n>' },
  target_url: { flags: '--to <url>' },
  allowed_hosts: { flags: '--allowed-host <host...>' },
  count: { flags: '-n, --count <n>' },
  state: status,
  status,
}

/** The fields for which commands have options of other forms, such as files, or times from now. */
export const withOwnOptions: readonly string[] = [
  ...['payload_base64', 'execute_at', 'expires_at', 'value'],
  ...['rate_limit.count', 'rate_limit.period_ms'],
  ...['limit', 'cursor'],
]

function parseMethod(text: string, methods: readonly string[]): string {
  const method = methods.find(one => one === text.toUpperCase())
  if (method) return method
  throw new InvalidArgumentError(`Choose from ${methods.join(', ')}.`)
}
