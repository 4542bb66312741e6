import { isImage, startCommand } from './config.ts'
import type { QstashFacts } from './find-qstash.ts'
import type { Account } from './first-account.ts'
import { isLoopback } from './service-environment.ts'

export type BannerFacts = {
  url: string
  echoUrl: string
  /** Null if the data folder has no account with a valid key. */
  account: Account | null
  operatorPassword: string
  database: string
  /** The URL of the user's Redis, or null. */
  redis: string | null
  dataDir: string
  detailsFile: string
  metricsUrl: string
  /** The path of the bundled command line. */
  cli: string
  /** Whether curl would use a proxy. A proxy cannot reach this machine's loopback. */
  isBehindProxy: boolean
  /** The address that the API listens on. */
  host: string
  /** `REGISTRATION`, as the API has checked it. */
  registration: string
  /** Null unless the QStash interface is served. */
  qstash: QstashFacts | null
}

/** Returns the text that is printed once everything is ready: what a newcomer needs, in nine lines. */
export function banner(facts: BannerFacts): string {
  const { url, echoUrl, account, detailsFile } = facts
  return [
    `Belfry is running at ${url} (documentation: ${url}/api/docs, more: ${detailsFile})`,
    ...(account ? [row('Sign in', `${account.email}  ${account.password}`), row('API key', account.apiKey)] : []),
    row('Receiver', `${echoUrl} (shows each request ${isImage ? 'below' : 'here'})`),
    ...(account ? ['Paste this into a second terminal, and the receiver shows a call five seconds later:'] : []),
    ...(account ? [...settings(facts, account), firstCall(facts, account)] : []),
    `Ctrl-C stops everything. ${startCommand} continues with the same data.`,
  ].join('\n')
}

/** Returns everything else that a user of this installation may want to know. */
export function details(facts: BannerFacts): string {
  const { url, account, operatorPassword, database, redis, dataDir, metricsUrl } = facts
  return [
    `Belfry is running at ${url}`,
    '',
    ...(account ? [row('Workspace', account.workspaceId), row('Signing', account.signingSecret)] : []),
    ...(redis ? [row('Redis', redis)] : []),
    row('Jobs', `${url}/admin/queues  operator  ${operatorPassword}`),
    row('Database', database),
    row('Data', dataDir),
    row('Logs', isImage ? `those of the container, and of PostgreSQL in ${dataDir}/logs` : `${dataDir}/logs`),
    row('Metrics', metricsUrl),
    row('Access', access(facts)),
    '',
    ...(account ? ['The latest run:', '', `${curl(facts, account)} '${url}/api/v1/scheduler/runs?limit=1'`, ''] : []),
    ...(account ? qstashSettings(facts, account) : []),
  ].join('\n')
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(9)} ${value}`
}

function access({ host, registration }: BannerFacts): string {
  const who = isLoopback(host) ? 'this machine only' : `every machine that reaches ${host}`
  const accounts: Record<string, string> = {
    open: 'anyone can register',
    invite: 'accounts by invitation',
    closed: 'no new accounts',
  }
  const loopback = `every account can call ${isImage ? "the container's" : "this machine's"} loopback addresses`
  return `${who}; ${accounts[registration]}; ${loopback}`
}

function settings({ url, cli }: BannerFacts, { apiKey, signingSecret }: Account): string[] {
  return [
    `export BELFRY_URL=${url} BELFRY_API_KEY=${apiKey} BELFRY_SIGNING_SECRET=${signingSecret}`,
    `alias belfry='${isImage ? 'npx @belfry/cli' : `node "${cli}"`}'`,
  ]
}

function firstCall(facts: BannerFacts, account: Account): string {
  const { url, echoUrl } = facts
  const task = `{name: "Hello", url: "${echoUrl}/hello", method: "POST", payload: {hello: "world"}`
  // Node computes the time when the command runs, because the date command differs between systems.
  const body = `$(node -p 'JSON.stringify(${task}, execute_at: new Date(Date.now() + 5000)})')`
  return `${curl(facts, account)} -H 'Content-Type: application/json' -d "${body}" ${url}/api/v1/scheduler/tasks`
}

function curl({ isBehindProxy }: BannerFacts, { apiKey }: Account): string {
  return `curl -sS ${isBehindProxy ? "--noproxy '*' " : ''}-H 'X-Api-Key: ${apiKey}'`
}

function qstashSettings({ url, qstash }: BannerFacts, { apiKey }: Account): string[] {
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
