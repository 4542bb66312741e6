import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const built = join(import.meta.dirname, '../../../services/api/dist/dashboard')
// Browsers ask for Brotli on a secure origin; a proxy without it may compress with gzip.
const maxBytes = { br: 150_000, gz: 175_000 }

/** Returns the scripts that load before anything is shown: those of the page, and their imports. */
function firstLoad(): Set<string> {
  const page = readFileSync(join(built, 'index.html'), 'utf8')
  const found = new Set<string>()
  const visit = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    const script = readFileSync(join(built, path), 'utf8')
    for (const [, name] of script.matchAll(/(?:^|[;}\n])(?:import|export)[^;()]*?["']\.\/([\w-]+\.js)["']/g)) {
      visit(`/assets/${name}`)
    }
  }
  for (const [, path] of page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)) visit(path ?? '')
  return found
}

it.each(['gz', 'br'] as const)('the first load is small, compressed as %s', encoding => {
  const scripts = [...firstLoad()]
  expect(scripts.length).toBeGreaterThan(0)
  const bytes = scripts.map(path => statSync(join(built, `${path}.${encoding}`)).size)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxBytes[encoding])
})

it('no script contains a schema of the contract', () => {
  for (const path of firstLoad()) expect(readFileSync(join(built, path), 'utf8')).not.toContain('strictObject')
})
