import { cpus } from 'node:os'
import type { Proof } from './prove-once.ts'

const columns: Record<string, keyof Proof> = {
  Store: 'store',
  Calls: 'calls',
  Kills: 'kills',
  Seed: 'seed',
  Stored: 'stored',
  'Repeated attempts': 'repeated',
  'In flight at the end': 'inFlight',
  Lost: 'lost',
  'Double effects': 'doubled',
  'Effects of rolled-back transactions': 'rolledBack',
  Seconds: 'seconds',
}

/** Returns the results as a table, with the machine. */
export function describeProofs(proofs: readonly Proof[]): string {
  const toLine = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  const fields = Object.values(columns)
  return [
    toLine(Object.keys(columns)),
    toLine(fields.map(() => '---')),
    ...proofs.map(proof => toLine(fields.map(field => proof[field]))),
    '',
    `${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${new Date().toISOString()}`,
  ].join('\n')
}
