import { bounds, costs, sizes } from './assumptions.ts'
import { type Load, limitsOf, type Needs, needsOf } from './model.ts'
import { type Month, simulate } from './simulate.ts'

const months = 6

const rowsOfNeeds: ReadonlyArray<readonly [name: string, of: keyof Needs]> = [
  ['apis', 'apis'],
  ['dispatchers', 'dispatchers'],
  ['cores of PostgreSQL', 'postgresCores'],
  ['log of PostgreSQL, MB/s', 'walMbPerSecond'],
  ['connections to PostgreSQL', 'postgresConnections'],
  ['cores of Redis', 'redisCores'],
  ['`QUEUE_SHARDS`', 'queueShards'],
  ['memory of Redis, MB', 'redisMb'],
  ['connections to Redis', 'redisConnections'],
  ['rows that wait', 'waitingRows'],
  ['runs that are kept', 'keptRuns'],
  ['runs in a month’s partition', 'rowsPerPartition'],
  ['database, GB', 'databaseGb'],
]

const columnsOfMonths: ReadonlyArray<readonly [name: string, of: keyof Month]> = [
  ['month', 'month'],
  ['waiting', 'waitingRows'],
  ['runs', 'keptRuns'],
  ['partitions', 'partitions'],
  ['database, GB', 'databaseGb'],
  ['Redis at its fullest, MB', 'redisMb'],
  ['a second at the peak', 'dispatchesAtPeak'],
]

/** Writes what each size needs, and how it grows, as the tables of docs/scaling.md. */
export function describeCapacity(): string {
  return [tableOfNeeds(), ...sizes.map(tableOfMonths)].join('\n\n')
}

function tableOfNeeds(): string {
  const needs = sizes.map(load => needsOf(load, costs, bounds))
  const needed = rowsOfNeeds.map(([name, of]) => [name, ...needs.map(one => amount(one[of]))])
  const fullest = ['fullest', 'second', 'third'].map((name, i) => [name, ...needs.map(one => describeLimit(one, i))])
  const head = ['', ...sizes.map(({ dispatchesPerSecond }) => `${amount(dispatchesPerSecond)} a second`)]
  return table(head, [...needed, ...fullest])
}

function describeLimit(needs: Needs, place: number): string {
  const limit = limitsOf(needs, bounds)[place]
  return limit ? `${limit.what}: ${amount(limit.used * 100)} %` : ''
}

function tableOfMonths(load: Load): string {
  const lines = simulate(load, costs, months).map(at => columnsOfMonths.map(([, of]) => amount(at[of])))
  const titles = columnsOfMonths.map(([name]) => name)
  return `${amount(load.dispatchesPerSecond)} a second on average:\n\n${table(titles, lines)}`
}

function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** Two digits that count, and a unit where there would be many zeros. */
export function amount(value: number): string {
  const [divisor, unit] = [[1e9, ' billion'] as const, [1e6, ' million'] as const].find(([size]) => value >= size) ?? [
    1,
    '',
  ]
  const rounded = Number((value / divisor).toPrecision(2))
  return `${rounded.toLocaleString('en-US')}${unit}`
}
