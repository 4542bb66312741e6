import { runMaintenance } from '../restore/run-maintenance.ts'

export type Finding = { check: string; level: 'ok' | 'warning' | 'problem'; message: string; advice?: string }

export type Diagnosis = { code: number; findings: Finding[]; output: string }

/** Runs `belfry doctor` with these variables only. */
export async function runDoctor(env: Record<string, string>, ...args: string[]): Promise<Diagnosis> {
  const { code, out, error } = await runMaintenance(env, 'doctor', '--json', ...args)
  const { findings } = out.startsWith('{') ? JSON.parse(out) : { findings: [] }
  return { code: code ?? -1, findings, output: out + error }
}

/** Returns the findings that are not ok, as text. */
export function complaints({ findings }: Diagnosis): string[] {
  return findings.filter(({ level }) => level !== 'ok').map(found => `${found.level} ${found.check}: ${found.message}`)
}
