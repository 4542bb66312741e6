import { openPool } from '@belfry/db'
import { readBounded, type Scan } from '../src/http/bounded-page.ts'
import { type RunFilter, scanRuns } from '../src/runs/run-scan.ts'
import { scanTasks, type TaskFilter } from '../src/tasks/find-tasks.ts'

// Times every filter of the log and of the tasks on a database that fill-activity-log.sql has filled. Its address is the
// first argument. Prints the median and the slowest of five first pages.

const repeats = 5
const pageSize = 25

const pool = openPool(process.argv[2] ?? '', { max: 2, onError: () => {} })
const anId = (kind: string, n: number) => `00000000-0000-7000-${kind}-${n.toString(16).padStart(12, '0')}`
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
const workspaces = Array.from({ length: 100 }, (_, n) => anId('8000', n))
const [hot = ''] = workspaces

const runFilters: Record<string, RunFilter> = {
  none: {},
  failed: { status: ['failed'] },
  success: { status: ['success'] },
  task: { task_id: [anId('9000', 123_455)] },
  'cron job': { cronjob_id: [anId('a000', 5)] },
  'failures of two cron jobs': { cronjob_id: [anId('a000', 5), anId('a000', 206)], status: ['failed'] },
  topic: { topic: ['orders.5'] },
  'topic that nothing has': { topic: ['no.such'] },
  'source cron': { source: ['cron'] },
  'source event': { source: ['event'] },
  '5xx': { response_status: [{ from: 500, to: 599 }] },
  '418, rare': { response_status: [{ from: 418, to: 418 }] },
  '204, rarer': { response_status: [{ from: 204, to: 204 }] },
  'a day': { from: daysAgo(60), to: daysAgo(59) },
  'a month of failures': { from: daysAgo(60), to: daysAgo(30), status: ['failed'] },
  'a month of cron successes': { from: daysAgo(60), to: daysAgo(30), status: ['success'], source: ['cron'] },
  'everything at once': {
    ...{ status: ['failed'], source: ['event'], topic: ['orders.7'], response_status: [{ from: 500, to: 599 }] },
    ...{ from: daysAgo(160), to: daysAgo(1) },
  },
}

const taskFilters: Record<string, TaskFilter> = {
  none: {},
  dead: { state: ['dead'] },
  'pending or retrying': { state: ['pending', 'retrying'] },
  'name, common': { name: 'reminder' },
  'name, rare': { name: 'rare' },
  'name that nothing has': { name: 'zzz' },
  'source cron': { source: ['cron'] },
  'a day of execute_at': { from: daysAgo(-20), to: daysAgo(-21) },
  'cron job': { cronjob_id: [anId('a000', 3)] },
}

async function report(name: string, scan: Scan): Promise<void> {
  const times: number[] = []
  let shown = ''
  for (let i = 0; i < repeats; i++) {
    const began = performance.now()
    const { rows, next } = await readBounded({ pool }, scan, undefined, pageSize)
    times.push(performance.now() - began)
    shown = `${rows.length} rows${next === null ? '' : ', more'}`
  }
  print([name, ...summary(times), shown])
}

function summary(times: number[]): string[] {
  const sorted = times.toSorted((a, b) => a - b)
  return [sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0].map(ms => ms.toFixed(1))
}

function print(cells: string[]): void {
  process.stdout.write(`${cells.map((cell, i) => (i === 0 ? cell.padEnd(44) : cell.padStart(9))).join(' ')}\n`)
}

async function reportDepth(pages: number): Promise<void> {
  const times: number[] = []
  let after: string | undefined
  for (let page = 0; page < pages; page++) {
    const began = performance.now()
    const { next } = await readBounded({ pool }, scanRuns([hot], {}), after, pageSize)
    times.push(performance.now() - began)
    after = next ?? undefined
  }
  print(['pages 1 to 50', ...summary(times.slice(0, 50))])
  print([`pages ${pages - 49} to ${pages}`, ...summary(times.slice(-50))])
}

print(['', 'median ms', 'slowest'])
for (const [name, filter] of Object.entries(runFilters)) await report(`runs: ${name}`, scanRuns([hot], filter))
for (const [name, filter] of Object.entries(runFilters)) {
  await report(`runs of 100 workspaces: ${name}`, scanRuns(workspaces, filter))
}
for (const [name, filter] of Object.entries(taskFilters)) await report(`tasks: ${name}`, scanTasks(hot, filter))
await reportDepth(1000)
await pool.end()
