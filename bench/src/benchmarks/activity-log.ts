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
        const [firstPages, depth] = [await readFirstPages(reader, 2 * rounds.count + 1), await readDeep(reader)]
        const worst = Object.entries(firstPages).reduce((slowest, one) => (one[1] > slowest[1] ? one : slowest))
        return {
          rounds: { firstPages, depth },
          notes: [`The slowest of ${Object.keys(firstPages).length} first pages is that of ${worst[0]}.`],
          figures: [
            {
              key: 'activity_log_first_page_ms',
              title: 'first page, the slowest of all combinations of filters, through the API',
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

/** How long the first page of each combination of filters takes, in milliseconds; the median of some where it is slow. */
async function readFirstPages(reader: ListReader, times: number): Promise<Record<string, number>> {
  const pages: Record<string, number> = {}
  for (const [list, choices] of Object.entries(choicesOf) as Array<[List, Choices]>) {
    for (const filter of combinations(choices)) {
      const query = new URLSearchParams(filter)
      let { ms } = await reader.read(list, query)
      if (ms > suspiciousMs) ms = await medianOf(times, () => reader.read(list, query))
      pages[`${list}?${query}`] = ms
    }
  }
  return pages
}

async function medianOf(times: number, read: () => Promise<{ ms: number }>): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push((await read()).ms)
  return quantile(all, 0.5)
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
/** What the dashboard offers of each filter, beside none. */
type Choices = Filter[][]

// Much that was read first comes from the disk, and what is compiled by then is little.
const suspiciousMs = 20

function combinations([first, ...others]: Choices): Filter[] {
  if (!first) return [{}]
  const rest = combinations(others)
  return [{}, ...first].flatMap(filter => rest.map(more => ({ ...filter, ...more })))
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
// As the filling makes them.
const cronJob = [{ cronjob_id: toId('cron', '00000000-1388-0000-0000-000000000000') }]
const times = [
  { from: daysAgo(60), to: daysAgo(59) },
  { from: daysAgo(140), to: daysAgo(1) },
]
const sources = [{ source: 'event' }, { source: 'cron' }, { source: 'task' }]

// Of each: what much has, what little has, and what nothing has.
const runChoices: Choices = [
  [{ status: 'success' }, { status: 'failed' }],
  sources,
  [{ topic: 'orders.5' }, { topic: 'no.such' }],
  [{ response_status: '5xx' }, { response_status: '418' }, { response_status: '204' }],
  cronJob,
  times,
]
const choicesOf: Record<List, Choices> = {
  runs: runChoices,
  log: runChoices,
  tasks: [
    [{ state: 'success' }, { state: 'pending' }, { state: 'dead' }],
    [{ name: 'Old' }, { name: 'Rare' }, { name: 'zzz' }],
    sources,
    cronJob,
    times,
  ],
}
