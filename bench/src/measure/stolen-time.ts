import { readFileSync } from 'node:fs'

/** Clock ticks of the whole machine since it began: all of them, and those that its hypervisor gave to others. */
export type Ticks = { all: number; stolen: number }

export function readTicks(): Ticks {
  return parseTicks(readFileSync('/proc/stat', 'utf8'))
}

/** Reads the first line of /proc/stat. What guests of this machine use stands there twice, so it is left out. */
export function parseTicks(stat: string): Ticks {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? []
  const [stolen = 0] = ticks.slice(7, 8)
  return { all: ticks.slice(0, 8).reduce((sum, some) => sum + some, 0), stolen }
}

/** The share of the machine that was stolen between two readings. */
export function stolenShare(before: Ticks, after: Ticks): number {
  return (after.stolen - before.stolen) / Math.max(1, after.all - before.all)
}
