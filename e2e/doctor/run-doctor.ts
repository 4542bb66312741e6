import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { repositoryRoot } from '../repository-root.ts'

export type Finding = { check: string; level: 'ok' | 'warning' | 'problem'; message: string; advice?: string }

export type Diagnosis = { code: number; findings: Finding[]; output: string }

/** Runs `belfry doctor` with these variables only. */
export function runDoctor(env: Record<string, string>, ...args: string[]): Promise<Diagnosis> {
  const program = join(repositoryRoot(), 'programs/maintenance/dist/main.mjs')
  // Without a folder of its own it could find the one of a developer.
  const given = { PATH: process.env.PATH, DATA_DIR: '/nonexistent', ...env }
  return new Promise(resolve => {
    const child = execFile(
      process.execPath,
      [program, 'doctor', '--json', ...args],
      { env: given },
      (_, stdout, stderr) => {
        const { findings } = stdout.startsWith('{') ? JSON.parse(stdout) : { findings: [] }
        resolve({ code: child.exitCode ?? -1, findings, output: stdout + stderr })
      },
    )
  })
}

/** Returns the findings that are not ok, as text. */
export function complaints({ findings }: Diagnosis): string[] {
  return findings.filter(({ level }) => level !== 'ok').map(found => `${found.level} ${found.check}: ${found.message}`)
}
