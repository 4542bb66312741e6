import { isImage, startCommand } from './config.ts'
import type { QstashFacts } from './find-qstash.ts'
import type { Account, Workspace } from './first-account.ts'
import { isLoopback } from './service-environment.ts'

export type BannerFacts = {
  url: string
  echoUrl: string
  /** Null without an account. */
  account: Account | null
  /** The workspace of the account; null without an account. */
  workspace: Workspace | null
  operatorPassword: string
  database: string
  /** The URL of the user's Redis; null without one. */
  redis: string | null
  dataDir: string
  metricsUrl: string
  /** The path of the bundled command line. */
  cli: string
  /** Whether curl would use a proxy, which cannot reach this machine's loopback. */
  isBehindProxy: boolean
  /** The address that the API listens on. */
  host: string
  registration: 'open' | 'invite' | 'closed'
  /** Null unless the QStash interface is served. */
  qstash: QstashFacts | null
}

/** Returns the text that is printed once everything is ready. */
export function banner(facts: BannerFacts): string {
  const { url, echoUrl, account, workspace, operatorPassword, database, redis, dataDir, metricsUrl } = facts
  const rows = [
    ...(account ? [['Dashboard', `${url}  ${account.email}  ${account.password}`] as const] : []),
    ...(account ? [['API key', account.apiKey] as const] : []),
    ...(workspace ? [['Workspace', workspace.id] as const] : []),
    ...(workspace ? [['Signing', workspace.signingSecret] as const] : []),
    ...(redis ? [['Redis', redis] as const] : []),
    ['Jobs', `${url}/admin/queues  operator  ${operatorPassword}`],
    ['Database', database],
    ['Data', dataDir],
    ['Logs', isImage ? `below, and those of PostgreSQL in ${dataDir}/logs` : `${dataDir}/logs`],
    ['Metrics', metricsUrl],
    ['Access', access(facts)],
    ['Receiver', `${echoUrl} (for experiments: shows every request below)`],
  ] as const
  const lines = [
    '',
    `Belfry is running at ${url}`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`),
    '',
  ]
  if (account)
    lines.push(
      ...examples(facts, account.apiKey),
      ...settings(facts, account.apiKey),
      ...qstashSettings(facts, account.apiKey),
    )
  lines.push(`Ctrl-C stops everything. ${startCommand} continues with the same data.`, '')
  return lines.join('\n')
}

function access({ host, registration }: BannerFacts): string {
  const who = isLoopback(host) ? 'this machine only' : `every machine that reaches ${host}`
  const accounts = { open: 'anyone can register', invite: 'accounts by invitation', closed: 'no new accounts' }
  const loopback = `every account can call ${isImage ? "the container's" : "this machine's"} loopback addresses`
  return `${who}; ${accounts[registration]}; ${loopback}`
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

function settings({ url, workspace, cli }: BannerFacts, apiKey: string): string[] {
  return [
    'For the documentation, the client and the command line in another terminal:',
    '',
    `export BELFRY_URL=${url} BELFRY_API_KEY=${apiKey}`,
    ...(workspace ? [`export BELFRY_SIGNING_SECRET=${workspace.signingSecret}`] : []),
    `alias belfry='${isImage ? 'npx @belfry/cli' : `node "${cli}"`}'`,
    '',
  ]
}

function qstashSettings({ url, qstash }: BannerFacts, apiKey: string): string[] {
  if (qstash === null) return []
  const { current, next, devPort } = qstash
  const mode =
    devPort === null ? '' : ` QSTASH_DEV=true${devPort === '8080' ? '' : ` QSTASH_DEV_PORT=${devPort}`} does the same:`
  return [
    `For an app that uses QStash (docs/moving.md).${mode}`,
    '',
    `export QSTASH_URL=${url} QSTASH_TOKEN=${apiKey}`,
    `export QSTASH_CURRENT_SIGNING_KEY=${current} QSTASH_NEXT_SIGNING_KEY=${next}`,
    '',
  ]
}
