import { toId } from '@belfry/domain'
import { startBelfry } from '../lab/belfry.ts'
import { many, startFilledPostgres } from '../lab/filled-data.ts'
import { type List, type ListReader, openListReader } from '../lab/list-reader.ts'
import { measured, quantile } from '../measure/statistics.ts'
import type { Benchmark } from './benchmark.ts'

const pagesDeep = 1_000
const pagesAtOnce = 50

/** How long the lists take where much is stored: with each filter, and deep in the log. */
export const activityLog: Benchmark = {
  name: 'activity-log',
  title: `Lists with ${many.runs.toLocaleString('en')} runs and ${many.tasks.toLocaleString('en')} tasks stored`,
  async run(lab, { rounds }) {
    const filled = await startFilledPostgres()
    try {
      const database = await filled.openMany()
      const belfry = await startBelfry(lab, database, { services: ['api'] })
      try {
        const reader = await openListReader(belfry.apiUrl, database)
        const [firstPages, depth] = [await readFirstPages(reader, 2 * rounds + 1), await readDeep(reader)]
        const worst = Object.entries(firstPages).reduce((slowest, one) => (one[1] > slowest[1] ? one : slowest))
        return {
          rounds: { firstPages, depth },
          notes: [`The slowest first page is that of ${worst[0]}.`],
          figures: [
            {
              key: 'activity_log_first_page_ms',
              title: 'first page, the slowest of all filters, through the API',
              unit: 'ms',
              value: worst[1],
              min: Math.min(...Object.values(firstPages)),
              max: worst[1],
              limit: { atMost: 50 },
            },
            {
              key: 'activity_log_page_1000_vs_1',
              title: `pages around ${pagesDeep.toLocaleString('en')} of the log / the first ones`,
              ...measured([depth.last / depth.first]),
              limit: { atMost: 1.5 },
            },
          ],
        }
      } finally {
        await belfry.stop()
        await database.close()
      }
    } finally {
      await filled.postgres.stop()
    }
  },
}

/** The median of some first pages for each filter, in milliseconds. */
async function readFirstPages(reader: ListReader, times: number): Promise<Record<string, number>> {
  const medians: Record<string, number> = {}
  for (const [name, list, filter] of filters()) {
    const query = new URLSearchParams(filter)
    const read: number[] = []
    await reader.read(list, query) // from the disk, perhaps
    for (let i = 0; i < times; i++) read.push((await reader.read(list, query)).ms)
    medians[name] = quantile(read, 0.5)
  }
  return medians
}

async function readDeep(reader: ListReader): Promise<{ first: number; last: number }> {
  const read: number[] = []
  for (let cursor: string | null = ''; cursor !== null && read.length < pagesDeep; ) {
    const page = await reader.read('runs', new URLSearchParams(cursor === '' ? {} : { cursor }))
    read.push(page.ms)
    cursor = page.next
  }
  if (read.length < pagesDeep) throw new Error(`The log has ${read.length} pages instead of ${pagesDeep}.`)
  return { first: quantile(read.slice(0, pagesAtOnce), 0.5), last: quantile(read.slice(-pagesAtOnce), 0.5) }
}

type Filter = Record<string, string>

function filters(): Array<[name: string, list: List, filter: Filter]> {
  const ofRuns = Object.entries(runFilters()).flatMap(
    ([name, filter]): Array<[string, List, Filter]> => [
      [`runs: ${name}`, 'runs', filter],
      [`runs of all workspaces: ${name}`, 'log', filter],
    ],
  )
  return [
    ...ofRuns,
    ...Object.entries(taskFilters()).map(([name, filter]): [string, List, Filter] => [
      `tasks: ${name}`,
      'tasks',
      filter,
    ]),
  ]
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
// As the filling makes them.
const cronJob = toId('cron', '00000000-1388-0000-0000-000000000000')

function runFilters(): Record<string, Filter> {
  return {
    none: {},
    failed: { status: 'failed' },
    success: { status: 'success' },
    'a cron job': { cronjob_id: cronJob },
    'failures of a cron job': { cronjob_id: cronJob, status: 'failed' },
    'a topic': { topic: 'orders.5' },
    'a topic that nothing has': { topic: 'no.such' },
    'source event': { source: 'event' },
    '5xx': { response_status: '5xx' },
    'a rare status': { response_status: '418' },
    'a status that nothing has': { response_status: '204' },
    'a day': { from: daysAgo(60), to: daysAgo(59) },
    'a month of failures': { from: daysAgo(60), to: daysAgo(30), status: 'failed' },
    'a month of cron successes': { from: daysAgo(60), to: daysAgo(30), status: 'success', source: 'cron' },
    'everything at once': {
      ...{ status: 'failed', source: 'event', topic: 'orders.7', response_status: '5xx' },
      ...{ from: daysAgo(140), to: daysAgo(1) },
    },
  }
}

function taskFilters(): Record<string, Filter> {
  return {
    none: {},
    success: { state: 'success' },
    'a state that nothing has': { state: 'dead' },
    'a name that most have': { name: 'Old' },
    'a rare name': { name: 'Rare' },
    'a name that nothing has': { name: 'zzz' },
    'source event': { source: 'event' },
    'a day of execute_at': { from: daysAgo(60), to: daysAgo(59) },
    'a cron job': { cronjob_id: cronJob },
  }
}
