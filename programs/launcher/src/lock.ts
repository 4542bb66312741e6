import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { processIdentity } from '@belfry/embedded'
import { codeOf } from './errors.ts'
import { readJson, writeJson } from './json-file.ts'

/** A process, distinguishable from others that reuse its pid. */
export type ProcessRecord = { pid: number; identity: string | null }

/** The content of `run.json`: the launcher on this data, its URL and its services. */
export type RunRecord = ProcessRecord & {
  url: string
  /** The port of `/readyz` and `/metrics`; missing until the service is ready. */
  operatorPort?: number
  services: Record<string, ProcessRecord>
}

export type Lock = {
  /** The services that a killed launcher left running. */
  leftovers: ProcessRecord[]
  recordService(name: string, pid: number): void
  recordOperatorPort(port: number): void
  release(): void
}

/** Locks the data directory for this process, or returns the current holder. */
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
    recordService(name, pid) {
      record.services[name] = recordOf(pid)
      writeJson(path, record)
    },
    recordOperatorPort(port) {
      record.operatorPort = port
      writeJson(path, record)
    },
    release: () => rmSync(path, { force: true }),
  }
}

export function isAlive({ pid, identity }: ProcessRecord): boolean {
  return identity !== null && processIdentity(pid) === identity
}

/** Kills the recorded process, unless it ends by itself before. */
export function killLeftover(leftover: ProcessRecord): void {
  if (!isAlive(leftover)) return
  try {
    process.kill(leftover.pid, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

function recordOf(pid: number): ProcessRecord {
  return { pid, identity: processIdentity(pid) }
}

// Unlike a write, a link is atomic, and fails when another process was faster.
function link(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

// Two processes may find the same stale file. The second one has moved the winner's file away and must restore it.
function putAside(path: string, staleText: string): void {
  const aside = `${path}.${process.pid}.stale`
  try {
    renameSync(path, aside)
  } catch {
    return // the other process was faster
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

export function isRunRecord(value: unknown): value is RunRecord {
  const { pid, identity, url, services } = Object(value) as Partial<RunRecord> // checked field by field
  return [typeof pid, typeof identity, typeof url, typeof services].join() === 'number,string,string,object'
}
