import { statfs } from 'node:fs/promises'
import { type Observation, ok, problem, warning } from '../finding.ts'

const gigabyte = 1024 ** 3

/** Checks the disk of the data folder. */
export async function checkDisk(dataDir: string): Promise<Observation[]> {
  const { bsize, bavail, blocks } = await statfs(dataDir)
  return judgeDisk(dataDir, bavail * bsize, blocks * bsize)
}

/** Judges the free space of a disk, in bytes. */
export function judgeDisk(folder: string, free: number, size: number): Observation[] {
  const percent = Math.floor((free / size) * 100)
  const message = `${(free / gigabyte).toFixed(1)} GB (${percent} %) of the disk of ${folder} are free`
  const advice = 'Free space, or move the data folder. A full disk stops PostgreSQL; accepted tasks are kept.'
  if (free < gigabyte / 2 || percent < 2) return [problem(`${message}.`, advice)]
  if (free < 2 * gigabyte || percent < 10) return [warning(`${message}.`, advice)]
  return [ok(message)]
}
