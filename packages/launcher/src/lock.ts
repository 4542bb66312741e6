import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { processIdentity } from '@belfry/embedded'
import { readJson, writeJson } from './json-file.ts'

/** One process, safe against the number being given to another one. */
export type ProcessRecord = { pid: number; identity: string | null }

/** What `run.json` says: who runs on this data, where, and which services belong to it. */
export type RunRecord = ProcessRecord & { url: string; services: Record<string, ProcessRecord> }

export type Lock = {
  /** The services that a killed launcher has left. */
  leftovers: ProcessRecord[]
  /** Keeps on record which process a service runs as. */
  noteService(name: string, pid: number): void
  release(): void
}

/** Takes the data directory for this process, or tells who has it. */
export function takeLock(path: string, url: string): Lock | { holder: RunRecord } {
  const record: RunRecord = { ...recordOf(process.pid), url, services: {} }
  const draft = `${path}.${process.pid}`
  const leftovers: ProcessRecord[] = []
  writeJson(draft, record)
  try {
    while (!link(draft, path)) {
      const text = readText(path)
      const holder = readJson(path)
      if (isRunRecord(holder)) {
        if (isAlive(holder)) return { holder }
        leftovers.push(...Object.values(holder.services))
      }
      putAside(path, text)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  return {
    leftovers: leftovers.filter(isAlive),
    noteService(name, pid) {
      record.services[name] = recordOf(pid)
      writeJson(path, record)
    },
    release: () => rmSync(path, { force: true }),
  }
}

/** Tells whether the very process that was recorded is still there. */
export function isAlive({ pid, identity }: ProcessRecord): boolean {
  return identity !== null && processIdentity(pid) === identity
}

function recordOf(pid: number): ProcessRecord {
  return { pid, identity: processIdentity(pid) }
}

// Unlike a plain write, a link is whole from the start and fails when another process was faster.
function link(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

// Two starts may find the same stale file; whoever comes second has moved the winner's away and must put it back.
function putAside(path: string, staleText: string): void {
  const aside = `${path}.${process.pid}.stale`
  try {
    renameSync(path, aside)
  } catch {
    return // the other one was faster
  }
  if (readText(aside) !== staleText) link(aside, path)
  rmSync(aside, { force: true })
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function isRunRecord(value: unknown): value is RunRecord {
  if (typeof value !== 'object' || value === null) return false
  const { pid, identity, url, services } = value as Partial<RunRecord> // checked field by field
  return [typeof pid, typeof identity, typeof url, typeof services].join() === 'number,string,string,object'
}
