import { readTicks, stolenShare } from './stolen-time.ts'

/** The rounds of one benchmark. */
export type Rounds = {
  /** So many are kept. */
  readonly count: number
  /**
   * Runs the rounds, one after another. One from which the hypervisor took more than a hundredth of the machine is
   * repeated, as long as there are not twice as many as are kept; those are kept from which it took least. Nothing else
   * about a round decides whether it counts.
   */
  run<T>(round: (index: number) => Promise<T>): Promise<T[]>
  /** The shares that were taken from the rounds that count. */
  readonly kept: number[]
  /** The same of those that do not. */
  readonly setAside: number[]
}

const mostStolen = 0.01

/**
 * @param count - How many rounds are kept.
 * @param watch - Begins to watch the machine, and returns what tells the share that was stolen since.
 */
export function createRounds(count: number, watch: () => () => number = watchStolenTime): Rounds {
  const [kept, setAside]: [number[], number[]] = [[], []]
  return {
    count,
    kept,
    setAside,
    async run<T>(round: (index: number) => Promise<T>) {
      const all: Array<{ result: T; stolen: number }> = []
      while (all.length < 2 * count && all.filter(({ stolen }) => stolen <= mostStolen).length < count) {
        const stolenSince = watch()
        const result = await round(all.length)
        all.push({ result, stolen: stolenSince() })
      }
      const least = new Set(all.toSorted((one, other) => one.stolen - other.stolen).slice(0, count))
      for (const one of all) (least.has(one) ? kept : setAside).push(one.stolen)
      return all.filter(one => least.has(one)).map(({ result }) => result)
    },
  }
}

function watchStolenTime(): () => number {
  const before = readTicks()
  return () => stolenShare(before, readTicks())
}

/** Says how disturbed the rounds were; nothing when they were not. */
export function disturbanceNote({ count, kept, setAside }: Rounds): string[] {
  const worst = Math.max(0, ...kept)
  if (setAside.length === 0 && worst <= mostStolen) return []
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`
  const others =
    setAside.length === 0
      ? ''
      : `, and up to ${percent(Math.max(...setAside))} from ${setAside.length} more, which do not count`
  return [`The hypervisor took up to ${percent(worst)} of the machine from the ${count} rounds${others}.`]
}
