import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** Reads a JSON file. Returns undefined if it does not exist or is not JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // missing, truncated or empty
  }
}

/** Replaces a JSON file atomically, readable by its owner only. */
export function writeJson(path: string, value: unknown): void {
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}
