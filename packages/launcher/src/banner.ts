import type { Account } from './first-account.ts'

export type BannerFacts = {
  url: string
  echoUrl: string
  /** Null without an account. */
  account: Account | null
  operatorPassword: string
  database: string
  /** The URL of the user's Redis; null without one. */
  redis: string | null
  dataDir: string
  /** Whether curl would use a proxy, which cannot reach this machine's loopback. */
  isBehindProxy: boolean
}

/** Returns the text that is printed once everything is ready. */
export function banner(facts: BannerFacts): string {
  const { url, echoUrl, account, operatorPassword, database, redis, dataDir } = facts
  const rows = [
    ...(account ? [['Sign in', `${account.email}  ${account.password}`] as const] : []),
    ...(account ? [['API key', account.apiKey] as const] : []),
    ...(redis ? [['Redis', redis] as const] : []),
    ['Jobs', `${url}/admin/queues  operator  ${operatorPassword}`],
    ['Database', database],
    ['Data', dataDir],
    ['Logs', `${dataDir}/logs`],
    ['Receiver', `${echoUrl} (for experiments: shows every request below)`],
  ] as const
  const lines = [
    '',
    `Belfry is running at ${url}`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`),
    '',
  ]
  if (account) lines.push(...examples(facts, account.apiKey))
  lines.push('Ctrl-C stops everything. npm start continues with the same data.', '')
  return lines.join('\n')
}

function examples({ url, echoUrl, isBehindProxy }: BannerFacts, apiKey: string): string[] {
  const curl = `curl -sS ${isBehindProxy ? "--noproxy '*' " : ''}-H 'X-Api-Key: ${apiKey}'`
  const task = `{name: "Hello", url: "${echoUrl}/hello", method: "POST", payload: {hello: "world"}`
  // Node computes the time when the command runs, because the date command differs between systems.
  const body = `$(node -p 'JSON.stringify(${task}, execute_at: new Date(Date.now() + 5000)})')`
  return [
    'Call the receiver in five seconds:',
    '',
    `${curl} -H 'Content-Type: application/json' -d "${body}" ${url}/api/v1/scheduler/tasks`,
    '',
    'See the result:',
    '',
    `${curl} '${url}/api/v1/scheduler/runs?limit=1'`,
    '',
  ]
}
